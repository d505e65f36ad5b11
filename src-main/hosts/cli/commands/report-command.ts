/** `kernel-ladder report`: a document about one session or two, or a check against a baseline. */
import { basename, extname } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { drawInPage, drawPng, printPdf } from '../../../adapters/print/chromium'
import type { ReportStage } from '../../../contract/report'
import { checkExitCodes } from '../../../domain/analysis/baseline-document'
import { chartIds, isChartId } from '../../../domain/report/drawing'
import { inputError } from '../../../domain/errors'
import { reportSections, type ReportSection } from '../../../domain/report/frozen-report'
import { hasSections, reportFormats, type ReportFormat } from '../../../domain/report/report-format'
import { parseFormat, reportCi, reportPictures } from '../../../services/report'
import { drawChart, sizeOfSvg } from '../../../services/report/drawing'
import { makeReport } from '../../../services/report/make'
import { checkPlace, picturesFolder, saveReport, type Picture } from '../../../services/report/save'
import { openNamed, type OpenedSession } from '../../../services/sessions/sessions'
import { note } from '../output'

export interface ReportCommandOptions {
  format?: string
  out?: string
  compare?: string
  wide?: boolean
  date?: string
  sections?: string
  rungs?: string
  chart?: string
  ci?: boolean
  baseline?: string
  threshold?: string
  json?: boolean
}

const toStdout = '-'
const defaultThreshold = 3
/** Below the minimum, no measurement is precise enough; above the maximum, twice the time would pass. */
const [leastThreshold, mostThreshold] = [0.1, 100]

const open = async (setUp: SetUp, name: string): Promise<OpenedSession> =>
  openNamed(await setUp(), name)

function percent(word: string): number {
  const value = /^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN
  if (!(value >= leastThreshold && value <= mostThreshold))
    throw inputError(
      `--threshold ${JSON.stringify(word)} is not a percentage from ${leastThreshold} to ${mostThreshold}.`,
      'For example: --threshold 3.',
    )
  return value
}

function day(word: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(word) || Number.isNaN(Date.parse(word)))
    throw inputError(
      `--date ${JSON.stringify(word)} is not a date of the form YYYY-MM-DD.`,
      'For example: --date 2026-11-21.',
    )
  return word
}

/** Rejects options that would otherwise be silently ignored. */
function refuse(options: ReportCommandOptions, names: (keyof ReportCommandOptions)[], why: string) {
  const given = names.find((name) => options[name] !== undefined)
  if (given) throw inputError(`--${given} ${why}.`, 'See `kernel-ladder report --help`.')
}

/** Printing takes seconds, or minutes for hundreds of rungs. */
function sayStage(stage: ReportStage): void {
  if (stage === 'layout') note('Laying out the pages…')
  if (stage === 'print') note('Printing…')
}

async function deliver(
  content: string | Uint8Array,
  out: string,
  pictures: readonly Picture[] = [],
): Promise<void> {
  if (out !== toStdout) {
    await saveReport(out, content, pictures)
    note(`Wrote ${out}${pictures.length > 0 ? ` and ${picturesFolder(out)}` : ''}`)
    // Unfiltered: printers emit no control sequences, and CSV lines end with CR LF.
  } else process.stdout.write(content)
}

async function check(setUp: SetUp, name: string, options: ReportCommandOptions): Promise<number> {
  refuse(
    options,
    ['format', 'compare', 'wide', 'date', 'sections', 'chart'],
    'cannot be combined with --ci',
  )
  if (options.baseline === undefined)
    throw inputError('--ci needs a session to compare with.', 'Name it with --baseline.')
  const { threshold, rungs, json = false } = options
  const out = options.out ?? toStdout
  const choice = {
    thresholdPercent: threshold === undefined ? defaultThreshold : percent(threshold),
    json,
    ...(rungs === undefined ? {} : { rungs: words(rungs, 'rungs') }),
  }
  if (out !== toStdout) await checkPlace(out)
  const [baseline, now] = [await open(setUp, options.baseline), await open(setUp, name)]
  const { text, verdict, headline } = reportCi(baseline, now, choice)
  // The file comes first: if the reader of stdout goes away, the program ends.
  if (out !== toStdout) await deliver(text, out)
  await deliver(text, toStdout)
  // Stdout may go to a file that nobody reads, so the log says it too.
  note(`Kernel Ladder: ${headline}`)
  return checkExitCodes[verdict]
}

/** Splits a comma-separated list; an empty one would make an empty report. */
function words(list: string, option: string): string[] {
  const found = list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (found.length === 0) throw inputError(`--${option} is an empty list.`)
  return [...new Set(found)]
}

