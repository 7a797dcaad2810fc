import { pathOf, webhooks } from '../../../src/controller/admission/webhooks.ts';

/** The table of contract section 2, and what it lacks: an Evaluation is asked about too. */
const table = [
  ['Agent', 'vagent-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-agent'],
  ['Evaluator', 'vevaluator-v1alpha1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-evaluator'],
  ['Evaluation', 'vevaluation-v1alpha1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-evaluation'],
  ['MCPServer', 'vmcpserver-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-mcpserver'],
  ['Model', 'vmodel-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-model'],
  ['Query', 'vquery-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-query'],
  ['Team', 'vteam-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-team'],
  ['Tool', 'vtool-v1.kb.io', '/validate-ark-mckinsey-com-v1alpha1-tool'],
  ['A2AServer', 'va2aserver-v1prealpha1.kb.io', '/validate-ark-mckinsey-com-v1prealpha1-a2aserver'],
  [
    'ExecutionEngine',
    'vexecutionengine-v1prealpha1.kb.io',
    '/validate-ark-mckinsey-com-v1prealpha1-executionengine',
  ],
];

test('who is asked about what has ARK’s names', () => {
  expect(webhooks.map(({ kind, name }) => [kind.kind, name, pathOf(kind)])).toEqual(table);
});
