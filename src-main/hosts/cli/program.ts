/** Defines the command line: commands, options, and exit codes. */
import { Command, CommanderError } from 'commander'
import type { SetUp } from '../../adapters/machine/machine'
import {
  exitCodes,
  inputError,
  KernelLadderError,
  toErrorShape,
  type ErrorShape,
} from '../../domain/errors'
import { appVersion } from '../../services/version'
import {
  agentCommand,
  judgeCommand,
  appCommand,
  completeCommand,
  completionCommand,
  doctorCommand,
  editCommand,
  initCommand,
  laddersCommand,
  machineAddCommand,
  machineCalibrateCommand,
  machineCheckCommand,
  machineFetchCommand,
  machineListCommand,
  machineRemoveCommand,
  machineResumeCommand,
  machineRunsCommand,
  manCommand,
  mcpCommand,
  serveCommand,
  startCommand,
} from './commands'
import { addLabCommands } from './commands/lab-commands'
import { addProfile, addRegress, addRun, addSanitize, addTune } from './commands/run-commands'
import { addHistory, addImport, addReport, addShow } from './commands/session-commands'
import type { McpCommandOptions } from './commands/mcp-command'
import type { ServeOptions } from './commands/serve-command'
import { shellNames } from './completion/scripts'
import { addExamples } from './examples'
import { checkOutput, note, printError, printJson } from './output'
import type { InitOptions } from './commands/init-command'
import type { CalibrateOptions } from './commands/machine-calibrate-command'
import type { MachineAddOptions } from './commands/machine-command'
import { nearest } from '../../domain/text/nearest'
import { gpu, json, ladderHelp, repeated, type CommandLine } from './shared-options'
import type { TaskChoice } from './task-options'

