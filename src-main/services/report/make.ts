/** From a request to the content of a report in any format; finds whatever a format needs besides the session. */
import type { Assets } from '../../adapters/kernels/assets'
import { zipFiles } from '../../adapters/disk/zip'
import type { ReportAnswer, ReportRequest } from '../../contract/report'
import { formatFacts, type ReportFormat } from '../../domain/report/report-format'
import type { OpenedSession } from '../sessions/sessions'
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
import type { PdfTools } from './pdf'

export interface MakeOptions extends Choice {
  format: ReportFormat
  wide?: boolean
  date?: string
  /** Markdown: the folder of its pictures, next to the file. */
  pictures?: string
}

/** What a report needs from the program and this machine. */
export interface MakeTools extends PdfTools {
  assets: Assets
}

export type Sessions = readonly [OpenedSession] | readonly [OpenedSession, OpenedSession]

/** Of one session, or of two side by side. */
export async function makeReport(
  tools: MakeTools,
  opened: Sessions,
  options: MakeOptions,
): Promise<string | Uint8Array> {
  const { format } = options
  const [before, after] = opened
  tools.onStage?.('content')
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

/** The session's deep profiles, in rung order. */
async function withProfiles({ session, sources, deep }: OpenedSession): Promise<HtmlSource> {
  const profiles = await Promise.all(session.rungs.map(({ id }) => deep(id)))
  return { session, sources, profiles: profiles.filter((profile) => profile !== null) }
}

/** A report as the answer to a UI, which saves it as a file. */
export async function answerReport(
  tools: MakeTools,
  opened: Sessions,
  { format, wide, sections, rungs, date, pictures }: Omit<ReportRequest, 'ref' | 'compare'>,
): Promise<ReportAnswer> {
  const choice: Choice = {
    ...(sections === undefined ? {} : { sections }),
    ...(rungs === undefined ? {} : { rungs }),
  }
  const name = fileName(opened)
  const folder = `${name}.assets`
  const content = await makeReport(tools, opened, {
    ...choice,
    format,
    ...(wide === undefined ? {} : { wide }),
    ...(date === undefined ? {} : { date }),
    ...(format === 'md' ? { pictures: folder } : {}),
  })
  const beside = format === 'md' && pictures ? reportPictures(opened, choice) : []
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

const bytesAnswer = (name: string, mediaType: string, bytes: Uint8Array): ReportAnswer => ({
  name,
  mediaType,
  encoding: 'base64',
  content: Buffer.from(bytes).toString('base64'),
})

/** Without extension. The id is free text in a foreign session. */
function fileName(opened: readonly OpenedSession[]): string {
  const ids = opened.map(({ session }) =>
    session.id.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60),
  )
  return ids.join('-beside-') || 'report'
}
