/** The export form's choices, and the request built from them. */
import { reportSections, type ReportSection } from '../../../src-main/domain/report/frozen-report'
import {
  hasChosenCharts,
  hasSections,
  isAuthored,
  sectionsOf,
  type ReportFormat,
} from '../../../src-main/domain/report/report-format'
import type { Session } from '../../../src-main/domain/session/session'
import type { ReportRequest, ReportAnswer } from '../../../src-main/contract/reports'

export interface ExportForm {
  format: ReportFormat
  wide: boolean
  sections: ReportSection[]
  /** Ids of the chosen rungs. */
  rungs: string[]
  /** Ref of the session to compare with, empty if the report covers only one session. */
  compare: string
  /** Whether to print today's date. Without the date, a session always produces the same file. */
  dated: boolean
  /**
   * The author's title. If the title is empty, the report gets a title that describes the
   * measurement.
   */
  title: string
  /** The author's notes. An empty line separates paragraphs. */
  notes: string
  /** Charts by their command-line names, or null for the default charts. */
  charts: string[] | null
  captions: Record<string, string>
}

export const freshForm = (session: Session): ExportForm => ({
  format: 'html',
  wide: false,
  sections: [...reportSections],
  rungs: session.rungs.map(({ id }) => id),
  compare: '',
  dated: false,
  title: '',
  notes: '',
  charts: null,
  captions: {},
})

/**
 * Returns whether a date can be printed. A JSON export of one session has only the session's own
 * date.
 */
export const canBeDated = ({ format, compare }: ExportForm): boolean =>
  format !== 'json' || compare !== ''

/**
 * Returns whether charts can be chosen. The report must cover a single session, have a format with
 * charts, and include the charts section.
 */
export const canChooseCharts = ({ format, compare, sections }: ExportForm): boolean =>
  hasChosenCharts(format) && compare === '' && sections.includes('charts')

/** Returns the author's title and notes if the format supports them. */
function authoredOf(form: ExportForm): Partial<ReportRequest> {
  const [title, notes] = [form.title.trim(), form.notes.trim()]
  const { charts } = form
  const captions = Object.fromEntries(
    Object.entries(form.captions)
      .map(([chart, text]) => [chart, text.trim()] as const)
      .filter(([chart, text]) => text !== '' && charts?.includes(chart)),
  )
  return {
    ...(isAuthored(form.format) && title ? { title } : {}),
    ...(isAuthored(form.format) && notes ? { notes: [notes] } : {}),
    ...(canChooseCharts(form) && charts?.length ? { charts: [...charts] } : {}),
    ...(canChooseCharts(form) && Object.keys(captions).length ? { captions } : {}),
  }
}

/** Returns the report request, or null if no rung is chosen. */
export function requestOf(
  ref: string,
  session: Session,
  form: ExportForm,
  today: string,
): ReportRequest | null {
  if (form.rungs.length === 0) return null
  const { compare } = form
  const isWhole = form.rungs.length === session.rungs.length
  return {
    ref,
    format: form.format,
    ...(compare ? { compare } : {}),
    ...(form.format === 'csv' && form.wide && !compare ? { wide: true } : {}),
    ...(hasSections(form.format)
      ? { sections: sectionsOf(form.format).filter((section) => form.sections.includes(section)) }
      : {}),
    // Use ladder order, regardless of the order in which the rungs were selected.
    ...(isWhole
      ? {}
      : { rungs: session.rungs.map(({ id }) => id).filter((id) => form.rungs.includes(id)) }),
    ...(form.dated && canBeDated(form) ? { date: today } : {}),
    ...authoredOf(form),
  }
}

/**
 * Returns the request for saving a report. Saved Markdown includes its image files, which a preview
 * does not need.
 */
export const savedRequest = (request: ReportRequest): ReportRequest =>
  request.format === 'md' ? { ...request, pictures: true } : request

/** Returns a report as a Blob. */
export function answerFile({ content, encoding, mediaType }: ReportAnswer): Blob {
  const part =
    encoding === 'text'
      ? content
      : Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
  return new Blob([part], { type: mediaType })
}
