/** The manifests in test/api/fixtures, and what each is expected to come to. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { canonicalA2aServer } from '../../src/api/canonical-a2a-server.ts';
import { canonicalAgent } from '../../src/api/canonical-agent.ts';
import { canonicalEvaluation } from '../../src/api/canonical-evaluation.ts';
import { canonicalEvaluator } from '../../src/api/canonical-evaluator.ts';
import { canonicalExecutionEngine } from '../../src/api/canonical-execution-engine.ts';
import { canonicalMcpServer } from '../../src/api/canonical-mcp-server.ts';
import { canonicalMemory } from '../../src/api/canonical-memory.ts';
import { canonicalModel } from '../../src/api/canonical-model.ts';
import { canonicalQuery } from '../../src/api/canonical-query.ts';
import { canonicalTeam } from '../../src/api/canonical-team.ts';
import { canonicalTool } from '../../src/api/canonical-tool.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Annotations };
  readonly spec?: unknown;
}

/** In a fixture that is refused, what is expected. */
type Annotations = Readonly<Record<string, string>> & Expected;

/** The exact words of a refusal, or the field at which the schema itself refuses. */
export interface Expected {
  readonly message?: string;
  readonly field?: string;
}

/** A matcher for `<field>: <words>`, or for the words alone. */
export const asExpected = ({ message, field }: Expected) =>
  message === undefined
    ? expect.stringMatching(new RegExp(`^${literally(field ?? '?')}: `))
    : expect.stringMatching(new RegExp(`(^|: )${literally(message)}$`));

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

export interface Fixture {
  readonly title: string;
  readonly manifest: Manifest;
  readonly expected: Expected;
}

/** `good` is admitted and understood, `bad` refused by both, `late` admitted but not understood. */
export function fixtures(verdict: 'good' | 'bad' | 'late'): readonly Fixture[] {
  const folder = new URL(`fixtures/${verdict}/`, import.meta.url);
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
      const manifest = document.toJS() as Manifest;
      const { kind, metadata } = manifest;
      return { title: `${kind} ${metadata.name}`, manifest, expected: metadata.annotations ?? {} };
    }),
  );
}

/** What the controller makes of an object. */
export function canonical({ kind, metadata, spec }: Manifest) {
  switch (kind) {
    case 'Query':
      return canonicalQuery(spec);
    case 'Agent':
      return canonicalAgent(spec);
    case 'Team':
      return canonicalTeam(spec, metadata.name);
    case 'Model':
      return canonicalModel(spec);
    case 'Tool':
      return canonicalTool(spec);
    case 'MCPServer':
      return canonicalMcpServer(spec);
    case 'Memory':
      return canonicalMemory(spec);
    case 'Evaluator':
      return canonicalEvaluator(spec);
    case 'Evaluation':
      return canonicalEvaluation(spec);
    case 'A2AServer':
      return canonicalA2aServer(spec);
    case 'ExecutionEngine':
      return canonicalExecutionEngine(spec, metadata);
    default:
      throw new Error(`no Kind ${kind}`);
  }
}
