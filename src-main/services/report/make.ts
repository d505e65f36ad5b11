/**
 * Creates a report's content in any format from a request. Collects the data that the format needs
 * in addition to the session.
 */
import type { Assets } from '../../adapters/catalog/assets'
import type { PageDrawer } from '../../adapters/print/chromium'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import {
  formatFacts,
  hasChosenCharts,
  type ReportFormat,
  usualSections,
} from '../../domain/report/report-format'
import type { Next } from '../../domain/next/next'
import { adviseOnAll } from '../next/advise'
import type { OpenedSession } from '../sessions/open-session'
import { usualBars, usualDrawings } from './charts'
import { checkCharts, drawCharts, isDrawnWord } from './drawing'
import { readTemplate } from './html'
import {
  report,
  reportComparison,
  reportHtml,
  reportPdf,
  reportPictures,
  type Choice,
  type HtmlSource,
} from './index'
import type { Authored } from './model'
import type { Picture } from './save'
import type { Drawing } from '../../domain/report/chart-drawings'
import type { ReportAnswer, ReportRequest } from '../../contract/reports'
import { zipFiles } from '../../adapters/disk/zip'
import type { PdfTools } from './print-pdf'
import type { SessionPlaces } from '../sessions/session-places'

interface MakeOptions extends Choice, Omit<Authored, 'drawn'> {
  format: ReportFormat
  wide?: boolean
  date?: string
  /** Folder next to the file for a Markdown report's images. */
  pictures?: string
  /**
   * Whether the text is only a preview. A preview draws no charts, because drawing takes seconds.
   */
  isPreview?: boolean
}

/** Functions that a report needs from this program and this machine. */
interface MakeTools extends PdfTools {
  assets: Assets
  places: SessionPlaces
  drawInPage: PageDrawer
}

interface MadeReport {
  content: string | Uint8Array
  /** Images for a Markdown report. Empty if there is no image folder. */
  pictures: Picture[]
}

type Advised = OpenedSession & { next?: Record<string, Next> }
type Sessions = readonly [Advised] | readonly [Advised, Advised]

/** Report formats with advice: the first suggested step per rung, or all suggested steps. */
const advisedFormats: readonly ReportFormat[] = ['md', 'pdf', 'html']

/** Creates a report on one session or on a comparison of two sessions. */
export async function makeReport(
  tools: MakeTools,
  [first, second]: readonly [OpenedSession] | readonly [OpenedSession, OpenedSession],
  given: MakeOptions,
): Promise<MadeReport> {
  const advised = async (one: OpenedSession): Promise<Advised> =>
    advisedFormats.includes(given.format) ? { ...one, next: await adviseOnAll(tools, one) } : one
  const opened: Sessions = second
    ? [await advised(first), await advised(second)]
    : [await advised(first)]
  const { format } = given
  const options = {
    sections: usualSections(format, { isComparison: opened.length > 1 }),
    ...given,
  }
  checkAuthored(opened, options)
  tools.onStage?.('content')
  const drawnOptions = { ...options, drawn: await drawingsFor(tools, opened, options) }
  const hasPictures = format === 'md' && options.pictures !== undefined && !options.isPreview
  return {
    content: await contentOf(tools, opened, drawnOptions),
    pictures: hasPictures ? reportPictures(opened, drawnOptions) : [],
  }
}

/**
 * Throws an error if the user chose an unavailable chart, or a caption for a chart that the report
 * does not contain.
 */
function checkAuthored(
  [{ session }]: Sessions,
  { charts, captions = {}, format }: MakeOptions,
): void {
  if (!hasChosenCharts(format)) return
  if (charts) checkCharts(charts, session)
  const words = charts ?? [
    'throughput',
    ...(format === 'pdf' ? usualDrawings : []),
    ...usualBars(session),
  ]
  const chart = Object.keys(captions).find((word) => !words.includes(word))
  if (chart !== undefined)
    throw inputError(message('reports.captionOfNone', { chart: JSON.stringify(chart) }))
}

