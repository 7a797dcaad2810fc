import { callModel } from './call-model.ts';
import { callTool } from './call-tool.ts';
import { createDefinitions } from './definitions.ts';
import type { Effects } from './effects.ts';
import { evaluate } from './evaluate.ts';
import type { Ports } from './ports.ts';
import { selectSpeaker } from './select-speaker.ts';
import { createTranscripts } from './transcripts.ts';

export type Activities = ReturnType<typeof createActivities>;

/** All effects of a run, as the worker registers them. One set a process: what it remembers is shared by all runs. */
export function createActivities(ports: Ports) {
  const effects: Effects = { ports, definitions: createDefinitions(), transcripts: createTranscripts() };
  return {
    callModel: callModel(effects),
    callTool: callTool(effects),
    selectSpeaker: selectSpeaker(effects),
    evaluate: evaluate(effects),
  };
}
