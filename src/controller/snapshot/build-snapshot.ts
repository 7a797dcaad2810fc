import { canonicalQuery } from '../../api/canonical-query.ts';
import type { CanonicalQuery } from '../../api/canonical-query.ts';
import { isInvalid } from '../../api/problems.ts';
import type { RunLimits, Target } from '../../api/run.ts';
import type { Access, Snapshot, TargetPlan } from '../../api/snapshot.ts';
import { listMax } from '../../api/values.ts';
import type { Built, SeenQuery } from '../ports.ts';
import { contentHash } from './content-hash.ts';
import { defineAgent } from './define-agent.ts';
import { defineModel } from './define-model.ts';
import { defineEvaluation } from './define-evaluation.ts';
import { defineMemory } from './define-memory.ts';
import { defineStream } from './define-stream.ts';
import { defineTool } from './define-tool.ts';
import type { Definitions, Resource } from './definitions.ts';
import { define, openDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import { matchesSelector } from './matches-selector.ts';
import { planTeam } from './plan-team.ts';
import { resolveParameters } from './resolve-values.ts';
import { resolveText } from './resolve-text.ts';
import { Unbuildable, within } from './unbuildable.ts';

/** A workflow's input over 2 MiB ends the workflow before it runs; the rest is for what Temporal puts around it. */
const snapshotBytesMax = 1.5 * 1024 * 1024;

const resourceOf = {
  agent: 'agents',
  team: 'teams',
  model: 'models',
  tool: 'tools',
} as const satisfies Record<Target['type'], Resource>;
const kinds = ['agent', 'team', 'model', 'tool'] as const;

/**
 * Everything a run needs, as it is now: what the Query names and what that names in turn, in one shape for every
 * spelling, ConfigMaps and Services read, Secrets left as references, texts rendered where no Secret is part of them.
 *
 * The targets of the spec come first, in its order, then what its selector matches: agents, teams, models, tools,
 * each by name (contract section 3.1). A refusal has ARK's words and ends the Query; a rejection heals by itself.
 */
export async function buildSnapshot(
  query: SeenQuery,
  readAs: (access: Access) => Definitions,
  limits: RunLimits,
): Promise<Built> {
  const spec = canonicalQuery(query.spec);
  if (isInvalid(spec)) return { failure: { type: 'QueryInvalid', message: spec.problems.join('; ') } };

  const access = { namespace: query.namespace, serviceAccount: spec.serviceAccount };
  try {
    const snapshot = await assemble(query, spec, readAs(access), access, limits);
    const bytes = Buffer.byteLength(JSON.stringify(snapshot));
    if (bytes > snapshotBytesMax) throw tooLarge(bytes);
    return { snapshot, hash: contentHash(snapshot) };
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    const { type, message, missing } = error;
    return { failure: { type, message }, missing };
  }
}

async function assemble(
  query: SeenQuery,
  spec: CanonicalQuery,
  read: Definitions,
  access: Access,
  limits: RunLimits,
): Promise<Snapshot> {
  const { namespace, name, uid } = query;
  const [queryParameters, targets] = await Promise.all([
    within('failed to resolve query input: failed to resolve parameters: ', () =>
      resolveParameters(spec.parameters, namespace, read),
    ),
    targetsOf(spec, namespace, read),
  ]);
  const text = await within('failed to resolve query input: ', () =>
    resolveText(spec.input, 'query-input', queryParameters),
  );
  const question = { kind: 'question', question: text, access } as const;

  const draft = openDraft(read, access, limits, queryParameters);
  const plans: TargetPlan[] = [];
  for (const target of targets) plans.push(await planTarget(target, namespace, draft));
  const [memory, evaluation, stream] = await Promise.all([
    defineMemory(query, spec, draft),
    defineEvaluation(query, spec, question, draft),
    defineStream(query, spec, draft),
  ]);

  return {
    query: {
      namespace,
      name,
      uid,
      ...(spec.sessionId !== undefined && { session: spec.sessionId }),
      ...(targets.length > spec.targets.length && { named: spec.targets.length }),
    },
    question: define(draft, question),
    targets: plans,
    agents: draft.agents,
    teams: draft.teams,
    definitions: draft.definitions,
    ...memory,
    ...(evaluation && { evaluation }),
    ...(stream && { stream }),
    timeoutMs: spec.timeoutMs,
  };
}

async function targetsOf(spec: CanonicalQuery, namespace: string, read: Definitions): Promise<Target[]> {
  const targets = [...spec.targets];
  const { selector } = spec;
  for (const type of selector ? kinds : []) {
    const all = await within(
      `failed to resolve targets: failed to resolve selector: failed to list ${type}s: `,
      () => read.list(resourceOf[type], namespace),
    );
    for (const { name, labels } of all) {
      if (selector && matchesSelector(selector, labels)) targets.push({ type, name });
    }
  }
  if (targets.length > listMax.targets) {
    throw new Unbuildable(
      'QueryInvalid',
      `asks ${targets.length} targets; at most ${listMax.targets} are asked at once`,
    );
  }
  return targets;
}

async function planTarget({ type, name }: Target, namespace: string, draft: Draft): Promise<TargetPlan> {
  const key = { namespace, name };
  const at = `${namespace}/${name}`;
  const { read, access } = draft;
  switch (type) {
    case 'agent': {
      const found = await within(`unable to get ${at}, error:`, () => read.get('agents', key));
      await within(`unable to make agent ${at}, error:`, () => defineAgent(found, draft));
      return { type, name };
    }
    case 'team': {
      const found = await within(`unable to fetch team ${at}, error:`, () => read.get('teams', key));
      await planTeam(found, draft);
      return { type, name };
    }
    case 'model': {
      const model = await within(`unable to get ${at}, error:`, () => defineModel(key, read));
      return { type, name, definition: define(draft, { kind: 'model', model, access }) };
    }
    case 'tool': {
      const found = await within(`unable to get tool ${at}, error:`, () => read.get('tools', key));
      const { tool } = await within('failed to create tool executor: ', () => defineTool(found, draft));
      return { type, name, definition: define(draft, { kind: 'tool', tool, access }) };
    }
  }
}

const tooLarge = (bytes: number): Unbuildable =>
  new Unbuildable(
    'SnapshotTooLarge',
    `the input, prompts, tool schemas and members together take ${bytes} bytes, at most ${snapshotBytesMax} can be run; shorten them, or split the team`,
  );
