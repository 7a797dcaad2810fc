import type { StartCompanion } from '../dev/dev.ts';
import type { JournaledServer } from '../dev/journaled-server.ts';
import type { Kubectl } from '../dev/kubectl.ts';
import { applySampleModel, realModel, scriptedModelAccess } from '../dev/sample-model.ts';
import { sampleToolsPort, startSampleTools } from '../dev/sample-tools.ts';
import { startScriptedModel } from '../dev/scripted-model.ts';

/**
 * What the samples speak with: a model, with the Model object that says where it is, and the tools. `kubectl` is asked
 * for once the cluster is there.
 */
export function sampleCompanions(options: {
  readonly kubectl: () => Kubectl;
  readonly portOffset: number;
  readonly report: (line: string) => void;
}): readonly StartCompanion[] {
  const { kubectl, portOffset, report } = options;
  return [
    async ({ port }) => {
      const model = await startScriptedModel({ port });
      await applySampleModel(kubectl(), realModel() ?? scriptedModelAccess(model.baseUrl));
      return { name: 'model', url: model.baseUrl, close: () => model.close() };
    },
    async ({ port }) => {
      const tools = await toolsAt(sampleToolsPort + portOffset, port, report);
      return { name: 'tools', url: tools.url, close: () => tools.close() };
    },
  ];
}

/** The samples name the tools' port in writing; a second stack without a --port-offset has to do with another one. */
async function toolsAt(
  wanted: number,
  otherwise: number,
  report: (line: string) => void,
): Promise<JournaledServer> {
  try {
    return await startSampleTools({ port: wanted });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    report(
      `port ${wanted} is taken, so the samples' tools are on ${otherwise}: change it in the samples you apply`,
    );
    return startSampleTools({ port: otherwise });
  }
}