function program(
  { setUp, finish, tasks, given }: Omit<CommandLine, 'cli'>,
  templates: readonly string[],
): Command {
  const cli = new Command('kernel-ladder')
    .description('Optimize a CUDA kernel step by step, and see the effect of each change.')
    .version(appVersion)
    .exitOverride()
    .showHelpAfterError('Run `kernel-ladder help` to see the commands.')
  const to: CommandLine = { cli, setUp, finish, tasks, given }
  cli
    .command('doctor')
    .description(
      'check the GPU, driver, nvcc, ncu and counter permission, with a remedy for each problem',
    )
    .option(...json)
    .action(async (options: { json?: boolean }) => finish(await doctorCommand(setUp, options)))
  cli
    .command('ladders')
    .description(
      'list the ladders and their rungs; for a folder, every error with its file and line',
    )
    .argument('[ladder]', ladderHelp)
    .option(...json)
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      finish(await laddersCommand(setUp, name, options)),
    )
  cli
    .command('init')
    .description(
      'create a folder with a ladder of your own, from a template that builds and runs, or from a .cu file with a kernel',
    )
    .argument('<dir>', 'a new or empty folder')
    .argument('[arguments...]', 'with --from, after --: arguments for the program in the file')
    .option('--template <name>', `${templates.join(', ')} (default: blank)`)
    .option(
      '--from <file>',
      'propose a ladder from a .cu file; its main() is run on this machine’s CPU, confined, to record its launches',
    )
    .option('--kernel <name>', 'with --from: the kernel in the file')
    .option('--include <dir>', 'with --from: a folder with headers (repeatable)', repeated)
    .option('--define <macro>', 'with --from: NAME or NAME=VALUE (repeatable)', repeated)
    .action(async (dir: string, args: string[], options: InitOptions) =>
      finish(await initCommand(setUp, dir, args, options)),
    )
  addRun(to)
  addProfile(to)
  addShow(to)
  addReport(to)
  addRegress(to)
  addHistory(to)
  const machine = cli
    .command('machine')
    .description(
      'manage the machines for --target, reached over ssh or through Slurm: add, list, check, runs, resume, fetch, calibrate, remove',
    )
  machine
    .command('add')
    .description('add a machine; an unknown host key is shown and trusted only after confirmation')
    .argument('<name>', 'the name for --target')
    .option('--ssh <host>', 'the host as for `ssh`, whose configuration and keys are used')
    .option('--slurm', 'submit runs to Slurm there, or here on a login node without --ssh')
    .option('--partition <name>', 'Slurm’s partition')
    .option('--account <name>', 'Slurm’s account')
    .option('--qos <name>', 'Slurm’s quality of service')
    .option('--gres <gres>', 'the GPUs of a job, such as gpu:h100:1 (default: gpu:1)')
    .option('--constraint <features>', 'required node features, such as hwperf')
    .option('--time <limit>', 'the time limit of a job, such as 30 (minutes) or 2:00:00')
    .option(
      '--sbatch <--option=value>',
      'an additional sbatch option, such as --sbatch=--reservation=lab (repeatable)',
      repeated,
    )
    .option('--before <command>', 'a shell command before each run there (repeatable)', repeated)
    .option('--after <command>', 'a shell command after each run there (repeatable)', repeated)
    .option('--fingerprint <SHA256:…>', 'trust the host key if this is its fingerprint')
    .option('--replace', 'replace an existing machine with this name')
    .action(async (name: string, options: MachineAddOptions) =>
      finish(await machineAddCommand(setUp, name, options)),
    )
  machine
    .command('list')
    .description('list the machines')
    .option(...json)
    .action(async (options: { json?: boolean }) => finish(await machineListCommand(setUp, options)))
  machine
    .command('check')
    .description('send the program there if needed, and run the doctor')
    .argument('<name>')
    .option(...json)
    .action(async (name: string, options: { json?: boolean }) =>
      finish(await machineCheckCommand(setUp, name, options)),
    )
  machine
    .command('runs')
    .description('list the runs there whose sessions have not been fetched')
    .argument('<name>')
    .option(...json)
    .action(async (name: string, options: { json?: boolean }) =>
      finish(await machineRunsCommand(setUp, name, options)),
    )
  machine
    .command('resume')
    .description('follow such a run until it ends, and fetch its session')
    .argument('<name>')
    .argument('<run>', 'the run, as listed by `machine runs`')
    .option(...json)
    .action(async (name: string, run: string, options: { json?: boolean }) =>
      finish(await machineResumeCommand(setUp, name, run, options)),
    )
  machine
    .command('fetch')
    .description(
      'fetch ncu’s own report of a session from the machine that created it; an interrupted fetch resumes',
    )
    .argument('<session>', 'a session’s name or folder')
    .option('--open', 'open it in Nsight Compute (ncu-ui)')
    .option(...json)
    .action(async (session: string, options: { json?: boolean; open?: boolean }) =>
      finish(await machineFetchCommand(setUp, session, options)),
    )
  machine
    .command('calibrate')
    .description(
      'measure a GPU for --target predicted, in a minute or two; the results are saved as its parameters',
    )
    .argument('<name>', 'a machine, or local')
    .option(...gpu)
    .option(...json)
    .action(async (name: string, options: CalibrateOptions) =>
      finish(await machineCalibrateCommand(setUp, name, options)),
    )
  machine
    .command('remove')
    .description('forget a machine; nothing there is changed')
    .argument('<name>')
    .action(async (name: string) => finish(await machineRemoveCommand(setUp, name)))
  cli
    .command('__agent', { hidden: true })
    .argument('<job>')
    .argument('<events>')
    .action(async (job: string, events: string) =>
      finish(await agentCommand(setUp, [job, events], runProgram)),
    )
  cli
    .command('__judge', { hidden: true })
    .argument('<job>')
    .action(async (job: string) => finish(await judgeCommand(job)))
  addTune(to)
  addImport(to)
  addSanitize(to)
  cli
    .command('serve')
    .description('serve the UI on loopback and print a link that works once')
    .option('--port <port>', 'the port to listen on (default: a free one, as with 0)')
    .option('--session <dir>', 'a session folder to open first')
    .action(async (options: ServeOptions) => finish(await serveCommand(setUp, options)))
  cli
    .command('app')
    .description('open the UI: in a window if Electron is installed, otherwise in the browser')
    .option('--port <port>', 'serve it on this port and open the browser')
    .option('--session <dir>', 'a session folder to open first, in the browser')
    .action(async (options: ServeOptions) => finish(await appCommand(setUp, options)))
  cli
    .command('mcp')
    .description(
      'serve a coding agent over stdio (Model Context Protocol): why kernels are slow, with numbers',
    )
    .argument(
      '[folder...]',
      'the only folders in which it may read reports and build ladders, with your permissions',
    )
    .option('--allow-run', 'also let it run code on this GPU')
    .action(async (folders: string[], options: McpCommandOptions) =>
      finish(await mcpCommand(setUp, folders, options)),
    )
  cli
    .command('edit')
    .description('open the source of a rung in the editor set by KERNEL_LADDER_EDITOR')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .argument('<rung>', 'the id of a rung, or ID:LINE')
    .action(async (name: string, rung: string) => finish(await editCommand(setUp, name, rung)))
  addLabCommands(to)
  cli
    .command('completion')
    .description('print the completion script of a shell')
    .argument('<shell>', shellNames.join(', '))
    .action(async (shell: string) => finish(await completionCommand(shell)))
  cli
    .command('__complete', { hidden: true })
    .argument('<shell>')
    .argument('[words...]')
    .action(async (shell: string, words: string[]) =>
      finish(await completeCommand(cli, shell, words, setUp)),
    )
  cli.command('__man', { hidden: true }).action(async () => finish(await manCommand(cli)))
  cli
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'such as run, or lab check')
    .action((words: string[]) => commandOf(cli, words).outputHelp())
  addExamples(cli)
  return cli
}

