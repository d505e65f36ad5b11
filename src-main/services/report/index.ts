/**
 * Converts opened sessions to a report's text. The functions are pure, except that scrubbing
 * depends on the names of this machine and its user.
 */
import { checkAgainst, type CheckVerdict } from '../../domain/analysis/baseline-check'
import { ciDocument } from '../../domain/analysis/baseline-document'
import { DeepProfile } from '../../domain/session/deep'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import {
  frozenReportVersion,
  reportSections,
  withRungs,
  type FrozenDeep,
  type FrozenReport,
  type FrozenSession,
  type ReportSection,
} from '../../domain/report/frozen-report'
import { inEnglish } from '../../domain/text/english'
import {
  reportFormats,
  type ReportFormat,
  type TextFormat,
} from '../../domain/report/report-format'
import { rungOf, Session } from '../../domain/session/session'
import type { Next } from '../../domain/next/next'
import type { OpenedSession } from '../sessions/open-session'
import { buildComparison } from './comparison'
import { baselineMarkdown } from './baseline-print'
import { comparisonPictures, pictures } from './charts'
import { sessionDocument } from './session-document'
import { printHtml } from './html'
import { buildReport, type Authored, type ReportInput, type ReportModel } from './model'
import { printers } from './printers'
import type { PrintOptions } from './printers/printer'
import type { Picture } from './save'
import { scrubber, scrubSession } from './scrub'
import { visibleJson } from '../../domain/text/hidden-characters'
import { machinePrivates, type Privates } from '../../adapters/machine/machine-identity'
import { comparisonDocument } from './comparison-document'
import { printPdfReport, type PdfTools } from './print-pdf'
import { scrubDeep } from './scrub-deep'

export function parseFormat(word: string): ReportFormat {
  const format = reportFormats.find((known) => known === word)
  if (format) return format
  throw inputError(
    `--format ${JSON.stringify(word)} is not a report format.`,
    `Formats: ${reportFormats.join(', ')}.`,
  )
}

/** Specifies the parts to include in a report. */
export interface Choice {
  /** Sections to include (default: all). */
  sections?: readonly ReportSection[]
  /** Ids of the rungs to include (default: all). */
  rungs?: readonly string[]
}

interface ReportOptions extends Choice, Authored, PrintOptions {
  format: TextFormat
  /** Date to print. There is no default date, so that the same session yields the same bytes. */
  date?: string
}

interface Opened extends Pick<OpenedSession, 'session' | 'sources'> {
  /** Advice by rung id. Not all report formats print it. */
  next?: Readonly<Record<string, Next>>
}

/**
 * Returns the session with only the chosen rungs. Throws an error if the session does not contain a
 * chosen rung.
 */
function chosen({ session, ...rest }: Opened, rungs?: readonly string[]): Opened {
  if (rungs === undefined) return { session, ...rest }
  const found = rungs.map((id) => rungOf(session, id)?.id)
  const unknown = rungs[found.indexOf(undefined)]
  if (unknown !== undefined)
    throw inputError(
      message('sessions.noRung', { rung: JSON.stringify(unknown) }),
      message('sessions.rungs', { rungs: session.rungs.map(({ id }) => id).join(', ') }),
    )
  return {
    session: withRungs(
      session,
      found.filter((id) => id !== undefined),
    ),
    ...rest,
  }
}

const input = (
  opened: Opened,
  { rungs, sections, date, ...authored }: Choice & Authored & { date?: string },
  privates: Privates,
): ReportInput => ({
  ...chosen(opened, rungs),
  scrub: scrubber(privates),
  sections: sections ?? reportSections,
  date: date ?? null,
  authored,
})

export function report(
  opened: Opened,
  options: ReportOptions,
  privates = machinePrivates(),
): string {
  const model = buildReport(input(opened, options, privates))
  return printers[options.format].session(model, options)
}

export function reportComparison(
  before: Opened,
  after: Opened,
  options: Omit<ReportOptions, 'wide'>,
  privates = machinePrivates(),
): string {
  const model = buildComparison(input(before, options, privates), input(after, options, privates))
  return printers[options.format].comparison(model, options)
}

interface CiOptions {
  thresholdPercent: number
  /** Ids of the rungs to include (default: all rungs of both sessions). */
  rungs?: readonly string[]
  /**
   * Whether to print the document from `domain/analysis/baseline-document.ts` instead of Markdown.
   */
  json?: boolean
}

/**
 * Checks a session against a baseline for continuous integration. Returns the report's text, the
 * verdict, and a headline.
 */
