/**
 * The fields of ARK v0.1.31, as contract section 1 lists them: what its manifests and clients rely on.
 *
 * A line is `path: type rules…`; `req` is listed in `required`, `min1` minLength 1, `=x` a default, `a|b` an enum.
 */
type Fields = Readonly<Record<string, string>>;

const under = (path: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([field, rules]) => [`${path}${field}`, rules]));

const objectRef: Fields = { '.name': 'string req min1', '.namespace': 'string' };

const keyRef: Fields = { '.key': 'string req', '.name': 'string =', '.optional': 'boolean' };

const valueFrom: Fields = {
  '': 'object',
  ...under('.secretKeyRef', { '': 'object', ...keyRef }),
  ...under('.configMapKeyRef', { '': 'object', ...keyRef }),
  '.serviceRef': 'object',
  '.serviceRef.name': 'string req',
  '.serviceRef.namespace': 'string',
  '.serviceRef.port': 'string',
  '.serviceRef.path': 'string',
};

const valueSource = (rules: string): Fields => ({
  '': `object ${rules}`,
  '.value': 'string',
  ...under('.valueFrom', valueFrom),
});

const parameters: Fields = {
  '': 'array',
  '[].name': 'string req min1',
  '[].value': 'string',
  ...under('[].valueFrom', valueFrom),
};

const labelSelector: Fields = {
  '': 'object',
  '.matchLabels': 'object',
  '.matchLabels.*': 'string',
  '.matchExpressions': 'array',
  '.matchExpressions[].key': 'string req',
  '.matchExpressions[].operator': 'string req',
  '.matchExpressions[].values': 'array',
  '.matchExpressions[].values[]': 'string',
};

const target: Fields = { '.type': 'string req agent|team|model|tool', '.name': 'string req min1' };

const provider = (fields: Fields): Fields => ({
  '': 'object',
  ...fields,
  '.properties': 'object',
  ...under('.properties.*', valueSource('')),
});

const headers: Fields = {
  '': 'array',
  '[].name': 'string req min1',
  '[].value': 'object req',
  '[].value.value': 'string',
  '[].value.valueFrom': 'object',
  ...under('[].value.valueFrom.secretKeyRef', { '': 'object', ...keyRef }),
};

const conditions: Fields = {
  '': 'array',
  '[].type': 'string req',
  '[].status': 'string req True|False|Unknown',
  '[].reason': 'string req min1',
  '[].message': 'string req',
  '[].lastTransitionTime': 'string req',
  '[].observedGeneration': 'integer',
};

const addressStatus: Fields = {
  'status.lastResolvedAddress': 'string',
  'status.phase': 'string running|ready|error',
  'status.message': 'string',
};

const evaluatorRef: Fields = { '': 'object', ...objectRef, ...under('.parameters', parameters) };

