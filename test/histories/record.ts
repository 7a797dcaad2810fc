/**
 * Records the histories that later versions of the workflow code are replayed against: `npm run histories`.
 *
 * Recorded ones are kept: a history is a promise to the runs that were started by that version. Delete a file first to
 * record it anew, and say in the commit why no open run can be like it.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { writeHistory } from '../../src/worker/replay.ts';
import { openTheatre } from '../workflows/theatre.ts';
import { cases } from './cases.ts';

const at = (name: string): string => fileURLToPath(new URL(`${name}.json`, import.meta.url));

const theatre = await openTheatre();
for (const [name, { cast, script, meanwhile }] of Object.entries(cases)) {
  if (existsSync(at(name))) continue;

  const play = await theatre.play(cast, script);
  await meanwhile?.(play);
  const { status, failure } = await play.ended();
  await writeFile(at(name), writeHistory(await play.handle.fetchHistory()));
  console.log(`${name}: ${status}${failure ? ` (${failure})` : ''}`);

  // Of the nested cases, the inner team's own run is kept as well.
  const uid = play.handle.workflowId.split(':').at(-1);
  const inner = theatre.client.workflow.getHandle(`team:default:${uid}:t002.trip`);
  if (name.endsWith('-nested')) await writeFile(at(`${name}-inner`), writeHistory(await inner.fetchHistory()));
}
await theatre.close();
