/** The command line: commands, their options and their exit codes. */
import { Command, CommanderError, Option } from 'commander'
import type { SetUp } from '../../adapters/machine/machine'
import {
  exitCodes,
  inputError,
  KernelLadderError,
  toErrorShape,
  type ErrorShape,
} from '../../domain/errors'
import type { Task } from '../../domain/task/task'
import { profileLevels, programLevels } from '../../domain/metrics/metric-definition'
import { timingWays } from '../../domain/session/session'
import { reportSections } from '../../domain/report/frozen-report'
import { reportFormats } from '../../domain/report/report-format'
import { defaultSecondsARung, sanitizerTools } from '../../domain/session/sanitizer'
import { exhaustiveLimit, strategyNames } from '../../domain/tune/sweep'
import { targetHelp } from '../../domain/target/targets'
import { nearest } from '../../domain/text/text'
import { appVersion } from '../../services/version'
import { type RunOptions, namedOptions, type NamedOption } from './arguments'
import {
  agentCommand,
  appCommand,
  compareCommand,
  completeCommand,
  completionCommand,
  diffCommand,
  doctorCommand,
  editCommand,
  historyCommand,
  importCommand,
  initCommand,
  laddersCommand,
  machineAddCommand,
  machineCheckCommand,
  machineFetchCommand,
  machineListCommand,
  machineRemoveCommand,
  machineResumeCommand,
  machineRunsCommand,
  manCommand,
  mcpCommand,
  profileCommand,
  regressCommand,
  reportCommand,
  runCommand,
  runSeveralCommand,
  sanitizeCommand,
  serveCommand,
  showCommand,
  startCommand,
  tuneCommand,
} from './commands'
import type { CompareOptions, ShowOptions } from './commands/show-command'
import type { HistoryCommandOptions } from './commands/history-command'
import type { ImportOptions } from './commands/import-command'
import { addLabCommands } from './commands/lab-commands'
import type { McpCommandOptions } from './commands/mcp-command'
import type { ProfileOptions } from './commands/profile-command'
import type { RegressCommandOptions } from './commands/regress-command'
import type { ReportCommandOptions } from './commands/report-command'
import type { SanitizeCommandOptions } from './commands/sanitize-command'
import type { ServeOptions } from './commands/serve-command'
import { shellNames } from './completion/scripts'
import { addExamples } from './examples'
import type { TuneCommandOptions } from './commands/tune-command'
import { checkOutput, note, printError, printJson } from './output'
import type { MachineAddOptions } from './commands/machine-command'

const ladderHelp = 'the id of a ladder, or a folder that contains ladder.yaml'
const trust = [
  '--trust',
  'allow building and running the code of this ladder folder from now on',
] as const

const gpu = [
  '--gpu <n>',
  'which GPU of a machine with several, as nvidia-smi numbers them (default: CUDA’s first)',
] as const

/** Adds the options that select a problem; returns those named by the tasks. */
function addProblemOptions(command: Command, tasks: Iterable<Task>, size: string): NamedOption[] {
  const taken = new Set(command.options.map((option) => option.attributeName()))
  const named = namedOptions(tasks, new Set([...taken, 'size', 'at']))
  command.option('--size <n>', size)
  for (const { name, help } of named) command.option(`--${name} <${name}>`, help)
  command.option(
    '--at <NAME=value>',
    'set any name of the ladder’s task (repeatable)',
    (word: string, words: string[] = []) => [...words, word],
  )
  return named
}

