import type { QueryStatus } from '../api/query.ts';
import { isFinished } from './lifetime.ts';
import type { ControllerPorts, SeenQuery } from './ports.ts';

/**
 * The same ports; `then` is called when the status was written that finishes a Query: once, unless somebody sets its
 * phase back.
 */
export function whenFinished(
  ports: ControllerPorts,
  then: (query: SeenQuery, status: QueryStatus) => void,
): ControllerPorts {
  const { queries } = ports;
  return {
    ...ports,
    queries: {
      ...queries,
      async writeStatus(query, status) {
        await queries.writeStatus(query, status);
        if (isFinished(status) && !isFinished(query.status)) then(query, status);
      },
    },
  };
}