/**
 * Draws the charts with the Charts screen's code. By default, draws the usual charts of a printed
 * report, but only if a browser is installed and the session has data for them.
 */
async function drawingsFor(
  { places, drawInPage }: MakeTools,
  [opened, second]: Sessions,
  { format, charts, sections, rungs, pictures, isPreview }: MakeOptions,
): Promise<ReadonlyMap<string, Drawing>> {
  const none = new Map<string, Drawing>()
  const hasPlace = format === 'pdf' || (format === 'md' && pictures !== undefined)
  if (second || !hasPlace || sections?.includes('charts') === false) return none
  const words = charts?.filter(isDrawnWord) ?? (format === 'pdf' ? usualDrawings : [])
  if (words.length === 0) return none
  if (isPreview) return new Map(words.map((word) => [word, { svg: '', label: word }]))
  const choice = rungs === undefined ? {} : { rungs }
  const found = await drawCharts({ places, drawInPage }, opened, words, choice).catch(
    (error: unknown) => {
      // The desktop app can print without an installed browser, but cannot draw charts without one.
      if (!charts && error instanceof KernelLadderError && error.kind === 'missing') return null
      throw error
    },
  )
  if (!found) return none
  const lacking = charts && words.find((word) => !found.drawings.get(word))
  if (lacking !== undefined) throw inputError(message('reports.nothingToDraw', { chart: lacking }))
  return new Map([...found.drawings].flatMap(([word, one]) => (one ? [[word, one] as const] : [])))
}

async function contentOf(
  tools: MakeTools,
  opened: Sessions,
  options: MakeOptions & Authored,
): Promise<string | Uint8Array> {
  const { format } = options
  const [before, after] = opened
  if (format === 'pdf') return reportPdf(opened, options, tools)
  if (format === 'html') {
    const template = await readTemplate(tools.assets)
    const first = await withProfiles(before)
    const sources = after ? ([first, await withProfiles(after)] as const) : ([first] as const)
    return reportHtml(sources, options, template)
  }
  return after
    ? reportComparison(before, after, { ...options, format })
    : report(before, { ...options, format })
}

/** Adds the session's deep profiles, in rung order. */
async function withProfiles({ deep, ...rest }: Advised): Promise<HtmlSource> {
  const profiles = await Promise.all(rest.session.rungs.map(({ id }) => deep(id)))
  return { ...rest, profiles: profiles.filter((profile) => profile !== null) }
}

/** Returns a report for the UI, which saves it as a file. */
export async function answerReport(
  tools: MakeTools,
  opened: Sessions,
  { pictures, ...request }: Omit<ReportRequest, 'ref' | 'compare'>,
): Promise<ReportAnswer> {
  const { format } = request
  const name = fileName(opened)
  const folder = `${name}.assets`
  const { content, pictures: beside } = await makeReport(tools, opened, {
    ...given(request),
    ...(format === 'md' ? { pictures: folder, isPreview: !pictures } : {}),
  })
  if (beside.length > 0) {
    const files = [
      { path: `${name}.md`, content },
      ...beside.map((picture) => ({ path: `${folder}/${picture.name}`, content: picture.text })),
    ]
    return bytesAnswer(`${name}.zip`, 'application/zip', zipFiles(files))
  }
  const { mediaType } = formatFacts(format)
  return typeof content === 'string'
    ? { name: `${name}.${format}`, mediaType, encoding: 'text', content }
    : bytesAnswer(`${name}.${format}`, mediaType, content)
}

/** Removes undefined options, because they would override defaults. */
const given = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }

const bytesAnswer = (name: string, mediaType: string, bytes: Uint8Array): ReportAnswer => ({
  name,
  mediaType,
  encoding: 'base64',
  content: Buffer.from(bytes).toString('base64'),
})

/**
 * Returns a report's file name without its extension. Replaces special characters, because the id
 * of a session from another user can be any string.
 */
function fileName(opened: readonly OpenedSession[]): string {
  const ids = opened.map(({ session }) =>
    session.id.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60),
  )
  return ids.join('-beside-') || 'report'
}
