import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import createJq from 'jq-wasm/dist/build/jq.js';

import { createJqStreams } from './jq-streams.ts';
import { webAssembly, type Imports, type Instance, type Memory } from './web-assembly.ts';

const compiled = webAssembly.compile(
  binaryIn(readFileSync(fileURLToPath(import.meta.resolve('jq-wasm/dist/build/jq.js')), 'latin1')),
);

export interface JqRun {
  /** jq's exit status. */
  readonly status: number;
  /** One compact JSON text a line. */
  readonly output: string;
  readonly complaint: string;
}

/**
 * Runs one jq expression over one JSON text, in a fresh instance of jq: none can tell what another did. Rejects where
 * its memory or its output passes a bound; takes as long as the expression takes.
 */
export async function runJq(expression: string, input: string): Promise<JqRun> {
  const streams = createJqStreams(Buffer.from(input));
  const jq = (await createJq({
    thisProgram: 'jq',
    instantiateWasm(imports: Imports, receive: (instance: Instance) => void) {
      void instantiate(streams.instead(imports)).then((instance) => {
        streams.attach(memoryOf(instance));
        receive(instance);
      });
      return {};
    },
  })) as { callMain(args: string[]): number };

  try {
    // The space keeps an expression that begins with a minus from being read as an option.
    const status = jq.callMain(['-M', '-c', ` ${expression}`, '/dev/stdin']);
    return { status, output: streams.output(), complaint: clean(streams.complaint()) };
  } catch (error) {
    if (!(error instanceof webAssembly.RuntimeError)) throw error;
    throw new Error(
      'jq query execution error: it needs more memory or a deeper stack than a filter may have',
      {
        cause: error,
      },
    );
  }
}

const instantiate = async (imports: Imports): Promise<Instance> =>
  webAssembly.instantiate(await compiled, imports);

const memoryOf = (instance: Instance): Memory =>
  Object.values(instance.exports).find((one) => one instanceof webAssembly.Memory) as Memory;

/** The package carries its WebAssembly as base64 text; "AGFzbQ" is how each begins. */
function binaryIn(source: string): Buffer {
  const [, text] = /base64,(AGFzbQ[A-Za-z0-9+/=]+)/.exec(source) ?? [];
  if (text === undefined)
    throw new Error('jq-wasm carries its WebAssembly in another way than 1.0.1 did; pin that version');
  return Buffer.from(text, 'base64');
}

/** What jq says, without what it adds for people at a shell. */
const clean = (complaint: string): string =>
  complaint
    .replaceAll(/^jq: (error: )?(error )?(\(at [^)]*\):? )?/gm, '')
    .replaceAll(/ \(Unix shell quoting issues\?\)| at <top-level>/g, '')
    .replaceAll(/^\d+ compile errors?$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
