import { callEngine } from './call-engine.ts';
import { callModel } from './call-model.ts';
import { callTool } from './call-tool.ts';
import { createDefinitions } from './definitions.ts';
import type { Effects } from './effects.ts';
import { evaluate } from './evaluate.ts';
import { judge } from './judge.ts';
import { readMemory, writeMemory } from './memory.ts';
import type { Ports } from './ports.ts';
import { selectSpeaker } from './select-speaker.ts';
import { endStream } from './streaming.ts';
import { createTranscripts } from './transcripts.ts';

export type Activities = ReturnType<typeof createActivities>;

/** All effects of a run, as the worker registers them. One set a process: what it remembers is shared by all runs. */
export function createActivities(ports: Ports) {
  const effects: Effects = { ports, definitions: createDefinitions(), transcripts: createTranscripts() };
  return {
    callModel: callModel(effects),
    callTool: callTool(effects),
    callEngine: callEngine(effects),
    selectSpeaker: selectSpeaker(effects),
    readMemory: readMemory(effects),
    writeMemory: writeMemory(effects),
    endStream: endStream(effects),
    judge: judge(effects),
    evaluate: evaluate(effects),
  };
}
