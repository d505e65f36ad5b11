/** The export form's choices, and the request made from them. */
import type { ReportRequest } from '../../../src-main/contract/report'
import { reportSections, type ReportSection } from '../../../src-main/domain/report/frozen-report'
import { hasSections, type ReportFormat } from '../../../src-main/domain/report/report-format'
import type { Session } from '../../../src-main/domain/session/session'

export interface ExportForm {
  format: ReportFormat
  wide: boolean
  sections: ReportSection[]
  /** Rung ids. */
  rungs: string[]
  /** Empty if the report covers one session. */
  compare: string
  /** Prints today's date; without it, the same session always gives the same file. */
  dated: boolean
}

export const freshForm = (session: Session): ExportForm => ({
  format: 'html',
  wide: false,
  sections: [...reportSections],
  rungs: session.rungs.map(({ id }) => id),
  compare: '',
  dated: false,
})

/** JSON is the session itself, which has only its own date. */
export const canBeDated = ({ format, compare }: ExportForm): boolean =>
  format !== 'json' || compare !== ''

/** null if no rung is chosen. */
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
      ? { sections: reportSections.filter((section) => form.sections.includes(section)) }
      : {}),
    // In ladder order, not in the order of ticking.
    ...(isWhole
      ? {}
      : { rungs: session.rungs.map(({ id }) => id).filter((id) => form.rungs.includes(id)) }),
    ...(form.dated && canBeDated(form) ? { date: today } : {}),
  }
}

/** The same request for saving: Markdown also gets its image files, which a preview does not need. */
export const savedRequest = (request: ReportRequest): ReportRequest =>
  request.format === 'md' ? { ...request, pictures: true } : request
