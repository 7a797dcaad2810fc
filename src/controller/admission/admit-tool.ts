import { toolProblems } from '../../api/canonical-tool.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { ToolSpec } from '../../api/tool.ts';
import type { Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.5. Whether its MCPServer exists is not looked at, as in ARK: servers make their Tools themselves. */
export async function* admitTool({ spec: written }: Reviewed): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(ToolSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Tool', spec, written);
  yield* toolProblems(spec);
}
