/** The pieces every Kind is made of (contract 1.1). */
import { z } from 'zod';
import { durationPattern, parseDuration } from './durations.ts';
import { everyItem, isSet, rules } from './rules.ts';

/**
 * Bounds on what a rule in CEL walks over: the API server refuses a CRD whose rules could cost too much by its
 * estimate, and an object whose rules do (a million units for a rule; edges are compared with each other, name by
 * name). They are far above what any manifest uses. Texts such as inputs and prompts have none.
 */
export const listMax = {
  targets: 1024,
  evaluators: 256,
  parameters: 256,
  tools: 256,
  members: 256,
  edges: 128,
  headers: 64,
};

/** Kubernetes allows no object a longer name. */
export const nameMax = 253;

/** A field that may have several shapes, which a structural schema cannot say: only zod judges it. */
export const polymorphic = { 'x-kubernetes-preserve-unknown-fields': true };

/** Names an object, in the referrer's own namespace unless it says otherwise. */
export const Ref = z.object({ name: z.string().min(1), namespace: z.string().optional() });
export type Ref = z.infer<typeof Ref>;

export const Duration = z
  .string()
  .max(64)
  .regex(durationPattern, { error: 'must be a Go duration such as 30s, 5m or 1h30m', abort: true })
  // The CRD has the pattern, which cannot see an overflow.
  .refine((text) => parseDuration(text) !== undefined, 'is longer than 292 years');

export const Time = z.string().meta({ format: 'date-time' });

const KeyRef = z
  .object({ name: z.string().default(''), key: z.string(), optional: z.boolean().optional() })
  .meta({ 'x-kubernetes-map-type': 'atomic' });

const ServiceRef = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  port: z.string().optional().describe('Name of the port; the first one if absent.'),
  path: z.string().optional(),
});

const objectSources = {
  secretKeyRef: KeyRef.optional(),
  configMapKeyRef: KeyRef.optional(),
  serviceRef: ServiceRef.optional(),
};

const QueryParameterRef = z
  .object({ name: z.string().min(1) })
  .describe('A parameter of the Query that is running.');

export const ValueSource = z.object({
  value: z.string().optional(),
  valueFrom: z.object(objectSources).optional(),
});
export type ValueSource = z.infer<typeof ValueSource>;

const parameter = { name: z.string().min(1).max(1024), value: z.string().optional() };

/** A parameter of a Query, or of an evaluator. */
export const Parameter = z.object({ ...parameter, valueFrom: z.object(objectSources).optional() });

/** A parameter of something a Query uses, which may also ask for one of the Query's own. */
export const UsedParameter = z.object({
  ...parameter,
  valueFrom: z.object({ ...objectSources, queryParameterRef: QueryParameterRef.optional() }).optional(),
});
export type Parameter = z.infer<typeof UsedParameter>;

const everyParameter = (holds: string, text: string) =>
  everyItem({
    list: 'self',
    item: 'p',
    holds,
    message: (index, item) => `'parameter[' + ${index} + "] '" + ${item}.name + "': ${text}"`,
  });

/** Contract 2.1; `sources` are those that count as one. */
function parameterRules(...sources: readonly string[]) {
  const present = `[${sources.map((source) => `has(p.valueFrom.${source})`).join(', ')}]`;
  return rules(
    everyParameter(
      `!(${isSet('p', 'value')} && has(p.valueFrom))`,
      'cannot specify both value and valueFrom',
    ),
    everyParameter(`${isSet('p', 'value')} || has(p.valueFrom)`, 'must specify either value or valueFrom'),
    everyParameter(
      `!has(p.valueFrom) || ${present}.filter(x, x).size() == 1`,
      'valueFrom must specify exactly one source',
    ),
  );
}

export const QueryParameters = z
  .array(Parameter)
  .max(listMax.parameters)
  .meta(parameterRules('configMapKeyRef', 'secretKeyRef'));

export const AgentParameters = z
  .array(UsedParameter)
  .max(listMax.parameters)
  .meta(parameterRules('configMapKeyRef', 'secretKeyRef', 'queryParameterRef'));

const HeaderValue = z.object({
  value: z.string().optional(),
  valueFrom: z
    .object({
      secretKeyRef: KeyRef.optional(),
      configMapKeyRef: KeyRef.optional(),
      queryParameterRef: QueryParameterRef.optional(),
    })
    .optional(),
});

export const Header = z.object({ name: z.string().min(1), value: HeaderValue });
export type Header = z.infer<typeof Header>;

/** ARK's list of headers, or the older pages' map from name to text (contract 9, row 24). */
export const Headers = z
  .union([z.array(Header), z.record(z.string().min(1), z.string())], {
    error: 'must be a list of {name, value: {value or valueFrom}} or a map from names to strings',
  })
  .meta({
    ...polymorphic,
    description: 'A list of {name, value: {value or valueFrom}}, or a map from names to texts.',
  });
export type Headers = z.infer<typeof Headers>;

/** The headers of a server, which belong to it and not to a Query: no parameters. */
export const ServerHeaders = z
  .array(
    z.object({
      name: z.string().min(1).max(256),
      value: z.object({
        value: z.string().optional(),
        valueFrom: z
          .object({ secretKeyRef: KeyRef.optional(), configMapKeyRef: KeyRef.optional() })
          .optional(),
      }),
    }),
  )
  .max(listMax.headers);
export type ServerHeaders = z.infer<typeof ServerHeaders>;

/** CEL: a header has a value, or says where one is. */
export const isSetHeader = (header: string) =>
  `(${isSet(`${header}.value`, 'value')} || (has(${header}.value.valueFrom) && ` +
  `(has(${header}.value.valueFrom.secretKeyRef) || has(${header}.value.valueFrom.configMapKeyRef))))`;

export const labelSelector = {
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
};

export const LabelSelector = z.object(labelSelector).meta({ 'x-kubernetes-map-type': 'atomic' });
export type LabelSelector = z.infer<typeof LabelSelector>;

/** A JSON schema, kept as it is. */
export const JsonSchema = z
  .record(z.string(), z.unknown())
  .meta({ 'x-kubernetes-preserve-unknown-fields': true });

export const Condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    ),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32768),
  lastTransitionTime: Time,
  observedGeneration: z.int().min(0).optional(),
});
export type Condition = z.infer<typeof Condition>;

/** One condition per type, so that a server-side apply of one leaves the others alone. */
export const Conditions = z
  .array(Condition)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

/** The status of everything that is an address and nothing more (contract 3.6). */
export const AddressStatus = z.object({
  lastResolvedAddress: z.string().optional(),
  phase: z.enum(['running', 'ready', 'error']).optional(),
  message: z.string().optional(),
});
export type AddressStatus = z.infer<typeof AddressStatus>;

/** What a tool's error is: the end of the run, or something the model is told (contract 9, row 26). */
export const OnError = z.enum(['fail', 'continue']);
export type OnError = z.infer<typeof OnError>;

export const TokenUsage = z.object({
  promptTokens: z.int().optional(),
  completionTokens: z.int().optional(),
  totalTokens: z.int().optional(),
});
