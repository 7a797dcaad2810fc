import { Command } from 'commander';
import { untilStopped } from './until-stopped.ts';

/** `arkwright demo`: a team answers, its worker is killed on the way, and nothing is paid for twice. */
export function demoCommand(program: string): Command {
  const command = new Command('demo')
    .summary('boot everything here, watch a team answer, kill its worker on the way')
    .description(
      'Boots everything on this machine, applies a team of four agents with kubectl and prints their turns. Halfway it kills ' +
        'the worker with SIGKILL and shows that no finished turn was paid for again. Leaves nothing running.',
    )
    .addHelpText(
      'after',
      `
With OPENAI_API_KEY (and OPENAI_BASE_URL) set, the agents talk to the real model instead of the scripted one.

Example:
  ${program} demo
`,
    );

  return command.action(async () => {
    const [{ runDemo }, { installForDevelopment: install }] = await Promise.all([
      import('../dev/demo.ts'),
      import('./install-for-development.ts'),
    ]);
    await untilStopped((signal) => runDemo({ install }, signal));
  });
}
