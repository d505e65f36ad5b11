/** Chooses the columns of a ladder's table and their widths. */
import { computed } from 'vue'
import { leadFigure, leadOf } from '../../../src-main/domain/analysis/lead-figure'
import { totalProfiledMs } from '../../../src-main/domain/programs/profiled-time'
import { isOfPrograms, type Session } from '../../../src-main/domain/session/session'
import { can } from '../../../src-main/domain/targets/targets'
import { errorsDiffer, timeColumns } from './ladder-rows'
import { columnGroups, metricScale, metricsOf } from './metric-columns'

export function useTableColumns(session: () => Session, metrics: () => readonly string[]) {
  const groups = computed(() => columnGroups(metrics()))
  const columnMetrics = computed(() => metricsOf(groups.value))
  const scales = computed(
    () => new Map(columnMetrics.value.map((id) => [id, metricScale(session(), id)])),
  )
  const lead = computed(() => leadOf(session()))
  /** The total time of all kernels, or null unless kernels were timed only under ncu. */
  const kernels = computed(() =>
    can(session().target).knowsRun ? null : totalProfiledMs(session()),
  )
  /**
   * The longest wall time among the programs. Bars for programs show time instead of throughput.
   */
  const longestProgramMs = computed(() =>
    isOfPrograms(session())
      ? Math.max(0, ...session().rungs.map(({ timing }) => timing?.medianMs ?? 0))
      : null,
  )
  /**
   * The optional time columns. Programs and kernels under ncu have only one timing mode, so they
   * have no optional columns.
   */
  const times = computed(() =>
    kernels.value !== null || longestProgramMs.value !== null
      ? { notes: false, burst: false, sustained: false }
      : timeColumns(session()),
  )
  const timed = computed(() => session().rungs.some(({ timing }) => timing !== null))
  /** Whether the table has no time columns, because the session has only counts. */
  const timeless = computed(
    () =>
      !timed.value &&
      kernels.value === null &&
      longestProgramMs.value === null &&
      (session().prediction !== undefined ||
        session().rungs.some(({ metrics: own }) =>
          columnMetrics.value.some((id) => own[id]?.value != null),
        )),
  )
  /** The largest upper bound of the predicted times, or null in a session without predictions. */
  const longestPredictedMs = computed(() =>
    session().prediction
      ? Math.max(0, ...session().rungs.map(({ predicted }) => predicted?.highMs ?? 0))
      : null,
  )
  const errors = computed(() => !isOfPrograms(session()) && errorsDiffer(session()))
  /** Whether a rate needs seven digits, because it exceeds a thousand TFLOP/s. */
  const isVast = computed(() =>
    session().rungs.some(({ timing }) => (timing?.gflops ?? 0) >= 999_999.5),
  )
  /**
   * Whether some rung shows a reason in place of its percentage. A reason takes two lines in a
   * wider column.
   */
  const isAboveRoof = computed(
    () =>
      lead.value.of === 'bytes' &&
      session().rungs.some((rung) => leadFigure(session(), rung, lead.value)?.aboveRoof),
  )
  /**
   * Minimum width of the table, which is the sum of the minimum column widths. Below this width,
   * only the names would shrink.
   */
  const leastWidth = computed(() => {
    const { notes, burst, sustained } = times.value
    const more =
      (notes ? 30 : 0) + (isAboveRoof.value ? 24 : 0) + (burst ? 76 : 0) + (sustained ? 148 : 0)
    const predicted = longestPredictedMs.value === null ? 0 : 400
    return (timeless.value ? 380 : 696) + predicted + more + 70 * columnMetrics.value.length
  })
  /**
   * Whether more than one timing mode is shown. With several timing modes, names and bars are
   * narrower and stay in view while the other columns scroll.
   */
  const isWide = computed(() => times.value.burst || times.value.sustained)
  /**
   * The widths of all columns. Each row is a separate grid. In an HTML table, a new row would make
   * the browser lay out all rows again.
   */
  const columns = computed(() => [
    '54px',
    'minmax(0, 1fr)',
    ...(longestPredictedMs.value === null ? [] : ['var(--plot)', '176px', '92px']),
    ...(timeless.value
      ? []
      : [
          'var(--plot)',
          times.value.notes ? '112px' : '82px',
          isAboveRoof.value ? '96px' : isVast.value ? '84px' : '72px',
          'var(--ratio)',
          ...(times.value.burst ? ['76px'] : []),
          ...(times.value.sustained ? ['76px', '72px'] : []),
          '80px',
        ]),
    ...(errors.value ? ['80px'] : []),
    ...columnMetrics.value.map(() => 'var(--metric)'),
  ])
  return {
    groups,
    scales,
    lead,
    kernels,
    longestProgramMs,
    times,
    timed,
    timeless,
    longestPredictedMs,
    errors,
    leastWidth,
    isWide,
    columns,
  }
}