export function reportCi(
  baseline: Opened,
  now: Opened,
  { thresholdPercent, rungs, json = false }: CiOptions,
  privates = machinePrivates(),
): { text: string; verdict: CheckVerdict; headline: string } {
  const unknown = rungs?.find((id) => !rungOf(baseline.session, id) && !rungOf(now.session, id))
  if (unknown !== undefined)
    throw inputError(
      message('reports.neitherHas', { rung: JSON.stringify(unknown) }),
      message('reports.seeRungs'),
    )
  const { sentence } = scrubber(privates)
  const [a, b] = [baseline, now].map(({ session }) => scrubSession(session, sentence)) as [
    Session,
    Session,
  ]
  const check = checkAgainst(a, b, thresholdPercent, rungs)
  return {
    text: json ? visibleJson(ciDocument(check, a, b)) : baselineMarkdown(check, a, b),
    verdict: check.verdict,
    headline: inEnglish(check.headline),
  }
}

/**
 * Returns a session in the form that an HTML report stores. The stored session is scrubbed and in
 * schema order. Therefore, printing the session after an import yields the same text.
 */
function freeze({ sources, scrub }: ReportInput, { session, next }: ReportModel): FrozenSession {
  const texts = session.rungs.flatMap(({ id }) => {
    const text = sources[id]
    return text === undefined ? [] : [[id, scrub.source(text)] as const]
  })
  return {
    session: Session.parse(session),
    sources: Object.fromEntries(texts),
    ...(next.length > 0 ? { next: Object.fromEntries(next.map((one) => [one.rung, one])) } : {}),
  }
}

/** Returns the deep profiles for the rungs in the report. */
const freezeDeep = (
  profiles: readonly DeepProfile[],
  { session, scrub }: ReportInput,
): FrozenDeep =>
  Object.fromEntries(
    profiles
      .filter(({ rung }) => rungOf(session, rung))
      .map((profile) => [profile.rung, DeepProfile.parse(scrubDeep(profile, scrub))]),
  )

/** Data for an HTML report on one session. */
export interface HtmlSource extends Opened {
  profiles?: readonly DeepProfile[]
}

/**
 * Returns one HTML file for one or two sessions. `template` is the text of the built template.html.
 */
export function reportHtml(
  opened: readonly [HtmlSource] | readonly [HtmlSource, HtmlSource],
  options: Omit<ReportOptions, 'format' | 'wide'>,
  template: string,
  privates = machinePrivates(),
): string {
  const inputs = opened.map((one) => input(one, options, privates))
  const [before, after] = inputs
  // Throw an error if the sessions cannot be compared.
  if (before && after) buildComparison(before, after)
  const models = inputs.map(buildReport)
  const frozen: FrozenReport = {
    report: frozenReportVersion,
    date: options.date ?? null,
    sections: [...(options.sections ?? reportSections)],
    sessions: inputs.map((one, index) => freeze(one, models[index]!)),
  }
  const deep = inputs.map((one, index) => freezeDeep(opened[index]?.profiles ?? [], one))
  return printHtml(template, frozen, deep, models)
}

/**
 * Returns a page that can draw the first session's charts. The other sessions provide data for
 * charts over several sizes, and contain only rungs of the first session. The page is temporary,
 * for a browser on this machine.
 */
export function drawingPage(
  opened: readonly Opened[],
  { rungs }: Choice,
  template: string,
  privates = machinePrivates(),
): string {
  const inputs = opened.map((one, index) => {
    const own = index === 0 ? rungs : rungs?.filter((id) => rungOf(one.session, id))
    return input(one, own === undefined ? {} : { rungs: own }, privates)
  })
  const models = inputs.map(buildReport)
  const frozen: FrozenReport = {
    report: frozenReportVersion,
    date: null,
    sections: [...reportSections],
    sessions: inputs.map((one, index) => freeze(one, models[index]!)),
  }
  return printHtml(template, frozen, [], models)
}

/** Returns a PDF report on one session or on a comparison of two sessions. */
export function reportPdf(
  opened: readonly [Opened] | readonly [Opened, Opened],
  options: Omit<ReportOptions, 'format' | 'wide'>,
  tools: PdfTools,
  privates = machinePrivates(),
): Promise<Uint8Array> {
  const [first, second] = opened.map((one) => input(one, options, privates))
  if (second) {
    const model = buildComparison(first!, second)
    return printPdfReport(comparisonDocument(model), model.date ?? model.b.createdAt, tools)
  }
  const model = buildReport(first!)
  return printPdfReport(sessionDocument(model), model.date ?? model.session.createdAt, tools)
}

/** Returns the images for a Markdown report. */
export function reportPictures(
  opened: readonly [Opened] | readonly [Opened, Opened],
  options: Choice & Authored,
  privates = machinePrivates(),
): Picture[] {
  if (options.sections?.includes('charts') === false) return []
  const [first, second] = opened.map((one) => input(one, options, privates))
  return second
    ? comparisonPictures(buildComparison(first!, second))
    : pictures(buildReport(first!))
}
