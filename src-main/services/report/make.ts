/** From a request to the content of a report, whatever its format; what a format needs beside the session is found here. */
import type { Assets } from '../../adapters/assets'
import type { PdfPrinter } from '../../adapters/pdf'
import { inputError } from '../../domain/errors'
import type { OpenedSession } from '../sessions'
import { readTemplate } from './html'
import {
  report,
  reportComparison,
  reportHtml,
  reportPdf,
  type Choice,
  type HtmlSource,
  type ReportFormat,
} from './index'

export interface MakeOptions extends Choice {
  format: ReportFormat
  wide?: boolean
  date?: string
}

/** What a report needs of the program and of this machine. */
export interface MakeTools {
  assets: Assets
  printPdf: PdfPrinter
}

/** Of one session, or of two side by side. */
export async function makeReport(
  { assets, printPdf }: MakeTools,
  opened: readonly [OpenedSession] | readonly [OpenedSession, OpenedSession],
  options: MakeOptions,
): Promise<string | Uint8Array> {
  const { format } = options
  const [before, after] = opened
  if (format === 'pdf') {
    if (after)
      throw inputError(
        'A comparison is not made as PDF.',
        'Make it as HTML, and print that from a browser; or as Markdown.',
      )
    return reportPdf(before, options, printPdf)
  }
  if (format === 'html') {
    const template = await readTemplate(assets)
    const first = await withProfiles(before)
    const sources = after ? ([first, await withProfiles(after)] as const) : ([first] as const)
    return reportHtml(sources, options, template)
  }
  return after
    ? reportComparison(before, after, { ...options, format })
    : report(before, { ...options, format })
}

/** The deep profiles that the session has, in the order of its rungs. */
async function withProfiles({ session, sources, deep }: OpenedSession): Promise<HtmlSource> {
  const profiles = await Promise.all(session.rungs.map(({ id }) => deep(id)))
  return { session, sources, profiles: profiles.filter((profile) => profile !== null) }
}
