/** Tracks a report's progress, for which the UI polls. */
import type { ReportStage } from '../../contract/reports'

interface ReportProgress {
  /** Stage of the most recently started report, or null if no report is in progress. */
  readonly stage: ReportStage | null
  make<T>(work: (onStage: (stage: ReportStage) => void) => Promise<T>): Promise<T>
}

export function createReportProgress(): ReportProgress {
  const stages = new Map<symbol, ReportStage>()
  return {
    get stage() {
      return [...stages.values()].at(-1) ?? null
    },
    async make(work) {
      const own = Symbol('report')
      try {
        return await work((stage) => stages.set(own, stage))
      } finally {
        stages.delete(own)
      }
    },
  }
}
