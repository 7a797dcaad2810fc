import { canonicalTool } from '../../api/canonical-tool.ts';
import { isInvalid } from '../../api/problems.ts';
import type { ToolStatus } from '../../api/tool.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { EveryKind } from './ports.ts';

/** Says of a Tool that it can be called, or what is wrong with it (contract 3.3). It is not tried. */
export async function reconcileTool(key: ObjectKey, { objects }: EveryKind<ToolStatus>): Promise<Next> {
  const tool = objects.get(key);
  if (!tool) return 'settled';

  const meant = canonicalTool(tool.spec);
  await objects.writeStatus(
    tool,
    isInvalid(meant)
      ? { state: 'Error', message: meant.problems[0] }
      : { state: 'Ready', message: 'Tool configuration is valid' },
  );
  return 'settled';
}
