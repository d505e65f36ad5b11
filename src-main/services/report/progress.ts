/** What the reports that are being made are at, for a UI that asks. */
import type { ReportStage } from '../../contract/report'

export interface ReportProgress {
  /** Of the one that began last; null where none is being made. */
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
