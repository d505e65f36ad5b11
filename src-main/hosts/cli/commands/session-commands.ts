/** Defines the commands that show, compare, report and import sessions. */
import { reportSections } from '../../../domain/report/frozen-report'
import { reportFormats, allSections } from '../../../domain/report/report-format'
import {
  compareCommand,
  diffCommand,
  historyCommand,
  importCommand,
  nextCommand,
  reportCommand,
  sessionsCommand,
  showCommand,
} from '.'
import type { HistoryCommandOptions } from './history-command'
import type { ImportOptions } from './import-command'
import type { ReportCommandOptions } from './report-command'
import type { SessionsOptions } from './sessions-command'
import type { ShowOptions } from './show-command'
import { addProblemOptions, json, ladderHelp, repeated, type CommandLine } from '../shared-options'
import type { CompareOptions } from './compare-command'

/** Adds `sessions`, `show`, `diff`, `compare` and `next`. */
export function addShow({ cli, setUp, finish }: CommandLine): void {
  cli
    .command('sessions')
    .description('list your sessions, newest first, and the recordings')
    .option('--ladder <id>', 'only sessions of this ladder')
    .option('--limit <n>', 'number of your own sessions to list (default: 20)')
    .option('--all', 'list all of your own sessions')
    .option(...json)
    .action(async (options: SessionsOptions) => finish(await sessionsCommand(setUp, options)))
  cli
    .command('show')
    .description('print a session, or the details of one rung')
    .argument(
      '[session]',
      'a session folder or name, recorded or recorded:<name> (default: your newest)',
    )
    .option('--rung <id>', 'one rung: its limit, hot lines, instructions, and ncu’s advice')
    .option(...json)
    .action(async (name: string | undefined, options: ShowOptions) =>
      finish(await showCommand(await setUp(), name, options)),
    )
  cli
    .command('diff')
    .description('compare two rungs of a session: source hunks and metric deltas')
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .argument('<a>', 'the baseline rung')
    .argument('<b>', 'the rung to compare')
    .option(...json)
    .action(async (name: string, a: string, b: string, options: { json?: boolean }) =>
      finish(await diffCommand(await setUp(), name, a, b, options)),
    )
  cli
    .command('next')
    .description(
      'suggest what to change next in a rung and the time saved: up to five steps, best first',
    )
    .argument(
      '[session]',
      'a session folder or name, recorded or recorded:<name>, or a .ncu-rep (default: your newest)',
    )
    .argument(
      '[rung]',
      'the rung or kernel (default: the fastest rung, or the kernel with the largest possible gain)',
    )
    .option(...json)
    .action(
      async (name: string | undefined, rung: string | undefined, options: { json?: boolean }) =>
        finish(await nextCommand(await setUp(), name, rung, options)),
    )
  cli
    .command('compare')
    .description(
      'compare two sessions of any kind: the total, then pairs of rungs or kernels, with a reason for each difference',
    )
    .argument('<a>', 'the old session: a folder or name, recorded or recorded:<name>')
    .argument('<b>', 'the new session')
    .option('--pair <A=B>', 'pair these two kernels (repeatable)', repeated)
    .option(...json)
    .action(async (a: string, b: string, options: CompareOptions) =>
      finish(await compareCommand(await setUp(), a, b, options)),
    )
}

export function addReport({ cli, setUp, finish }: CommandLine): void {
  cli
    .command('report')
    .description(
      'write a report on one session or on two side by side; or check a session against a baseline',
    )
    .argument('<session>', 'a session folder or name, recorded or recorded:<name>')
    .option('--format <format>', reportFormats.join(', '))
    .option('--out <file>', 'a file that does not exist yet, or - for stdout')
    .option('--compare <session>', 'a second session to compare with the first')
    .option(
      '--sections <names>',
      `these sections: ${reportSections.join(', ')}, or ${allSections} (default: ${allSections}; PDF: without compare)`,
    )
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option(
      '--chart <id>',
      'one chart as .svg or .png: throughput, a counter id, or a chart of the Charts screen: roofline[:all], stalls[:share], traffic, occupancy, waves[:rung], sweep[:throughput], study[:counter]',
    )
    .option(
      '--charts <ids>',
      'the charts of a PDF or Markdown report, in this order: names as for --chart (comma-separated)',
    )
    .option('--caption <chart=text>', 'a caption under one of its charts (repeatable)', repeated)
    .option('--title <text>', 'your own title for PDF, Markdown, or LaTeX')
    .option('--note <text>', 'your own paragraph below the title (repeatable)', repeated)
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
      'the largest slowdown that --ci allows, 0.1 to 100 (default: 3)',
    )
    .option('--json', 'with --ci: print exactly one JSON document to stdout')
    .action(async (name: string, options: ReportCommandOptions) =>
      finish(await reportCommand(setUp, name, options)),
    )
}

export function addHistory({ cli, setUp, finish, tasks }: CommandLine): void {
  const history = cli
    .command('history')
    .description('show the times of a ladder’s rungs over its sessions, and where they changed')
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option('--threshold <percent>', 'the smallest change to list, 0.1 to 100 (default: 1)')
    .option(...json)
  const ofHistory = addProblemOptions(history, tasks, 'only sessions with this value of every size')
  history.action(async (options: HistoryCommandOptions) =>
    finish(await historyCommand(setUp, options, ofHistory)),
  )
}

export function addImport({ cli, setUp, finish }: CommandLine): void {
  cli
    .command('import')
    .description(
      'create a session from a .ncu-rep or .ncu-repz file, a CSV of ncu’s raw or details page, or an HTML report',
    )
    .argument('<file>', 'a .ncu-rep or .ncu-repz file, a CSV or an HTML report')
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option('--order <ids>', 'keep only these imported rungs, in this order (comma-separated)')
    .option('--name <id=name>', 'rename an imported rung (repeatable)', repeated)
    .option('--which <one>', 'first or second: which session of a report that compares two')
    .option(...json)
    .action(async (file: string, options: ImportOptions) =>
      finish(await importCommand(setUp, file, options)),
    )
}
