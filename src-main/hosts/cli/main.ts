/** The command line: what each command is called, takes and ends with. */
import { Command, CommanderError } from 'commander'
import { setUp } from '../../adapters/machine/local-machine'
import { inEnglish } from '../../domain/text/wording'
import { assets } from '../../adapters/kernels/assets'
import { readTasks } from '../../adapters/kernels/kernel-library'
import { exitCodes, inputError, KernelLadderError, toErrorShape } from '../../domain/errors'
import type { Task } from '../../domain/task/task'
import { reportSections } from '../../domain/report/frozen-report'
import { reportFormats } from '../../domain/report/report-format'
import { sanitizerTools } from '../../domain/session/sanitizer'
import { targetHelp } from '../../domain/target/targets'
import { templateNames } from '../../services/ladder-library/init'
import { diagnose } from '../../services/machine/doctor'
import { defaultSecondsARung } from '../../services/sanitize/sanitize'
import { appVersion } from '../../services/version'
import { namedOptions, type NamedOption, type RunOptions } from './arguments'
import { importCommand, type ImportOptions } from './commands/import-command'
import { addLabCommands } from './commands/lab-commands'
import { initCommand } from './commands/init-command'
import { laddersCommand } from './commands/ladders-command'
import { checkOutput, note, outliveReaders, printError, printJson, printText } from './output'
import { reportCommand, type ReportCommandOptions } from './commands/report-command'
import { runCommand } from './commands/run-command'
import { sanitizeCommand, type SanitizeCommandOptions } from './commands/sanitize-command'
import { serveCommand, type ServeOptions } from './commands/serve-command'
import { diffCommand, showCommand, type ShowOptions } from './commands/show-command'

const doctorSigns = { ok: '✓', warning: '!', missing: '✗', unknown: '?' } as const

const ladderHelp = 'a ladder of `ladders`, or a folder that holds ladder.yaml'
const trust = ['--trust', 'allow the code of this ladder folder, now and from now on'] as const

async function doctorCommand({ json }: { json?: boolean }): Promise<number> {
  const { assets, machine } = await setUp()
  const report = await diagnose(machine, assets)
  if (json) printJson({ schema: 2, ...report })
  else
    for (const { status, label, detail, remedy } of report.checks) {
      printText(`${doctorSigns[status]} ${label}: ${inEnglish(detail)}`)
      if (remedy) printText(`    ${inEnglish(remedy)}`)
    }
  return report.canProfile ? 0 : exitCodes.missing
}

/** Adds what a problem is asked for with; returns the options of the tasks' names. */
function addProblemOptions(command: Command, tasks: Iterable<Task>, size: string): NamedOption[] {
  const taken = new Set(command.options.map((option) => option.attributeName()))
  const named = namedOptions(tasks, new Set([...taken, 'size', 'at']))
  command.option('--size <n>', size)
  for (const { name, help } of named) command.option(`--${name} <${name}>`, help)
  command.option(
    '--at <NAME=value>',
    'any name of the ladder’s task; may be given again',
    (word: string, words: string[] = []) => [...words, word],
  )
  return named
}

/** `lab check` is a command of a command. */
function commandOf(cli: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((candidate) => candidate.name() === word)
    if (found) return found
    const names = command.commands.map((candidate) => candidate.name())
    throw inputError(
      `There is no command ${JSON.stringify(words.join(' '))}.`,
      names.length > 0 ? `The commands are: ${names.join(', ')}.` : 'See `kernel-ladder help`.',
    )
  }, cli)
}

