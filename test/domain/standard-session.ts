/** gemm-fp32 at 1024 at the standard level: recorded times, and the counters of another run of the same rungs. */
import { join } from 'node:path'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import type { Session } from '../../src-main/domain/session/session'
import { parseNcuRawCsv } from '../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../src-main/parsers/ncu/ncu-metrics'
import { metricsAsked } from '../support'
import { capture, ncuCapture } from '../captures'

const recordings = join(import.meta.dirname, '../../resources/recordings')

export const { launches } = parseNcuRawCsv(ncuCapture('standard-mix'))

/** The metrics of the level that ncu was asked for then. */
export const metricsThen = metricsAsked(
  'standard',
  capture('ncu/2025.3.1-h200/standard-mix').argv.split(/\s+/),
)

/** What they ask ncu for. */
export const asked: ReadonlySet<string> = new Set(metricsThen.flatMap(({ ncu }) => ncu[0] ?? []))

export async function standardSession(): Promise<Session> {
  const recorded = await readSession(join(recordings, 'gemm-fp32-h200-1024'))
  return {
    ...recorded,
    settings: { ...recorded.settings, profile: 'standard' },
    rungs: recorded.rungs.flatMap((rung) => {
      const own = launches.filter((launch) => launch.rung === rung.id)
      return own.length === 0 ? [] : [{ ...rung, metrics: toMetrics(own, 'standard', asked) }]
    }),
  }
}