const isSection = (word: string): word is ReportSection =>
  reportSections.some((section) => section === word)

function parseSections(list: string, format: ReportFormat): ReportSection[] {
  if (!hasSections(format))
    throw inputError(
      `--sections works only with --format ${reportFormats.filter(hasSections).join(', ')}.`,
    )
  const found = words(list, 'sections')
  const unknown = found.find((word) => !isSection(word))
  if (unknown !== undefined)
    throw inputError(
      `--sections ${JSON.stringify(unknown)} is not a section.`,
      `Sections: ${reportSections.join(', ')}. The summary and the provenance are in every report.`,
    )
  // In a fixed order, so that the order on the command line does not matter.
  return reportSections.filter((section) => found.includes(section))
}

/** One chart at print size, as SVG or PNG depending on the file extension. */
async function chart(
  setUp: SetUp,
  name: string,
  id: string,
  options: ReportCommandOptions,
): Promise<number> {
  refuse(
    options,
    ['format', 'compare', 'wide', 'date', 'sections'],
    'cannot be combined with --chart',
  )
  const { out, rungs } = options
  const ending = out === undefined ? '' : extname(out).toLowerCase()
  if (out === undefined || !['.svg', '.png'].includes(ending))
    throw inputError('--chart needs --out with a file that ends in .svg or .png.')
  await checkPlace(out)
  const choice = rungs === undefined ? {} : { rungs: words(rungs, 'rungs') }
  const opened = await open(setUp, name)
  const [word = '', chosen] = id.split(/:(.*)/s)
  if (isChartId(word)) {
    const svg = await drawChart({ places: await setUp(), drawInPage }, opened, {
      chart: word,
      ...(chosen === undefined ? {} : { choice: chosen }),
      ...choice,
    })
    await deliver(ending === '.svg' ? svg : await drawPng(svg, sizeOfSvg(svg)), out)
    return 0
  }
  const all = reportPictures([opened], choice)
  const found = all.find((picture) => picture.name === `${id}.svg`)
  if (!found)
    throw inputError(
      `The session has no chart named ${JSON.stringify(id)}.`,
      `Its charts are: ${[...chartIds, ...all.map((picture) => picture.name.replace(/\.svg$/, ''))].join(', ')}.`,
    )
  await deliver(ending === '.svg' ? found.text : await drawPng(found.text, found), out)
  return 0
}

export async function reportCommand(
  setUp: SetUp,
  name: string,
  options: ReportCommandOptions,
): Promise<number> {
  if (options.ci) return check(setUp, name, options)
  if (options.chart !== undefined) {
    refuse(options, ['baseline', 'threshold', 'json'], 'works only with --ci')
    return chart(setUp, name, options.chart, options)
  }
  refuse(options, ['baseline', 'threshold', 'json'], 'works only with --ci')
  const { format: word, out, compare, wide, sections, rungs } = options
  if (word === undefined)
    throw inputError('--format is missing.', `Formats: ${reportFormats.join(', ')}.`)
  const format = parseFormat(word)
  if (out === undefined)
    throw inputError('--out is missing.', 'Name a file that does not exist yet, or - for stdout.')
  if (wide && format !== 'csv') throw inputError('--wide works only with --format csv.')
  if (wide && compare !== undefined) throw inputError('--wide cannot be combined with --compare.')
  if (options.date !== undefined && format === 'json' && compare === undefined)
    throw inputError('--date cannot be combined with --format json, which is the session itself.')
  const choice = {
    format,
    wide: wide ?? false,
    ...(options.date === undefined ? {} : { date: day(options.date) }),
    ...(sections === undefined ? {} : { sections: parseSections(sections, format) }),
    ...(rungs === undefined ? {} : { rungs: words(rungs, 'rungs') }),
  }
  // There is no folder beside stdout to put pictures in.
  const withPictures =
    format === 'md' && out !== toStdout && choice.sections?.includes('charts') !== false
  if (out !== toStdout) await checkPlace(out, withPictures)
  const opened = await open(setUp, name)
  const sessions =
    compare === undefined ? ([opened] as const) : ([opened, await open(setUp, compare)] as const)
  const tools = { ...(await setUp()), printPdf, onStage: sayStage }
  const pictures = withPictures ? { pictures: basename(picturesFolder(out)) } : {}
  const content = await makeReport(tools, sessions, { ...choice, ...pictures })
  await deliver(content, out, withPictures ? reportPictures(sessions, choice) : [])
  return 0
}
