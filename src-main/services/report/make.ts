/** From a request to the content of a report, whatever its format; what a format needs beside the session is found here. */
import type { Assets } from '../../adapters/assets'
import type { PdfPrinter } from '../../adapters/pdf'
import type { ReportAnswer, ReportRequest } from '../../contract/report'
import { inputError } from '../../domain/errors'
import type { ReportFormat } from '../../domain/report-format'
import type { OpenedSession } from '../sessions'
import { readTemplate } from './html'
import {
  report,
  reportComparison,
  reportHtml,
  reportPdf,
  type Choice,
  type HtmlSource,
} from './index'

export interface MakeOptions extends Choice {
  format: ReportFormat
  wide?: boolean
  date?: string
  /** Markdown: the folder beside it that its pictures lie in. */
  pictures?: string
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

const mediaTypes: Record<ReportFormat, string> = {
  html: 'text/html',
  pdf: 'application/pdf',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  tex: 'application/x-tex',
}

/** A report as the answer to a UI, which keeps it as a file. */
export async function answerReport(
  tools: MakeTools,
  opened: readonly [OpenedSession] | readonly [OpenedSession, OpenedSession],
  { format, wide, sections, rungs, date }: Omit<ReportRequest, 'ref' | 'compare'>,
): Promise<ReportAnswer> {
  const content = await makeReport(tools, opened, {
    format,
    ...(wide === undefined ? {} : { wide }),
    ...(sections === undefined ? {} : { sections }),
    ...(rungs === undefined ? {} : { rungs }),
    ...(date === undefined ? {} : { date }),
  })
  const isText = typeof content === 'string'
  return {
    name: fileName(opened, format),
    mediaType: mediaTypes[format],
    encoding: isText ? 'text' : 'base64',
    content: isText ? content : Buffer.from(content).toString('base64'),
  }
}

/** The id is free text in a session that came from elsewhere. */
function fileName(opened: readonly OpenedSession[], format: ReportFormat): string {
  const ids = opened.map(({ session }) =>
    session.id.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60),
  )
  return `${ids.join('-beside-') || 'report'}.${format}`
}
