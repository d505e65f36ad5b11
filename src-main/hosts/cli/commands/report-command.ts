/**
 * `kernel-ladder report`: writes a document about one or two sessions, or checks a session against
 * a baseline.
 */
import { basename, extname } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { drawInPage, drawPng, printPdf } from '../../../adapters/print/chromium'
import { checkExitCodes } from '../../../domain/analysis/baseline-document'
import {
  hasChosenCharts,
  hasSections,
  isAuthored,
  reportFormats,
  allSections,
  sectionsOf,
  type ReportFormat,
} from '../../../domain/report/report-format'
import { inputError } from '../../../domain/errors'
import type { ReportSection } from '../../../domain/report/frozen-report'
import { parseFormat, reportCi, reportPictures } from '../../../services/report'
import { drawChart, isDrawnWord } from '../../../services/report/drawing'
import { makeReport } from '../../../services/report/make'
import { sizeOfSvg } from '../../../services/report/bars-svg'
import { checkPlace, picturesFolder, saveReport, type Picture } from '../../../services/report/save'
import { openNamed, type OpenedSession } from '../../../services/sessions/open-session'
import { note } from '../output'
import { chartIds } from '../../../domain/report/chart-drawings'
import { meantOr } from '../../../domain/text/nearest'
import type { ReportStage } from '../../../contract/reports'

export interface ReportCommandOptions {
  format?: string
  out?: string
  compare?: string
  wide?: boolean
  date?: string
  sections?: string
  rungs?: string
  chart?: string
  title?: string
  note?: string[]
  charts?: string
  caption?: string[]
  ci?: boolean
  baseline?: string
  threshold?: string
  json?: boolean
}

/** Options for content that the author adds to a report. */
const authored = ['title', 'note', 'charts', 'caption'] as const

const toStdout = '-'
const defaultThreshold = 3
/**
 * Minimum and maximum threshold in percent. No measurement is precise enough for a smaller
 * threshold. With a larger threshold, a rung could take twice as long without being reported.
 */
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

/** Throws an input error for options that would otherwise have no effect. */
function refuse(options: ReportCommandOptions, names: (keyof ReportCommandOptions)[], why: string) {
  const given = names.find((name) => options[name] !== undefined)
  if (given) throw inputError(`--${given} ${why}.`, 'See `kernel-ladder report --help`.')
}

/**
 * Prints the current stage of a PDF report. Printing takes seconds, or minutes for hundreds of
 * rungs.
 */
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
    // Write the document without filtering control characters. Document printers emit no control
    // sequences, and CSV lines end with CR LF.
  } else process.stdout.write(content)
}

async function check(setUp: SetUp, name: string, options: ReportCommandOptions): Promise<number> {
  refuse(
    options,
    ['format', 'compare', 'wide', 'date', 'sections', 'chart', ...authored],
    'cannot be combined with --ci',
  )
  if (options.baseline === undefined)
    throw inputError('--ci needs a session to compare with.', 'Give it with --baseline.')
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
  // Write the file first, because the program may end early if the reader of stdout exits.
  if (out !== toStdout) await deliver(text, out)
  await deliver(text, toStdout)
  // Repeat the headline in the log, because stdout may go to a file that nobody reads.
  note(`Kernel Ladder: ${headline}`)
  return checkExitCodes[verdict]
}

/**
 * Splits a comma-separated list. Throws an input error for an empty list, because the result would
 * be an empty report.
 */
function words(list: string, option: string): string[] {
  const found = list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (found.length === 0) throw inputError(`--${option} is an empty list.`)
  return [...new Set(found)]
}

function parseSections(list: string, format: ReportFormat): ReportSection[] {
  if (!hasSections(format))
    throw inputError(
      `--sections works only with --format ${reportFormats.filter(hasSections).join(', ')}.`,
    )
  const possible = sectionsOf(format)
  const found = words(list, 'sections')
  if (found.length === 1 && found[0] === allSections) return [...possible]
  const unknown = found.find((word) => !possible.some((section) => section === word))
  if (unknown !== undefined)
    throw inputError(
      `--sections ${JSON.stringify(unknown)} is not a section of --format ${format}.`,
      `Sections: ${possible.join(', ')}, or ${allSections}. The summary and the provenance are in every report.`,
    )
  // The order of sections is fixed and does not depend on the command line.
  return possible.filter((section) => found.includes(section))
}

