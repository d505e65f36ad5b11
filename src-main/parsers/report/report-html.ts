/** Reads the sessions stored in an HTML report without running the report's code. */
import { withoutRangeOccupancy } from '../../domain/analysis/derived-metrics'
import { gunzipSync } from 'node:zlib'
import { formats, upgraded } from '../../domain/session/upgrade/index'
import { inputError, errorText, type KernelLadderError, schemaFault } from '../../domain/errors'
import { message, says, type Statement } from '../../domain/messages/message'
import {
  deepElementId,
  frozenElementId,
  FrozenReport,
  PackedDeep,
  type FrozenDeep,
} from '../../domain/report/frozen-report'
import { parseJsonWithin } from '../json-within'

export interface ReadReport {
  report: FrozenReport
  /** The sessions' deep profiles, in session order. */
  deep: FrozenDeep[]
}

/**
 * Maximum size of unpacked profiles in bytes. A report with hundreds of rungs is smaller than this
 * limit. A decompression bomb is much larger.
 */
const maxDeepBytes = 256 * 1024 * 1024

/**
 * Parses a report. If the page contains no readable report, throws an input error that contains
 * `name`.
 */
export function parseReportHtml(html: string, name: string): ReadReport {
  const damaged = (why: Statement) =>
    inputError(
      message('pages.unreadable', { file: name, why }),
      message(says(why, 'files.newer') ? 'sessions.update' : 'pages.nameReport'),
    )
  const text = elementText(html, 'application/json', frozenElementId, damaged)
  if (text === null)
    throw inputError(message('pages.noReport', { file: name }), message('pages.nameReport'))
  const value = parseJson(text, damaged)
  const current = upgraded(formats.report, value)
  if ('refused' in current) throw damaged(current.refused)
  const report = FrozenReport.safeParse(current.value)
  if (!report.success) throw damaged(schemaFault(report.error))
  const sessions = report.data.sessions.map(({ session, ...rest }) => ({
    ...rest,
    session: withoutRangeOccupancy(session),
  }))
  return {
    report: { ...report.data, sessions },
    deep: report.data.sessions.map((_session, index) => {
      const packed = elementText(html, 'text/plain', deepElementId(index), damaged)
      return packed === null ? {} : unpackDeep(packed, damaged)
    }),
  }
}

type Damaged = (why: Statement) => KernelLadderError

/** Returns a data element's text, or null if there is no element with that id. */
function elementText(html: string, type: string, id: string, damaged: Damaged): string | null {
  const opening = `<script type="${type}" id="${id}">`
  const start = html.indexOf(opening)
  if (start < 0) return null
  const end = html.indexOf('</script>', start)
  if (end < 0) throw damaged(message('pages.cutOff'))
  return html.slice(start + opening.length, end)
}

function parseJson(text: string, damaged: Damaged): unknown {
  const parsed = parseJsonWithin(text)
  if ('refused' in parsed) throw damaged(parsed.refused)
  return parsed.value
}

/**
 * Upgrades each profile from the version in which it was written. Keeps invalid values, because the
 * schema rejects them later.
 */
function upgradedProfiles(value: unknown, damaged: Damaged): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([rung, profile]) => {
      const current = upgraded(formats.deep, profile)
      if ('refused' in current)
        throw damaged(message('pages.ofDeep', { rung, why: current.refused }))
      return [rung, current.value]
    }),
  )
}

function unpackDeep(packed: string, damaged: Damaged): FrozenDeep {
  let text: string
  try {
    text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: maxDeepBytes }).toString()
  } catch (error) {
    throw damaged(message('pages.notUnpacked', { text: errorText(error) }))
  }
  const deep = PackedDeep.safeParse(upgradedProfiles(parseJson(text, damaged), damaged))
  if (!deep.success) throw damaged(schemaFault(deep.error))
  return deep.data
}
