/** The frozen sessions in an HTML report; nothing of the page is run, and nothing else of it is read. */
import { z } from 'zod'
import { inputError } from '../domain/errors'
import { frozenElementId, FrozenReport, frozenReportVersion } from '../domain/frozen-report'

const remedy =
  'Name a file that `kernel-ladder report --format html` has written, as it was written.'

/** Throws an input error that names the file where the page holds no report that can be read. */
export function parseReportHtml(html: string, name: string): FrozenReport {
  const opening = `<script type="application/json" id="${frozenElementId}">`
  const start = html.indexOf(opening)
  if (start < 0) throw inputError(`${name} is no report of Kernel Ladder.`, remedy)
  const end = html.indexOf('</script>', start)
  const damaged = (why: string) =>
    inputError(`The session in ${name} cannot be read: ${why}`, remedy)
  if (end < 0) throw damaged('the file was cut off.')
  let value: unknown
  try {
    value = JSON.parse(html.slice(start + opening.length, end))
  } catch (error) {
    throw damaged(`it is not JSON (${error instanceof Error ? error.message : String(error)}).`)
  }
  const version = z.object({ report: z.number() }).safeParse(value)
  if (version.success && version.data.report > frozenReportVersion)
    throw damaged(
      `it has version ${version.data.report} and this program reads up to ${frozenReportVersion}; a newer Kernel Ladder wrote it.`,
    )
  const report = FrozenReport.safeParse(value)
  if (!report.success) throw damaged(z.prettifyError(report.error))
  return report.data
}
