/** From a request to the content of a report, whatever its format; what a format needs beside the session is found here. */
import type { Assets } from '../../adapters/assets'
import type { OpenedSession } from '../sessions'
import { readTemplate } from './html'
import { report, reportComparison, reportHtml, type Choice, type ReportFormat } from './index'

export interface MakeOptions extends Choice {
  format: ReportFormat
  wide?: boolean
  date?: string
}

/** Of one session, or of two side by side. */
export async function makeReport(
  assets: Assets,
  opened: readonly [OpenedSession] | readonly [OpenedSession, OpenedSession],
  options: MakeOptions,
): Promise<string> {
  const { format } = options
  if (format === 'html') return reportHtml(opened, options, await readTemplate(assets))
  const [before, after] = opened
  return after
    ? reportComparison(before, after, { ...options, format })
    : report(before, { ...options, format })
}
