import type { Companion, StartCompanion } from './dev.ts';
import type { JournaledServer } from './journaled-server.ts';
import { kubectlFor } from './kubectl.ts';
import { sampleA2aPort, startSampleA2a } from './sample-a2a.ts';
import { sampleEnginePort, startSampleEngine } from './sample-engine.ts';
import { sampleEvaluatorPort, startSampleEvaluator } from './sample-evaluator.ts';
import { sampleMcpPort, startSampleMcp } from './sample-mcp.ts';
import { applySampleModel, realModel, scriptedModelAccess } from './sample-model.ts';
import { sampleToolsPort, startSampleTools } from './sample-tools.ts';
import { applySampleBroker } from './sample-broker.ts';
import { startScriptedModel } from './scripted-model.ts';
import type { Stack } from './stack.ts';

/** Slow enough to watch a team at work, quick enough not to wait for it. */
const modelDelayMs = 300;

/** The servers that the samples need: a model, unless the environment has a real one, and everything else they name. */
export const sampleCompanions = (portOffset = 0): readonly StartCompanion[] => [
  async ({ port }) => {
    const { baseUrl, close } = await startScriptedModel({ port, delayMs: modelDelayMs });
    return { name: 'model', url: baseUrl, close };
  },
  async ({ port }) => {
    const ports = { wanted: sampleToolsPort + portOffset, spare: port };
    const { url, close } = await startOn(
      ports,
      startSampleTools,
      'the Tools of samples 02, 03, 17, 20 and 21',
    );
    return { name: 'tools', url, close };
  },
  async ({ port }) => {
    const ports = { wanted: sampleMcpPort + portOffset, spare: port };
    const { url, close } = await startOn(ports, startSampleMcp, 'the MCPServer of sample 13');
    return { name: 'mcp', url: `${url}/mcp`, close };
  },
  async ({ port }) => {
    const ports = { wanted: sampleA2aPort + portOffset, spare: port };
    const { url, close } = await startOn(ports, startSampleA2a, 'the A2AServer of sample 14');
    return { name: 'a2a', url, close };
  },
  async ({ port }) => {
    const ports = { wanted: sampleEnginePort + portOffset, spare: port };
    const { url, close } = await startOn(ports, startSampleEngine, 'the ExecutionEngine of sample 15');
    return { name: 'engine', url, close };
  },
  async ({ port }) => {
    const ports = { wanted: sampleEvaluatorPort + portOffset, spare: port };
    const { url, close } = await startOn(ports, startSampleEvaluator, 'the Evaluator of sample 16');
    return { name: 'evaluator', url: `${url}/evaluate`, close };
  },
];

interface Ports {
  readonly wanted: number;
  readonly spare: number;
}

/** Samples name the ports of their servers; where another program has one, they have to be edited. */
async function startOn(
  { wanted, spare }: Ports,
  start: (options: { readonly port: number }) => Promise<JournaledServer>,
  where: string,
): Promise<JournaledServer> {
  try {
    return await start({ port: wanted });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    console.log(`Port ${wanted} is taken: replace it by ${spare} in ${where}.`);
    return start({ port: spare });
  }
}

/** Puts the Model `default`, what it reads, and where the broker is, into the namespace `default`. */
export async function introduceSamples(stack: Stack, companions: readonly Companion[]): Promise<void> {
  const scripted = companions.find(({ name }) => name === 'model');
  const kubectl = kubectlFor(stack);
  await applySampleModel(kubectl, realModel() ?? scriptedModelAccess(scripted?.url ?? ''));
  await applySampleBroker(kubectl, stack.brokerUrl);
}
