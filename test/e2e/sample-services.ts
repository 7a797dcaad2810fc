import { kubectlFor } from '../../src/dev/kubectl.ts';
import { applySampleModel, readSample, scriptedModelAccess } from '../../src/dev/sample-model.ts';
import { applySampleBroker } from '../../src/dev/sample-broker.ts';
import { sampleA2aPort, startSampleA2a } from '../../src/dev/sample-a2a.ts';
import { sampleEnginePort, startSampleEngine } from '../../src/dev/sample-engine.ts';
import { sampleEvaluatorPort, startSampleEvaluator } from '../../src/dev/sample-evaluator.ts';
import { sampleMcpPort, startSampleMcp } from '../../src/dev/sample-mcp.ts';
import { sampleToolsPort, startSampleTools } from '../../src/dev/sample-tools.ts';
import {
  startScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/dev/scripted-model.ts';
import type { JournaledServer } from '../../src/dev/journaled-server.ts';
import type { QueryStatus } from '../../src/api/query.ts';
import { waitFor, type StackInTest } from './stack.ts';

export type SampleServices = {
  readonly model: ScriptedModel;
  readonly tools: JournaledServer;
  /** A sample's manifest, with its servers where these tests have them. */
  sample(name: string): Promise<string>;
};

/** The model and the other servers of the samples for the tests of this file, and the Model `default` that speaks with them. */
export function withSampleServices(cluster: StackInTest, options: ScriptedModelOptions = {}): SampleServices {
  let services:
    | {
        readonly model: ScriptedModel;
        readonly tools: JournaledServer;
        /** The tools among them, by the port that samples name. */
        readonly servers: ReadonlyMap<number, JournaledServer>;
      }
    | undefined;
  const started = () => services ?? fail('the services are there from the first test on');

  beforeAll(async () => {
    const anyPort = { port: 0 };
    const tools = await startSampleTools(anyPort);
    const servers = new Map([
      [sampleToolsPort, tools],
      [sampleMcpPort, await startSampleMcp(anyPort)],
      [sampleA2aPort, await startSampleA2a(anyPort)],
      [sampleEnginePort, await startSampleEngine(anyPort)],
      [sampleEvaluatorPort, await startSampleEvaluator(anyPort)],
    ]);
    services = { model: await startScriptedModel(options), tools, servers };
    const kubectl = kubectlFor(cluster.stack);
    await applySampleModel(kubectl, scriptedModelAccess(services.model.baseUrl));
    await applySampleBroker(kubectl, cluster.stack.brokerUrl);
  });
  afterAll(async () => {
    await services?.model.close();
    await Promise.all([...(services?.servers.values() ?? [])].map((server) => server.close()));
  });

  return {
    get model() {
      return started().model;
    },
    get tools() {
      return started().tools;
    },
    sample: (name) =>
      readSample(name, Object.fromEntries([...started().servers].map(([port, { url }]) => [port, url]))),
  };
}

/** The status of a Query, or an empty one where there is none yet. */
export async function statusOf({ kubectl }: StackInTest, name: string): Promise<Partial<QueryStatus>> {
  const { status } = JSON.parse(await kubectl(['get', 'query', name, '-o', 'json'])) as {
    status?: Partial<QueryStatus>;
  };
  return status ?? {};
}

/** The status of a Query once it has ended. */
export const ended = (
  cluster: StackInTest,
  name: string,
  timeoutMs = 120_000,
): Promise<Partial<QueryStatus>> =>
  waitFor(
    async () => {
      const status = await statusOf(cluster, name);
      return ['done', 'error', 'canceled'].includes(status.phase ?? '') && status;
    },
    { what: `Query ${name} to end`, timeoutMs, everyMs: 200 },
  );

function fail(what: string): never {
  throw new Error(what);
}
