import {
  startJournaledServer,
  type JournaledReply,
  type JournaledRequest,
  type JournaledServer,
} from '../../src/dev/journaled-server.ts';

/** An HTTP tool on loopback that counts its calls; without a script it answers how often it was called. */
export const startCountingTool = (
  script: (request: JournaledRequest) => JournaledReply | Promise<JournaledReply> = ({ n }) => ({
    body: JSON.stringify({ call: n }),
  }),
): Promise<JournaledServer> => startJournaledServer(script);
