import type { Companion, StartCompanion } from './dev.ts';
import type { JournaledServer } from './journaled-server.ts';
import { kubectlFor } from './kubectl.ts';
import { applySampleModel, realModel, scriptedModelAccess } from './sample-model.ts';
import { sampleToolsPort, startSampleTools } from './sample-tools.ts';
import { startScriptedModel } from './scripted-model.ts';
import type { Stack } from './stack.ts';

/** Slow enough to watch a team at work, quick enough not to wait for it. */
const modelDelayMs = 300;

/** The servers that the samples need: a model, unless the environment has a real one, and their tools. */
export const sampleCompanions = (portOffset = 0): readonly StartCompanion[] => [
  async ({ port }) => {
    const { baseUrl, close } = await startScriptedModel({ port, delayMs: modelDelayMs });
    return { name: 'model', url: baseUrl, close };
  },
  async ({ port }) => {
    const { url, close } = await toolsServer(sampleToolsPort + portOffset, port);
    return { name: 'tools', url, close };
  },
];

/** Samples name their tools' port; where another program has it, they have to be edited. */
async function toolsServer(wanted: number, spare: number): Promise<JournaledServer> {
  try {
    return await startSampleTools({ port: wanted });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    console.log(`Port ${wanted} is taken: replace it by ${spare} in the Tools of samples 02 and 03.`);
    return startSampleTools({ port: spare });
  }
}

/** Puts the Model `default`, and what it reads, into the namespace `default`. */
export async function introduceSamples(stack: Stack, companions: readonly Companion[]): Promise<void> {
  const scripted = companions.find(({ name }) => name === 'model');
  await applySampleModel(kubectlFor(stack), realModel() ?? scriptedModelAccess(scripted?.url ?? ''));
}
