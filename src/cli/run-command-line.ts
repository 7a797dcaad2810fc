import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { brokerCommand } from './broker.ts';
import { controllerCommand } from './controller.ts';
import { demoCommand } from './demo.ts';
import { devCommand } from './dev.ts';
import { installCommand } from './install.ts';
import { replayCommand } from './replay.ts';
import { rerunCommand } from './rerun.ts';
import { UsageError } from './settings.ts';
import { version } from './version.ts';
import { workerCommand } from './worker.ts';

const wrongUsage = 2;
const causesMax = 5;

/** Runs one command and resolves with its exit code: 0, 1 where it failed, 2 where it was called wrongly. */
export async function runCommandLine(words: readonly string[], name: string): Promise<number> {
  if (isTooOld(process.versions.node)) {
    console.error(`${name}: Arkwright needs Node 22.19 or later, and this is ${process.versions.node}.`);
    return wrongUsage;
  }
  const program = createProgram(name);
  try {
    await program.parseAsync(words, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has said what was wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongUsage;

    console.error(`${name}: ${sentence(error)}`);
    if (error instanceof UsageError) return wrongUsage;
    if (isDebugging(words)) console.error(error);
    return 1;
  }
}

/** As package.json says under `engines`; below it, the HTTP client cannot even be loaded. */
function isTooOld(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 19);
}

function createProgram(name: string): Command {
  const program = new Command(name)
    .description('A durable runtime for agent resources on Kubernetes: every Query is a Temporal workflow.')
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(`(${name} --help says more)`)
    .exitOverride()
    .addHelpText(
      'after',
      `
Try it on this machine, with nothing to set up:
  ${name} demo                      boot everything, watch a team answer, kill its worker on the way
  ${name} dev                       keep the same stack up and use kubectl from another terminal

Put it into a cluster:
  ${name} install --tenant team-a   the resource definitions and rights; Queries may run in team-a
  ${name} controller                starts runs and writes their results to status
  ${name} worker                    makes the model and tool calls; run as many as you like
  ${name} broker                    keeps conversations and passes on answers while they are written

Look closer:
  ${name} replay my-query           what was decided, turn by turn, and whether this code still decides the same
  ${name} rerun my-query            let a failed Query go on from the turn that failed; what was answered is kept
  ${name} controller --help         every flag with its environment variable and default
`,
    );

  const inCluster = [installCommand, controllerCommand, workerCommand, brokerCommand];
  const commands = [...inCluster, devCommand, demoCommand, replayCommand, rerunCommand];
  for (const create of commands) program.addCommand(create(name).copyInheritedSettings(program));
  return program;
}

/** The error and its causes, on one line; where it broke in our code is for `--log-level debug`. */
function sentence(error: unknown): string {
  const said: string[] = [];
  let each = error;
  while (each instanceof Error && said.length < causesMax) {
    const { message } = each;
    // Many errors repeat their cause's message; nobody needs to read it twice.
    if (!said.some((earlier) => earlier.includes(message))) said.push(message);
    each = each.cause;
  }
  return said.length > 0 ? said.join(': ') : inspect(error);
}

function isDebugging(words: readonly string[]): boolean {
  const wanted = words.includes('--log-level')
    ? words[words.indexOf('--log-level') + 1]
    : process.env['ARKWRIGHT_LOG_LEVEL'];
  return wanted === 'debug' || wanted === 'trace' || words.includes('--log-level=debug');
}