function program(
  setUp: SetUp,
  finish: (code: number) => void,
  tasks: readonly Task[],
  templates: readonly string[],
  /** The words that are parsed, for commands that pass them on. */
  given: readonly string[],
): Command {
  const cli = new Command('kernel-ladder')
    .description(
      'Take a CUDA kernel from naive to past the library, and see what each change bought.',
    )
    .version(appVersion)
    .exitOverride()
    .showHelpAfterError('Run `kernel-ladder help` to see the commands.')
  const json = '--json'
  const jsonText = 'print exactly one JSON document to stdout'
  cli
    .command('doctor')
    .description(
      'check the GPU, driver, nvcc, ncu and counter permission, with a remedy for each problem',
    )
    .option(json, jsonText)
    .action(async (options: { json?: boolean }) => finish(await doctorCommand(setUp, options)))
  cli
    .command('ladders')
    .description(
      'list the ladders and their rungs; for a folder, every fault with its file and line',
    )
    .argument('[ladder]', ladderHelp)
    .option(json, jsonText)
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      finish(await laddersCommand(setUp, name, options)),
    )
  cli
    .command('init')
    .description('create a folder with a ladder of your own, from a template that builds and runs')
    .argument('<dir>', 'a new or empty folder')
    .option('--template <name>', templates.join(', '), 'blank')
    .action(async (dir: string, options: { template: string }) =>
      finish(await initCommand(setUp, dir, options)),
    )
  const run = cli
    .command('run')
    .description('build, verify, time and profile a ladder, and save the session')
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option('--rung <id>', 'with --commits: the rung, or the path of a file in a git repository')
    .option('--commits <A..B>', 'run every commit in this range that changed the rung, as rungs')
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--target <target>', `${targetHelp}; several at once with commas`, 'local')
    .option('--profile <level>', `${profileLevels.join(', ')} (default: card; none with --watch)`)
    .option('--profile-skip <ids>', 'rungs to time but not to profile (comma-separated)')
    .option(
      '--profile-limit <seconds>',
      'do not profile rungs that are expected to take longer; the estimate is printed',
    )
    .option('--watch', 'for a ladder folder: on every save, run the rungs that changed')
    .option(
      '--timing <way>',
      `${timingWays.join(', ')}; burst also times launches in a row on a rested GPU (default: single)`,
    )
    .option('--flush-l2', 'flush the L2 cache before each timed launch')
    .option(
      '--timeout <seconds>',
      'a rung counts as hung after this long without progress (default: 60)',
    )
    .option(...gpu)
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using the GPU')
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option(...trust)
    .option(json, jsonText)
  const ofRun = addProblemOptions(run, tasks, 'set every size of the ladder’s task')
  run.action(async (options: RunOptions) => {
    const command = options.target.includes(',') ? runSeveralCommand : runCommand
    finish(await command(setUp, options, ofRun))
  })
  cli
    .command('profile')
    .description(
      'profile the kernels of any program: all are timed, those that took most of the time are profiled',
    )
    .usage('[options] -- COMMAND [ARGUMENTS]')
    .argument('<command...>', 'the program and its arguments, which are passed on exactly')
    .option('--kernels <regex>', 'only kernels whose function name matches, anywhere in it')
    .option('--nvtx <range>', 'only kernels launched in this NVTX range')
    .option('--skip <n>', 'leave out the first launches that match', '0')
    .option('--count <n>', 'look at so many launches and no more')
    .option('--profile <level>', programLevels.join(', '), 'standard')
    .option('--timeout <seconds>', 'how long the program may take under ncu', '600')
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using the GPU')
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option(json, jsonText)
    .action(async (words: string[], options: ProfileOptions) =>
      finish(await profileCommand(setUp, words, options)),
    )
  cli
    .command('show')
    .description('print a session, or one of its rungs in depth')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .option('--rung <id>', 'one rung: what limits it, its hot lines, instructions and ncu’s advice')
    .option(json, jsonText)
    .action(async (name: string, options: ShowOptions) =>
      finish(await showCommand(await setUp(), name, options)),
    )
  cli
    .command('diff')
    .description('compare two rungs of a session: source hunks and metric deltas')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .argument('<a>', 'the rung to compare against')
    .argument('<b>', 'the rung to compare')
    .option(json, jsonText)
    .action(async (name: string, a: string, b: string, options: { json?: boolean }) =>
      finish(await diffCommand(await setUp(), name, a, b, options)),
    )
  cli
    .command('compare')
    .description(
      'compare two sessions of any kind: the total, then their rungs or kernels in pairs with the reason of each pair',
    )
    .argument('<a>', 'the session before: a folder or name, recorded or recorded:<name>')
    .argument('<b>', 'the session after')
    .option(
      '--pair <A=B>',
      'pair these two kernels by hand (repeatable)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option(json, jsonText)
    .action(async (a: string, b: string, options: CompareOptions) =>
      finish(await compareCommand(await setUp(), a, b, options)),
    )
  cli
    .command('report')
    .description(
      'write a report on a session, or on two side by side; or check a session against a baseline',
    )
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .option('--format <format>', reportFormats.join(', '))
    .option('--out <file>', 'a file that does not exist yet, or - for stdout')
    .option('--compare <session>', 'a second session to show beside the first')
    .option('--sections <names>', `only these sections: ${reportSections.join(', ')}`)
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option(
      '--chart <id>',
      'one chart as .svg or .png: throughput, a counter id, or a chart of the Charts screen: roofline[:all], stalls[:share], traffic, occupancy, waves[:rung], sweep[:throughput], study[:counter]',
    )
    .option(
      '--charts <ids>',
      'the charts of a PDF or Markdown report, in this order: names as for --chart (comma-separated)',
    )
    .option(
      '--caption <chart=text>',
      'a caption under one of its charts (repeatable)',
      (word: string, all: string[] = []) => [...all, word],
    )
    .option('--title <text>', 'a title of your own for PDF, Markdown or LaTeX')
    .option(
      '--note <text>',
      'a paragraph of your own below the title (repeatable)',
      (word: string, all: string[] = []) => [...all, word],
    )
    .option('--wide', 'CSV with one row per rung instead of one row per figure')
    .option(
      '--date <day>',
      'a date to print in the report; without it, the same session yields the same bytes',
    )
    .option(
      '--ci',
      'print a check as Markdown to stdout; exits 1 if a rung got slower or broke, 2 if that cannot be decided',
    )
    .option('--baseline <session>', 'the session that --ci compares with')
    .option(
      '--threshold <percent>',
      'how much slower --ci lets a rung get, 0.1 to 100 (default: 3)',
    )
    .option(json, 'with --ci: print exactly one JSON document to stdout')
    .action(async (name: string, options: ReportCommandOptions) =>
      finish(await reportCommand(setUp, name, options)),
    )
  const regress = cli
    .command('regress')
    .description(
      'build the old code of a ladder again, measure old and new in turn on this GPU, and exit with 1 if a rung got slower',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .requiredOption(
      '--against <old>',
      'the old code: a session folder or name, recorded:<name>, or a git revision',
    )
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option(
      '--threshold <percent>',
      'the smallest change that counts, 0.1 to 100; at least how far the same code differs from itself (default: 0.5)',
    )
    .option(
      '--rounds <n>',
      'fresh processes that time old and new in turn, 6 to 1000 (default: 24)',
    )
    .option('--seconds <s>', 'sampling time per rung and round, 0.01 to 60 (default: 0.1)')
    .option('--calibrate', 'measure how far the same code differs from itself anew')
    .option('--flush-l2', 'flush the L2 cache before each timed launch')
    .option(
      '--timeout <seconds>',
      'a rung counts as hung after this long without progress (default: 60)',
    )
    .option(...gpu)
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using the GPU')
    .option(
      '--trust',
      'allow building and running the code of this ladder folder from now on, and that of a session from elsewhere',
    )
    .option(json, jsonText)
    .option('--markdown', 'print Markdown for a pull request')
    .option('--junit <file>', 'also write JUnit XML to a file that does not exist yet')
  const ofRegress = addProblemOptions(regress, tasks, 'set every size of the ladder’s task')
  regress.action(async (options: RegressCommandOptions) =>
    finish(await regressCommand(setUp, options, ofRegress)),
  )
  const history = cli
    .command('history')
    .description(
      'show how the times of a ladder’s rungs moved over its sessions, and where they changed',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option('--threshold <percent>', 'the smallest change to list, 0.1 to 100 (default: 1)')
    .option(json, jsonText)
  const ofHistory = addProblemOptions(history, tasks, 'only sessions with this value of every size')
  history.action(async (options: HistoryCommandOptions) =>
    finish(await historyCommand(setUp, options, ofHistory)),
  )
  const machine = cli
    .command('machine')
    .description(
      'the machines that --target names, reached over ssh or through Slurm: add, list, check, runs, resume, fetch, remove',
    )
  const repeated = (word: string, words: string[] = []): string[] => [...words, word]
  machine
    .command('add')
    .description('name a machine; an unknown host key is shown and trusted only when told to')
    .argument('<name>', 'what --target calls it')
    .option('--ssh <host>', 'the host as after `ssh`, whose configuration and keys are used')
    .option('--slurm', 'submit runs to Slurm there, or here on a login node without --ssh')
    .option('--partition <name>', 'Slurm’s partition')
    .option('--account <name>', 'Slurm’s account')
    .option('--qos <name>', 'Slurm’s quality of service')
    .option('--gres <gres>', 'the GPUs of a job, such as gpu:h100:1 (default: gpu:1)')
    .option('--constraint <features>', 'what a node must have, such as hwperf')
    .option('--time <limit>', 'the time limit of a job, such as 30 (minutes) or 2:00:00')
    .option(
      '--sbatch <--option=value>',
      'a further option of sbatch, such as --sbatch=--reservation=lab (repeatable)',
      repeated,
    )
    .option('--before <command>', 'a shell command before each run there (repeatable)', repeated)
    .option('--after <command>', 'a shell command after each run there (repeatable)', repeated)
    .option('--fingerprint <SHA256:…>', 'trust the host key if this is its fingerprint')
    .option('--replace', 'replace a machine of that name')
    .action(async (name: string, options: MachineAddOptions) =>
      finish(await machineAddCommand(setUp, name, options)),
    )
  machine
    .command('list')
    .description('list the machines')
    .option(json, jsonText)
    .action(async (options: { json?: boolean }) => finish(await machineListCommand(setUp, options)))
  machine
    .command('check')
    .description('send the program there if needed, and run the doctor')
    .argument('<name>')
    .option(json, jsonText)
    .action(async (name: string, options: { json?: boolean }) =>
      finish(await machineCheckCommand(setUp, name, options)),
    )
  machine
    .command('runs')
    .description('list the runs there whose sessions were not brought home')
    .argument('<name>')
    .option(json, jsonText)
    .action(async (name: string, options: { json?: boolean }) =>
      finish(await machineRunsCommand(setUp, name, options)),
    )
  machine
    .command('resume')
    .description('follow such a run to its end, and bring its session home')
    .argument('<name>')
    .argument('<run>', 'as `machine runs` lists it')
    .option(json, jsonText)
    .action(async (name: string, run: string, options: { json?: boolean }) =>
      finish(await machineResumeCommand(setUp, name, run, options)),
    )
  machine
    .command('fetch')
    .description(
      'bring ncu’s own report of a session here, which stays on the machine until it is asked for; a fetch that was cut goes on',
    )
    .argument('<session>', 'a session’s name or folder')
    .option('--open', 'open it in Nsight Compute (ncu-ui)')
    .option(json, jsonText)
    .action(async (session: string, options: { json?: boolean; open?: boolean }) =>
      finish(await machineFetchCommand(setUp, session, options)),
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
  const tuning = cli
    .command('tune')
    .description(
      'try the values of a rung’s compile-time parameters, rank them, and time the best again; the same command continues a sweep that was stopped',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .requiredOption('--rung <id>', 'the rung')
    .option(
      '--param <NAME=values>',
      'a parameter or macro with its values, such as BM=64,128 (repeatable; default: what the rung’s header allows)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option(
      '--constraint <expression>',
      'leave out points for which this is false, such as "BM * BN <= 16384" (repeatable); the rung’s static_asserts always hold',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option(
      '--strategy <name>',
      `${strategyNames.join(', ')} (default: exhaustive up to ${exhaustiveLimit} points, then local)`,
    )
    .option('--budget <points|time>', 'stop after so many points, or a time such as 90s, 10m, 2h')
    .option('--seed <n>', 'of the strategies that draw at random', '1')
    .option('--seconds <s>', 'sampling time per point, 0.01 to 60', '0.1')
    .option(
      '--gpu <list>',
      'GPUs to use, such as 0,1 or all, one worker each (default: CUDA’s first)',
    )
    .option('--target <machine>', 'local, or a machine of `machine list` (default: local)')
    .option('--tasks <n>', 'with Slurm: an array of so many jobs, each for a part of the points')
    .addOption(new Option('--no-keep').hideHelp())
    .addOption(new Option('--part <k/n>').hideHelp())
    .option('--fresh', 'measure every point again instead of continuing')
    .option('--apply', 'add the winner to the ladder folder, as a variant of the rung')
    .option('--t4 <file>', 'also write all results as T4, the exchange format of autotuners')
    .option('--from <file>', 'try the points of a T4 file first, the fastest ahead')
    .option('--flush-l2', 'flush the L2 cache before each timed launch')
    .option(
      '--timeout <seconds>',
      'a point counts as hung after this long without progress (default: 60)',
    )
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using a GPU')
    .option(...trust)
    .option(json, jsonText)
  const ofTune = addProblemOptions(tuning, tasks, 'set every size of the ladder’s task')
  tuning.action(async (options: TuneCommandOptions) =>
    finish(await tuneCommand(setUp, options, ofTune, given)),
  )
  cli
    .command('import')
    .description(
      'make a session from a .ncu-rep, a CSV of ncu’s raw or details page, or an HTML report',
    )
    .argument('<file>', 'a .ncu-rep file, a CSV or an HTML report')
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option('--order <ids>', 'keep only these imported rungs, in this order (comma-separated)')
    .option(
      '--name <id=name>',
      'rename an imported rung (repeatable)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--which <one>', 'first or second: which session of a report that compares two')
    .option(json, jsonText)
    .action(async (file: string, options: ImportOptions) =>
      finish(await importCommand(setUp, file, options)),
    )
  const sanitize = cli
    .command('sanitize')
    .description(
      'run compute-sanitizer on rungs and report findings by file and line; exits 1 if there are any',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs, comma-separated (default: all but the reference)')
    .option(
      '--target <target>',
      'local or a machine of `machine list`, with compute-sanitizer; or emulated or emulated:<gpu>, without a GPU (default: local)',
    )
    .option('--tool <names>', `any of ${sanitizerTools.join(', ')} (default: all)`)
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--timeout <seconds>', `time limit per rung and tool (default: ${defaultSecondsARung})`)
    .option(...gpu)
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using the GPU')
    .option(...trust)
    .option(json, jsonText)
  const ofSanitize = addProblemOptions(
    sanitize,
    tasks,
    'set every size of the ladder’s task (default: its small ragged shape)',
  )
  sanitize.action(async (options: SanitizeCommandOptions) =>
    finish(await sanitizeCommand(setUp, options, ofSanitize, given)),
  )
  cli
    .command('serve')
    .description('serve the UI on loopback and print a link that works once')
    .option('--port <port>', 'the port to listen on (default: a free one, as with 0)')
    .option('--session <dir>', 'a session folder to open first')
    .action(async (options: ServeOptions) => finish(await serveCommand(setUp, options)))
  cli
    .command('app')
    .description('open the UI: in a window if Electron is installed, else in the browser')
    .option('--port <port>', 'serve it on this port and open the browser')
    .option('--session <dir>', 'a session folder to open first, in the browser')
    .action(async (options: ServeOptions) => finish(await appCommand(setUp, options)))
  cli
    .command('mcp')
    .description(
      'answer a coding agent over stdio (Model Context Protocol): why kernels are slow, with figures',
    )
    .argument(
      '[folder...]',
      'the only folders that it may read reports from and build ladders in, with your permissions',
    )
    .option('--allow-run', 'also let it run code on this GPU')
    .action(async (folders: string[], options: McpCommandOptions) =>
      finish(await mcpCommand(setUp, folders, options)),
    )
  cli
    .command('edit')
    .description('open the source of a rung in the editor that KERNEL_LADDER_EDITOR names')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .argument('<rung>', 'the id of a rung, or ID:LINE')
    .action(async (name: string, rung: string) => finish(await editCommand(setUp, name, rung)))
  addLabCommands(cli, setUp, finish, given)
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

/** Follows subcommands such as `lab check`. */
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

/** Tasks whose names become options of the current command; most commands need none. */
async function namingTasks(setUp: SetUp, words: readonly string[]): Promise<Task[]> {
  if (
    !['run', 'sanitize', 'regress', 'history', '__man'].some((command) => words.includes(command))
  )
    return []
  const { readTasks } = await import('../../adapters/kernels/kernel-library')
  return [...(await readTasks((await setUp()).assets.kernelsDir)).values()]
}

async function namedTemplates(setUp: SetUp, words: readonly string[]): Promise<string[]> {
  if (!words.includes('init') && !words.includes('__man')) return []
  const { templateNames } = await import('../../services/ladder-library/init')
  return templateNames(await setUp())
}

/** Prints an error unless commander has already done so; returns its shape. */
function sayError(error: unknown): ErrorShape {
  if (error instanceof CommanderError)
    return { kind: 'usage', message: error.message.replace(/^error: /, '') }
  const shape = toErrorShape(error)
  printError(shape)
  const isOurs = error instanceof KernelLadderError
  if (!isOurs && process.env.KERNEL_LADDER_DEBUG && error instanceof Error) note(error.stack ?? '')
  return shape
}

/** Runs a command on a machine, given as the arguments after the program's name; returns the exit code. */
export async function runProgram(words: readonly string[], setUp: SetUp): Promise<number> {
  let code = 0
  try {
    const finish = (result: number): void => {
      code = result
    }
    if (words.length === 0) return await startCommand(setUp)
    const tasks = await namingTasks(setUp, words)
    const templates = await namedTemplates(setUp, words)
    await program(setUp, finish, tasks, templates, words).parseAsync([...words], { from: 'user' })
  } catch (error) {
    // Help and --version are not errors.
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const shape = sayError(error)
    // A failed command has not printed a document yet.
    if (words.includes('--json')) {
      const { errorDocument } = await import('./documents/document')
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