/** Returns the command that the arguments select, including subcommands such as `lab check`. */
function commandOf(cli: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((candidate) => candidate.name() === word)
    if (found) return found
    const names = command
      .createHelp()
      .visibleCommands(command)
      .map((candidate) => candidate.name())
    const near = nearest(word, names)
    throw inputError(
      `There is no command ${JSON.stringify(words.join(' '))}.`,
      near !== null
        ? `Did you mean ${near}?`
        : names.length > 0
          ? `The commands are: ${names.join(', ')}.`
          : 'See `kernel-ladder help`.',
    )
  }, cli)
}

/** Returns the value of `--ladder` in the arguments. */
function namedLadder(words: readonly string[]): string | undefined {
  const at = words.indexOf('--ladder')
  const joined = words.find((word) => word.startsWith('--ladder='))
  return at < 0 ? joined?.slice('--ladder='.length) : words[at + 1]
}

/**
 * Returns the tasks that define options for the current command. Only a few commands have such
 * options.
 */
async function namingTasks(setUp: SetUp, words: readonly string[]): Promise<TaskChoice> {
  if (
    !['run', 'tune', 'sanitize', 'regress', 'history', '__man'].some((command) =>
      words.includes(command),
    )
  )
    return { tasks: [], ladder: null }
  const { readTasks } = await import('../../adapters/catalog/catalog')
  const setup = await setUp()
  const tasks = [...(await readTasks(setup.assets.kernelsDir)).values()]
  const name = namedLadder(words)
  if (name === undefined) return { tasks, ladder: null }
  const { chosenLadder } = await import('../../services/folders/open')
  // Ignore an invalid ladder here, because the command reports the problem later.
  return { tasks, ladder: await chosenLadder(setup, name).catch(() => null) }
}

async function namedTemplates(setUp: SetUp, words: readonly string[]): Promise<string[]> {
  if (!words.includes('init') && !words.includes('__man')) return []
  const { templateNames } = await import('../../services/folders/init')
  return templateNames(await setUp())
}

/**
 * Prints an error unless commander has already printed it. Returns the error in the form used in
 * JSON documents.
 */
function sayError(error: unknown): ErrorShape {
  if (error instanceof CommanderError)
    return { kind: 'usage', message: error.message.replace(/^error: /, '') }
  const shape = toErrorShape(error)
  printError(shape)
  const isOurs = error instanceof KernelLadderError
  if (!isOurs && process.env.KERNEL_LADDER_DEBUG && error instanceof Error) note(error.stack ?? '')
  return shape
}

/** Runs a command and returns its exit code. `words` are the arguments after the program's name. */
export async function runProgram(words: readonly string[], setUp: SetUp): Promise<number> {
  let code = 0
  try {
    const finish = (result: number): void => {
      code = result
    }
    if (words.length === 0) return await startCommand(setUp)
    const tasks = await namingTasks(setUp, words)
    const templates = await namedTemplates(setUp, words)
    const all = { setUp, finish, tasks, given: words }
    await program(all, templates).parseAsync([...words], { from: 'user' })
  } catch (error) {
    // `--help` and `--version` are not errors.
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const shape = sayError(error)
    // A command that failed has not printed its JSON document yet.
    if (words.includes('--json')) {
      const { errorDocument } = await import('./documents/error')
      printJson(errorDocument, { error: shape })
    }
    code = exitCodes[shape.kind]
  }
  try {
    await checkOutput()
    return code
  } catch (error) {
    return exitCodes[sayError(error).kind]
  }
}
