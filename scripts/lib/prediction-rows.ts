/**
 * Compares predicted with recorded times. Defines the rows that compare predictions with
 * recordings, and computes their statistics.
 */
import {
  type PredictionClass,
  type PredictionWarning,
} from '../../src-main/domain/prediction/prediction'
import { widthOf } from '../../src-main/domain/prediction/ranges'

export const accuracyPath = 'test/captures/prediction/accuracy.json'

export interface PredictedTime {
  ms: number
  class: PredictionClass
  /** Warnings that widened the predicted range. */
  widened: PredictionWarning[]
}

/** A rung of a recording, with its prediction or the reason why there is none. */
export interface PredictedRow {
  recording: string
  ladder: string
  gpu: string
  rung: string
  /** Recorded median time. `cache` is the state of the L2 cache during the measurement. */
  measuredMs: number
  cache: string
  predicted: PredictedTime | null
  /** Reason why there is no prediction. */
  refused?: string
  /** Most frequent stall reasons, in descending order. Present only if counters were recorded. */
  stalls?: { measured: Stall[]; predicted: Stall[] }
}

interface Stall {
  reason: string
  /** Number of stalled warps per issued instruction. */
  warps: number
}

export interface Rung {
  id: string
  status?: string
  timing?: { medianMs: number } | null
  predicted?: PredictedTime | null
  /** Reason why the rung failed. */
  reason?: { key?: string } | string | null
  notPredicted?: { key?: string } | string
  metrics: Record<string, { value: number | null } | undefined>
}

const stallsOf = ({ metrics }: Rung): Stall[] =>
  Object.entries(metrics)
    .filter(([id, metric]) => /^stall(?!Selected)/.test(id) && metric?.value)
    .map(([id, metric]) => ({ reason: id, warps: Number(metric!.value!.toPrecision(4)) }))
    .sort((a, b) => b.warps - a.warps)
    .slice(0, 6)

interface MeasuredSession {
  rungs: Rung[]
  ladder: string
  settings: { cacheState?: string }
}

export function rowsOf(
  recording: string,
  gpu: string,
  predicted: { rungs: Rung[] },
  measured: MeasuredSession,
): PredictedRow[] {
  return measured.rungs.flatMap((rung) => {
    const own = predicted.rungs.find(({ id }) => id === rung.id)
    if (!rung.timing || !own) return []
    const time = own.predicted
    const [there, here] = [stallsOf(rung), stallsOf(own)]
    const row: PredictedRow = {
      ...{ recording, ladder: measured.ladder, gpu, rung: rung.id },
      measuredMs: rung.timing.medianMs,
      cache: measured.settings.cacheState ?? 'unknown',
      predicted: time ? { ms: time.ms, class: time.class, widened: time.widened } : null,
      ...(there.length > 1 && here.length > 1
        ? { stalls: { measured: there, predicted: here } }
        : {}),
    }
    if (time) return [row]
    const why = own.notPredicted ?? (own.status === 'failed' ? own.reason : null)
    // The model predicts only this project's kernels, not the kernels that a library launches.
    if (!why) return []
    return [{ ...row, refused: typeof why === 'string' ? why : (why.key ?? '?') }]
  })
}

/**
 * Updates the rows of a recording with its current times and stall reasons, because recordings are
 * sometimes repeated.
 */
export const measuredAgain = <Row extends PredictedRow>(
  rows: readonly Row[],
  measured: MeasuredSession,
): Row[] =>
  rows.flatMap((row) => {
    const rung = measured.rungs.find(({ id }) => id === row.rung)
    if (!rung?.timing) return []
    const stalls = stallsOf(rung)
    return [
      {
        ...row,
        measuredMs: rung.timing.medianMs,
        cache: measured.settings.cacheState ?? 'unknown',
        ...(row.stalls && stalls.length > 1 ? { stalls: { ...row.stalls, measured: stalls } } : {}),
      },
    ]
  })

export type Told = PredictedRow & { predicted: PredictedTime }

export const isTold = (row: PredictedRow): row is Told => row.predicted !== null

export const ratioOf = ({ measuredMs, predicted }: Told): number => predicted.ms / measuredMs

/** Returns the prediction error as a factor of at least 1: predicted / measured, or the inverse. */
export const offBy = (row: Told): number => Math.max(ratioOf(row), 1 / ratioOf(row))

const errorOf = (row: Told): number => Math.abs(ratioOf(row) - 1)

/** Returns whether the measured time is within the predicted range. */
export const isInside = (row: Told): boolean =>
  offBy(row) <= widthOf(row.predicted.class, row.predicted.widened)

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

export interface Figures {
  count: number
  /** Mean and median of |predicted / measured − 1|. */
  mean: number
  median: number
  /** Geometric mean of predicted / measured. */
  bias: number
  /** Share of measured times within the predicted range. */
  inside: number
}

export function figuresOf(rows: readonly PredictedRow[]): Figures {
  const told = rows.filter(isTold)
  return {
    count: told.length,
    mean: mean(told.map(errorOf)),
    median: median(told.map(errorOf)),
    bias: Math.exp(mean(told.map((row) => Math.log(ratioOf(row))))),
    inside: mean(told.map((row) => (isInside(row) ? 1 : 0))),
  }
}

/**
 * Counts pairs of rungs in the same recording whose measured times differ by more than `least`.
 * `right` is the number of counted pairs whose order was predicted correctly.
 */
export function orderOf(
  rows: readonly PredictedRow[],
  least: number,
): { pairs: number; right: number } {
  const told = rows.filter(isTold)
  let [pairs, right] = [0, 0]
  for (const [index, a] of told.entries())
    for (const b of told.slice(index + 1)) {
      if (a.recording !== b.recording) continue
      const ratio = a.measuredMs / b.measuredMs
      if (Math.max(ratio, 1 / ratio) <= 1 + least) continue
      pairs++
      if (a.predicted.ms < b.predicted.ms === ratio < 1) right++
    }
  return { pairs, right }
}

/**
 * Counts rungs whose two most frequent stall reasons were predicted correctly. Two reasons count as
 * tied if they differ by at most 5 % of all stalls.
 */
export function stallsAgree(rows: readonly PredictedRow[]): { rungs: number; agree: number } {
  const compared = rows.flatMap(({ stalls }) => (stalls ? [stalls] : []))
  const agree = compared.filter(({ measured, predicted }) => {
    const all = measured.reduce((sum, { warps }) => sum + warps, 0)
    const least = measured[1]!.warps - 0.05 * all
    const allowed = new Set(
      measured.filter(({ warps }) => warps >= least).map(({ reason }) => reason),
    )
    return predicted.slice(0, 2).every(({ reason }) => allowed.has(reason))
  }).length
  return { rungs: compared.length, agree }
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
