import { readFile } from 'node:fs/promises';
import { resetPoint } from '../../src/cli/reset-point.ts';
import { parseHistory } from '../../src/worker/replay.ts';

const recorded = async (name: string) =>
  parseHistory(await readFile(new URL(`../histories/${name}.json`, import.meta.url), 'utf8'));

test.each([
  ['sequential-failed', undefined, /^t002\./],
  ['graph-failed', undefined, /^t00\d\./],
  ['sequential-ok', '2', /^t002\./],
  ['sequential-ok', 't003', /^t003\./],
  ['selector-ok', 't002.trip.select', /^t002\.trip\.select$/],
  ['sequential-nested', '1', /^(t001\.|team:.*:t001\.)/],
])('%s goes on from %s', async (name, from, expected) => {
  const { id, workflowTaskEventId } = resetPoint(await recorded(name), from);
  expect(id).toMatch(expected);

  const { events = [] } = await recorded(name);
  const task = events?.find(({ eventId }) => String(eventId) === String(workflowTaskEventId));
  expect(task?.workflowTaskCompletedEventAttributes).toBeTruthy();
});

test.each([
  [
    'sequential-ok',
    undefined,
    /^No step of this run failed; give --from with a turn or one of these: t001\./,
  ],
  ['sequential-ok', '99', /^No step of this run is 99; /],
])('%s cannot go on from %s', async (name, from, message) => {
  const history = await recorded(name);
  expect(() => resetPoint(history, from)).toThrow(message);
});
