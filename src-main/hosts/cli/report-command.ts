/** `kernel-ladder report`: a session, or two side by side, as a document; or a check against a baseline. */
import { assets } from '../../adapters/assets'
import { sessionsDir } from '../../adapters/paths'
import { exitCodes, inputError } from '../../domain/errors'
import {
  parseFormat,
  report,
  reportCi,
  reportComparison,
  reportFormats,
} from '../../services/report'
import { checkPlace, saveReport } from '../../services/report/save'
import { openNamed, type OpenedSession } from '../../services/sessions'
import { note } from './output'

export interface ReportCommandOptions {
  format?: string
  out?: string
  compare?: string
  wide?: boolean
  date?: string
  ci?: boolean
  baseline?: string
  threshold?: string
}

const toStdout = '-'
const defaultThreshold = 3

const open = async (name: string): Promise<OpenedSession> =>
  openNamed({ assets: await assets(), store: sessionsDir() }, name)

function percent(word: string): number {
  const value = /^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN
  if (!Number.isFinite(value))
    throw inputError(
      `--threshold ${JSON.stringify(word)} is not a share in percent.`,
      'For example --threshold 3.',
    )
  return value
}

function day(word: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(word) || Number.isNaN(Date.parse(word)))
    throw inputError(
      `--date ${JSON.stringify(word)} is not a day.`,
      'For example --date 2026-11-21.',
    )
  return word
}

/** Options that would be passed over in silence are refused. */
function refuse(options: ReportCommandOptions, names: (keyof ReportCommandOptions)[], why: string) {
  const given = names.find((name) => options[name] !== undefined)
  if (given) throw inputError(`--${given} ${why}.`, 'See `kernel-ladder report --help`.')
}

async function deliver(text: string, out: string): Promise<void> {
  if (out !== toStdout) {
    await saveReport(out, text)
    note(`Wrote ${out}`)
    // As it is: printers leave no control sequences, and CSV ends its lines with CR LF.
  } else process.stdout.write(text)
}

async function check(name: string, options: ReportCommandOptions): Promise<number> {
  refuse(options, ['format', 'compare', 'wide', 'date'], 'does not go with --ci')
  if (options.baseline === undefined)
    throw inputError('--ci needs a session to compare with.', 'Name it with --baseline.')
  const threshold = options.threshold === undefined ? defaultThreshold : percent(options.threshold)
  const out = options.out ?? toStdout
  if (out !== toStdout) await checkPlace(out)
  const { text, passed } = reportCi(await open(options.baseline), await open(name), threshold)
  await deliver(text, toStdout)
  if (out !== toStdout) await deliver(text, out)
  return passed ? 0 : exitCodes.failed
}

export async function reportCommand(name: string, options: ReportCommandOptions): Promise<number> {
  if (options.ci) return check(name, options)
  refuse(options, ['baseline', 'threshold'], 'goes with --ci only')
  const { format: word, out, compare, wide } = options
  if (word === undefined)
    throw inputError('--format is missing.', `Formats: ${reportFormats.join(', ')}.`)
  const format = parseFormat(word)
  if (out === undefined)
    throw inputError('--out is missing.', 'Name a file that does not exist yet, or - for stdout.')
  if (wide && format !== 'csv') throw inputError('--wide goes with --format csv only.')
  if (wide && compare !== undefined) throw inputError('--wide does not go with --compare.')
  if (options.date !== undefined && format === 'json' && compare === undefined)
    throw inputError('--date does not go with --format json, which is the session itself.')
  const date = options.date === undefined ? {} : { date: day(options.date) }
  if (out !== toStdout) await checkPlace(out)
  const opened = await open(name)
  const text =
    compare === undefined
      ? report(opened, { format, wide: wide ?? false, ...date })
      : reportComparison(opened, await open(compare), { format, ...date })
  await deliver(text, out)
  return 0
}
