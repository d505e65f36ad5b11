/** Prepares a sweep's ranking for display. */
import type { Finalist, TuneRow } from '../../../src-main/domain/tune/report'
import type { KeptTuning } from '../../../src-main/domain/tune/kept-tuning'

type Report = KeptTuning['report']

/**
 * Returns the width of a row's bar and whisker relative to the slowest row shown. Returns null for
 * a row without a time.
 */
export function barOf(
  { medianMs, spread }: Pick<TuneRow, 'medianMs' | 'spread'>,
  slowestMs: number,
): { share: number; spreadShare: number } | null {
  if (medianMs === null || slowestMs <= 0) return null
  const share = medianMs / slowestMs
  return { share, spreadShare: share * (spread ?? 0) }
}

/**
 * Returns the speedup over the rung's default values, with its confidence interval. Returns null
 * without a paired measurement.
 */
export const timesAsFast = ({
  ratio,
}: Pick<Finalist, 'ratio'>): { times: number; low: number; high: number } | null =>
  ratio && { times: 1 / ratio.ratio, low: 1 / ratio.high, high: 1 / ratio.low }

/** Returns the winner as options of `run`: `--param RUNG.BM=128 …`. */
export const paramWords = ({ rung, space, winner }: Report): string =>
  winner === null
    ? ''
    : space.axes.map(({ name }) => `--param ${rung}.${name}=${winner[name]}`).join(' ')

export const sameValues = (
  a: Readonly<Record<string, number>> | null,
  b: Readonly<Record<string, number>> | null,
  names: readonly string[],
): boolean => a !== null && b !== null && names.every((name) => a[name] === b[name])

/** Returns the finalists and the rung's default values, fastest first. */
export const timedInTurn = ({ finalists, baseline }: Report) =>
  [
    ...finalists.map((one) => ({ ...one, own: false })),
    ...(baseline ? [{ ...baseline, own: true }] : []),
  ].sort((a, b) => (a.medianMs ?? Infinity) - (b.medianMs ?? Infinity))