export const arkFields: Readonly<Record<string, Fields>> = {
  Query: {
    'spec.input': 'string req min1',
    ...under('spec.parameters', parameters),
    'spec.targets': 'array',
    ...under('spec.targets[]', target),
    ...under('spec.selector', labelSelector),
    ...under('spec.memory', { '': 'object', ...objectRef }),
    'spec.evaluators': 'array',
    ...under('spec.evaluators[]', objectRef),
    ...under('spec.evaluatorSelector', labelSelector),
    'spec.serviceAccount': 'string min1',
    'spec.sessionId': 'string min1',
    'spec.ttl': 'string =720h',
    'spec.timeout': 'string =5m',
    'spec.cancel': 'boolean',
    'status.phase': 'string =pending pending|running|evaluating|error|done|canceled',
    'status.responses': 'array',
    ...under('status.responses[].target', { '': 'object req', ...target }),
    'status.responses[].content': 'string',
    'status.evaluations': 'array',
    'status.evaluations[].evaluatorName': 'string req',
    'status.evaluations[].score': 'string',
    'status.evaluations[].passed': 'boolean',
    'status.evaluations[].metadata': 'object',
    'status.evaluations[].metadata.*': 'string',
    'status.tokenUsage': 'object',
    'status.tokenUsage.promptTokens': 'integer',
    'status.tokenUsage.completionTokens': 'integer',
    'status.tokenUsage.totalTokens': 'integer',
    'status.duration': 'string',
  },
  Agent: {
    'spec.prompt': 'string',
    'spec.description': 'string',
    ...under('spec.modelRef', { '': 'object', ...objectRef }),
    ...under('spec.executionEngine', { '': 'object', ...objectRef }),
    'spec.tools': 'array',
    'spec.tools[].type': 'string req built-in|custom',
    'spec.tools[].name': 'string min1',
    'spec.tools[].functions': 'array',
    'spec.tools[].functions[].name': 'string req min1',
    'spec.tools[].functions[].value': 'string',
    ...under('spec.parameters', parameters),
    'spec.outputSchema': 'object open',
  },
  Team: {
    'spec.members': 'array req',
    'spec.members[].name': 'string req',
    'spec.members[].type': 'string req',
    'spec.strategy': 'string req',
    'spec.description': 'string',
    'spec.maxTurns': 'integer',
    'spec.selector': 'object',
    'spec.selector.model': 'string',
    'spec.selector.selectorPrompt': 'string',
    'spec.graph': 'object',
    'spec.graph.edges': 'array req',
    'spec.graph.edges[].from': 'string req',
    'spec.graph.edges[].to': 'string req',
  },
  Model: {
    'spec.type': 'string req openai|azure|bedrock',
    ...under('spec.model', valueSource('req')),
    'spec.config': 'object req',
    ...under(
      'spec.config.openai',
      provider({ ...under('.baseUrl', valueSource('req')), ...under('.apiKey', valueSource('req')) }),
    ),
    ...under(
      'spec.config.azure',
      provider({
        ...under('.baseUrl', valueSource('req')),
        ...under('.apiKey', valueSource('req')),
        ...under('.apiVersion', valueSource('')),
      }),
    ),
    ...under(
      'spec.config.bedrock',
      provider({
        ...under('.region', valueSource('')),
        ...under('.accessKeyId', valueSource('')),
        ...under('.secretAccessKey', valueSource('')),
        ...under('.sessionToken', valueSource('')),
        ...under('.modelArn', valueSource('')),
        '.maxTokens': 'integer',
        '.temperature': 'string',
      }),
    ),
    'status.resolvedAddress': 'string',
    'status.phase': 'string running|ready|error',
    'status.message': 'string',
  },
  Tool: {
    'spec.type': 'string req http|mcp',
    'spec.description': 'string',
    'spec.inputSchema': 'object open',
    'spec.annotations': 'object',
    'spec.annotations.title': 'string',
    'spec.annotations.readOnlyHint': 'boolean',
    'spec.annotations.destructiveHint': 'boolean',
    'spec.annotations.idempotentHint': 'boolean',
    'spec.annotations.openWorldHint': 'boolean',
    'spec.http': 'object',
    'spec.http.url': 'string req min1',
    'spec.http.method': 'string =GET GET|POST|PUT|DELETE|PATCH',
    'spec.http.headers': 'array',
    'spec.http.timeout': 'string',
    'spec.http.body': 'string',
    ...under('spec.http.bodyParameters', parameters),
    'spec.mcp': 'object',
    ...under('spec.mcp.mcpServerRef', { '': 'object req', ...objectRef }),
    'spec.mcp.toolName': 'string req min1',
    'status.state': 'string',
    'status.message': 'string',
  },
  MCPServer: {
    ...under('spec.address', valueSource('req')),
    // Required, and its default satisfies that.
    'spec.transport': 'string req =http http|sse',
    ...under('spec.headers', headers),
    'spec.timeout': 'string =30s',
    'spec.pollInterval': 'string =1m',
    'spec.description': 'string',
    'status.resolvedAddress': 'string',
    'status.toolCount': 'integer',
    ...under('status.conditions', conditions),
  },
  Memory: { ...under('spec.address', valueSource('req')), ...addressStatus },
  Evaluator: {
    ...under('spec.address', valueSource('req')),
    'spec.description': 'string',
    ...under('spec.selector', labelSelector),
    'spec.selector.resourceType': 'string req Query|Query',
    'spec.selector.apiGroup': 'string =ark.mckinsey.com',
    'spec.selector.namespaces': 'array',
    'spec.selector.namespaces[]': 'string',
    ...under('spec.selector.namespaceSelector', labelSelector),
    ...under('spec.parameters', parameters),
    ...addressStatus,
  },
  Evaluation: {
    'spec.type': 'string =direct direct|baseline|query|batch|event',
    ...under('spec.evaluator', evaluatorRef),
    'spec.ttl': 'string =720h',
    'spec.timeout': 'string =5m',
    'spec.config': 'object req',
    'spec.config.input': 'string',
    'spec.config.output': 'string',
    ...under('spec.config.queryRef', { '': 'object', ...objectRef, '.responseTarget': 'string' }),
    'spec.config.rules': 'array',
    'spec.config.rules[].name': 'string req min1',
    'spec.config.rules[].expression': 'string req',
    'spec.config.rules[].description': 'string',
    'spec.config.rules[].weight': 'integer',
    'spec.config.evaluations': 'array',
    ...under('spec.config.evaluations[]', objectRef),
    'spec.config.items': 'array',
    'spec.config.items[].name': 'string',
    'spec.config.items[].type': 'string req direct|query|baseline|event',
    'spec.config.items[].config': 'object req',
    ...under('spec.config.items[].evaluator', { ...evaluatorRef, '': 'object req' }),
    'spec.config.items[].ttl': 'string',
    'spec.config.items[].timeout': 'string',
    'spec.config.template': 'object',
    'spec.config.template.namePrefix': 'string',
    'spec.config.template.type': 'string req direct|query|baseline|event',
    'spec.config.template.config': 'object req',
    ...under('spec.config.template.evaluator', { ...evaluatorRef, '': 'object req' }),
    ...under('spec.config.template.parameters', parameters),
    ...under('spec.config.querySelector', labelSelector),
    'spec.config.concurrency': 'integer =10',
    'spec.config.continueOnFailure': 'boolean =false',
    'status.phase': 'string pending|running|error|done|canceled',
    'status.message': 'string',
    'status.score': 'string',
    'status.passed': 'boolean',
    ...under('status.tokenUsage', {
      '': 'object',
      '.promptTokens': 'integer',
      '.completionTokens': 'integer',
      '.totalTokens': 'integer',
    }),
    'status.duration': 'string',
    'status.batchProgress': 'object',
    'status.batchProgress.total': 'integer',
    'status.batchProgress.completed': 'integer',
    'status.batchProgress.failed': 'integer',
    'status.batchProgress.running': 'integer',
    'status.batchProgress.childEvaluations': 'array',
    'status.batchProgress.childEvaluations[].name': 'string req',
    'status.batchProgress.childEvaluations[].phase': 'string pending|running|error|done|canceled',
    'status.batchProgress.childEvaluations[].score': 'string',
    'status.batchProgress.childEvaluations[].passed': 'boolean',
    'status.batchProgress.childEvaluations[].message': 'string',
  },
  A2AServer: {
    ...under('spec.address', valueSource('req')),
    ...under('spec.headers', headers),
    'spec.description': 'string',
    'spec.pollInterval': 'string =1m',
    'status.lastResolvedAddress': 'string',
    ...under('status.conditions', conditions),
  },
  ExecutionEngine: {
    'spec.type': 'string req',
    ...under('spec.address', valueSource('req')),
    'spec.description': 'string',
    ...addressStatus,
  },
};

/** Printer columns, by name and in order (contract section 1). */
export const arkColumns: Readonly<Record<string, readonly string[]>> = {
  Query: ['Phase', 'Duration', 'Evaluations', 'Age'],
  Agent: [],
  Team: [],
  Model: ['Model', 'Phase', 'Type', 'Age'],
  Tool: [],
  MCPServer: ['Ready', 'Discovering', 'Tools', 'Age'],
  Memory: ['Phase', 'Address', 'Age'],
  Evaluator: ['Phase', 'Address', 'Age'],
  Evaluation: ['Type', 'Phase', 'Score', 'Passed', 'Age'],
  A2AServer: ['Ready', 'Discovering', 'Address', 'Age'],
  ExecutionEngine: ['Type', 'Phase', 'Address', 'Age'],
};