function program(
  finish: (code: number) => void,
  tasks: readonly Task[],
  templates: readonly string[],
): Command {
  const cli = new Command('kernel-ladder')
    .description(
      'Climbs a CUDA kernel from naive to past cuBLAS and shows what each change bought.',
    )
    .version(appVersion)
    .exitOverride()
    .showHelpAfterError('Run `kernel-ladder help` to see the commands.')
  const json = '--json'
  const jsonText = 'exactly one JSON document on stdout'
  cli
    .command('doctor')
    .description('GPU, driver, nvcc, ncu and counter permission, each with its remedy')
    .option(json, jsonText)
    .action(async (options: { json?: boolean }) => finish(await doctorCommand(options)))
  cli
    .command('ladders')
    .description('ladders and their rungs; of a folder, every fault with its file and line')
    .argument('[ladder]', ladderHelp)
    .option(json, jsonText)
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      finish(await laddersCommand(name, options)),
    )
  cli
    .command('init')
    .description('a folder with a ladder of your own, from a template that builds and runs')
    .argument('<dir>', 'a folder that is new or empty')
    .option('--template <name>', templates.join(', '), 'blank')
    .action(async (dir: string, options: { template: string }) =>
      finish(await initCommand(dir, options)),
    )
  const run = cli
    .command('run')
    .description('build, verify, time and profile a ladder, and save the session')
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs, separated by commas')
    .option(
      '--param <NAME=value>',
      'a rung parameter, or RUNG.NAME=value of one rung; may be given again',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--target <target>', targetHelp, 'local')
    .option(
      '--profile <level>',
      'none, card, standard or deep; card unless given, none with --watch',
    )
    .option('--profile-skip <ids>', 'rungs to time and not to profile, separated by commas')
    .option(
      '--profile-limit <seconds>',
      'leave out of profiling what is expected to take longer; the estimate is printed',
    )
    .option('--watch', 'of a ladder folder: again at each save, of the rungs that changed')
    .option('--flush-l2', 'empty the L2 cache before each timed launch')
    .option('--timeout <seconds>', 'a rung without progress for so long counts as hung (60)')
    .option('--no-wait', 'end with 3 when another run uses the GPU, in place of waiting for it')
    .option('--out <dir>', 'save the session in this folder, which must not exist')
    .option(...trust)
    .option(json, jsonText)
  const ofRun = addProblemOptions(run, tasks, 'every size of the ladder’s task')
  run.action(async (options: RunOptions) => finish(await runCommand(options, ofRun)))
  cli
    .command('show')
    .description('print a session, or one rung of it in depth')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .option('--rung <id>', 'what limits this rung, its hot lines, instructions and ncu’s advice')
    .option(json, jsonText)
    .action(async (name: string, options: ShowOptions) =>
      finish(await showCommand(await setUp(), name, options)),
    )
  cli
    .command('diff')
    .description('two rungs of a session: source hunks and metric deltas')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .argument('<a>', 'the rung to compare with')
    .argument('<b>', 'the rung compared')
    .option(json, jsonText)
    .action(async (name: string, a: string, b: string, options: { json?: boolean }) =>
      finish(await diffCommand(await setUp(), name, a, b, options)),
    )
  cli
    .command('report')
    .description('a session, or two side by side, as a document; or a check against a baseline')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .option('--format <format>', reportFormats.join(', '))
    .option('--out <file>', 'a file that does not exist yet, or - for stdout')
    .option('--compare <session>', 'a second session, set beside the first')
    .option('--sections <names>', `only these parts: ${reportSections.join(', ')}`)
    .option('--rungs <ids>', 'only these rungs, separated by commas')
    .option(
      '--chart <id>',
      'one chart as .svg or .png: throughput, a counter by its id, or of the Charts screen: roofline[:l2], stalls[:share], traffic, occupancy, waves[:rung], sweep[:throughput], study[:counter]',
    )
    .option('--wide', 'CSV with a line a rung in place of a line a figure')
    .option('--date <day>', 'a day to print in it; without, the same session gives the same bytes')
    .option(
      '--ci',
      'a check in Markdown on stdout; exits 1 when a rung got slower or broke, 2 when that cannot be told',
    )
    .option('--baseline <session>', 'what --ci compares with')
    .option('--threshold <percent>', 'how much slower --ci lets a rung get, 0.1 to 100 (3)')
    .option(json, 'with --ci: exactly one JSON document on stdout')
    .action(async (name: string, options: ReportCommandOptions) =>
      finish(await reportCommand(name, options)),
    )
  cli
    .command('import')
    .description(
      'a file becomes a session: a .ncu-rep, CSV of ncu’s raw or details page, an HTML report',
    )
    .argument('<file>', 'a .ncu-rep file, a CSV, or a report in HTML')
    .option('--out <dir>', 'save the session in this folder, which must not exist')
    .option('--order <ids>', 'only these of the imported rungs, in this order, separated by commas')
    .option(
      '--name <id=name>',
      'a name for an imported rung; may be given again',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--which <one>', 'first or second, of a report that sets two sessions side by side')
    .option(json, jsonText)
    .action(async (file: string, options: ImportOptions) =>
      finish(await importCommand(file, options)),
    )
  const sanitize = cli
    .command('sanitize')
    .description(
      'compute-sanitizer over rungs: findings at file and line; exits 1 when there are any',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs; all but the reference unless given')
    .option('--tool <names>', `of ${sanitizerTools.join(', ')}; all unless given`)
    .option(
      '--param <NAME=value>',
      'a rung parameter, or RUNG.NAME=value of one rung; may be given again',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--timeout <seconds>', `for each rung and checker (${defaultSecondsARung})`)
    .option('--no-wait', 'end with 3 when another run uses the GPU, in place of waiting for it')
    .option(...trust)
    .option(json, jsonText)
  const ofSanitize = addProblemOptions(
    sanitize,
    tasks,
    'every size of the ladder’s task; its small ragged shape unless given',
  )
  sanitize.action(async (options: SanitizeCommandOptions) =>
    finish(await sanitizeCommand(options, ofSanitize)),
  )
  cli
    .command('serve')
    .description('the UI on loopback; prints a link that works once')
    .option('--port <port>', 'a free one unless given, or where it is 0')
    .option('--session <dir>', 'a session folder to open first')
    .action(async (options: ServeOptions) => finish(await serveCommand(options)))
  addLabCommands(cli, finish)
  cli
    .command('help')
    .description('what a command takes')
    .argument('[command...]', 'such as run, or lab check')
    .action((words: string[]) => commandOf(cli, words).outputHelp())
  return cli
}

/** The tasks whose names are options of the command that is called; most commands have none. */
async function namingTasks(): Promise<Task[]> {
  const words = process.argv.slice(2)
  if (!words.includes('run') && !words.includes('sanitize')) return []
  return [...(await readTasks((await assets()).kernelsDir)).values()]
}

const namedTemplates = async (): Promise<string[]> =>
  process.argv.includes('init') ? templateNames(await setUp()) : []

async function main(): Promise<number> {
  let code = 0
  try {
    await program(
      (result) => {
        code = result
      },
      await namingTasks(),
      await namedTemplates(),
    ).parseAsync()
    await checkOutput()
    return code
  } catch (error) {
    // Commander has printed its sentence already; help and --version are no errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
    printError(toErrorShape(error))
    if (
      !(error instanceof KernelLadderError) &&
      process.env.KERNEL_LADDER_DEBUG &&
      error instanceof Error
    )
      note(error.stack ?? '')
    return exitCodes[toErrorShape(error).kind]
  }
}

outliveReaders()
process.exitCode = await main()
