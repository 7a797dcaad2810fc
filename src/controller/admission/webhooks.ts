import {
  a2aServerKind,
  agentKind,
  evaluationKind,
  evaluatorKind,
  executionEngineKind,
  mcpServerKind,
  modelKind,
  queryKind,
  teamKind,
  toolKind,
} from '../../api/kinds.ts';
import type { Kind } from '../../api/kinds.ts';
import { admitA2aServer } from './admit-a2a-server.ts';
import { admitAgent } from './admit-agent.ts';
import { admitEvaluation } from './admit-evaluation.ts';
import { admitEvaluator } from './admit-evaluator.ts';
import { admitExecutionEngine } from './admit-execution-engine.ts';
import { admitMcpServer } from './admit-mcp-server.ts';
import { admitModel } from './admit-model.ts';
import { admitQuery } from './admit-query.ts';
import { admitTeam } from './admit-team.ts';
import { admitTool } from './admit-tool.ts';
import type { Rules } from './ports.ts';

export interface Webhook {
  readonly kind: Kind;
  /** As it appears in every refusal. */
  readonly name: string;
  readonly rules: Rules;
}

/**
 * Who is asked about what: the table of contract section 2, with ARK's names, since scripts look for them. MCPServer
 * and Evaluation are asked about here and, by mistake, not in ARK. A Memory has no rules.
 */
export const webhooks: readonly Webhook[] = [
  { kind: agentKind, name: 'vagent-v1.kb.io', rules: admitAgent },
  { kind: evaluatorKind, name: 'vevaluator-v1alpha1.kb.io', rules: admitEvaluator },
  { kind: evaluationKind, name: 'vevaluation-v1alpha1.kb.io', rules: admitEvaluation },
  { kind: mcpServerKind, name: 'vmcpserver-v1.kb.io', rules: admitMcpServer },
  { kind: modelKind, name: 'vmodel-v1.kb.io', rules: admitModel },
  { kind: queryKind, name: 'vquery-v1.kb.io', rules: admitQuery },
  { kind: teamKind, name: 'vteam-v1.kb.io', rules: admitTeam },
  { kind: toolKind, name: 'vtool-v1.kb.io', rules: admitTool },
  { kind: a2aServerKind, name: 'va2aserver-v1prealpha1.kb.io', rules: admitA2aServer },
  { kind: executionEngineKind, name: 'vexecutionengine-v1prealpha1.kb.io', rules: admitExecutionEngine },
];

export const pathOf = ({ version, singular }: Kind): string =>
  `/validate-ark-mckinsey-com-${version}-${singular}`;
