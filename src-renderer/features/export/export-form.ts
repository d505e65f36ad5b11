/** What of a report is chosen, and the request that it makes. */
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
  /** Empty where the report is on one session. */
  compare: string
  /** Prints today's date; without, the same session gives the same file. */
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

/** JSON is the session itself, which has no other date. */
export const canBeDated = ({ format, compare }: ExportForm): boolean =>
  format !== 'json' || compare !== ''

/** Null while nothing is chosen that could be told. */
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
    // In the ladder's order, whatever was ticked first.
    ...(isWhole
      ? {}
      : { rungs: session.rungs.map(({ id }) => id).filter((id) => form.rungs.includes(id)) }),
    ...(form.dated && canBeDated(form) ? { date: today } : {}),
  }
}

/** The same as it is saved: Markdown with the pictures that it shows, which a preview has no use for. */
export const savedRequest = (request: ReportRequest): ReportRequest =>
  request.format === 'md' ? { ...request, pictures: true } : request