const formatsThat = (can: (format: ReportFormat) => boolean): string =>
  reportFormats.filter(can).join(', ')

/**
 * Parses captions such as `roofline=Where the rungs stand`. The chart's name ends at the first `=`.
 */
function captionsOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((word) => {
      const [, chart = '', text = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? []
      if (chart.trim() === '' || text.trim() === '')
        throw inputError(
          `--caption ${JSON.stringify(word)} is not of the form chart=text.`,
          'For example: --caption "roofline=The rungs climb toward the roof."',
        )
      return [chart.trim(), text.trim()]
    }),
  )
}

function authoredOf(options: ReportCommandOptions, format: ReportFormat) {
  const { title, note: notes, charts, caption, compare } = options
  if (title !== undefined || notes !== undefined) {
    if (!isAuthored(format))
      throw inputError(`--title and --note work only with --format ${formatsThat(isAuthored)}.`)
    if ([title ?? 'x', ...(notes ?? [])].some((text) => text.trim() === ''))
      throw inputError('--title and --note need text.')
  }
  if (charts !== undefined || caption !== undefined) {
    if (!hasChosenCharts(format))
      throw inputError(
        `--charts and --caption work only with --format ${formatsThat(hasChosenCharts)}.`,
      )
    if (compare !== undefined)
      throw inputError('--charts and --caption cannot be combined with --compare.')
    if (format === 'md' && options.out === toStdout)
      throw inputError(
        '--charts and --caption need a file, because stdout cannot contain pictures.',
        'Give a file with --out.',
      )
  }
  return {
    ...(title === undefined ? {} : { title: title.trim() }),
    ...(notes === undefined ? {} : { notes }),
    ...(charts === undefined ? {} : { charts: words(charts, 'charts') }),
    ...(caption === undefined ? {} : { captions: captionsOf(caption) }),
  }
}

/** Draws one chart at print size. The file extension selects SVG or PNG. */
async function chart(
  setUp: SetUp,
  name: string,
  id: string,
  options: ReportCommandOptions,
): Promise<number> {
  refuse(
    options,
    ['format', 'compare', 'wide', 'date', 'sections', ...authored],
    'cannot be combined with --chart',
  )
  const { out, rungs } = options
  const ending = out === undefined ? '' : extname(out).toLowerCase()
  if (out === undefined || !['.svg', '.png'].includes(ending))
    throw inputError('--chart needs --out with a file that ends in .svg or .png.')
  await checkPlace(out)
  const choice = rungs === undefined ? {} : { rungs: words(rungs, 'rungs') }
  const opened = await open(setUp, name)
  if (isDrawnWord(id)) {
    const tools = { places: await setUp(), drawInPage }
    const svg = await drawChart(tools, opened, { word: id, ...choice })
    await deliver(ending === '.svg' ? svg : await drawPng(svg, sizeOfSvg(svg)), out)
    return 0
  }
  // Allow every counter of the session, including counters that a default report omits.
  const counters = opened.session.rungs.flatMap(({ metrics }) => Object.keys(metrics))
  const all = reportPictures([opened], {
    ...choice,
    charts: ['throughput', ...new Set(counters)],
  })
  const found = all.find((picture) => picture.name === `${id}.svg`)
  if (!found) {
    const names = [...chartIds, ...all.map((picture) => picture.name.replace(/\.svg$/, ''))]
    throw inputError(
      `The session has no chart named ${JSON.stringify(id)}.`,
      meantOr(id, names, `Its charts are: ${names.join(', ')}.`),
    )
  }
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
    throw inputError('--out is missing.', 'Give a file that does not exist yet, or - for stdout.')
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
    ...authoredOf(options, format),
  }
  // A report on stdout has no folder for images.
  const withPictures =
    format === 'md' && out !== toStdout && choice.sections?.includes('charts') !== false
  if (out !== toStdout) await checkPlace(out, withPictures)
  const opened = await open(setUp, name)
  const sessions =
    compare === undefined ? ([opened] as const) : ([opened, await open(setUp, compare)] as const)
  const places = await setUp()
  const tools = { ...places, places, drawInPage, printPdf, onStage: sayStage }
  const pictures = withPictures ? { pictures: basename(picturesFolder(out)) } : {}
  const made = await makeReport(tools, sessions, { ...choice, ...pictures })
  await deliver(made.content, out, made.pictures)
  return 0
}
