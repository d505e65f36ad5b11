/** A sweep's ranking as the screen shows it. Pure. */
import type { Finalist, TuneRow } from '../../../src-main/domain/tune/report'
import type { KeptTuning } from '../../../src-main/domain/tune/kept-tuning'

type Report = KeptTuning['report']

/** Of a row with a time: how wide its bar is to that of the slowest shown, and its whisker; null for a row without. */
export function barOf(
  { medianMs, spread }: Pick<TuneRow, 'medianMs' | 'spread'>,
  slowestMs: number,
): { share: number; spreadShare: number } | null {
  if (medianMs === null || slowestMs <= 0) return null
  const share = medianMs / slowestMs
  return { share, spreadShare: share * (spread ?? 0) }
}

/** How many times as fast as the rung's own values, with the ends of the interval; null without a pair. */
export const timesAsFast = ({
  ratio,
}: Pick<Finalist, 'ratio'>): { times: number; low: number; high: number } | null =>
  ratio && { times: 1 / ratio.ratio, low: 1 / ratio.high, high: 1 / ratio.low }

/** `--param RUNG.BM=128 …`, for `run`. */
export const paramWords = ({ rung, space, winner }: Report): string =>
  winner === null
    ? ''
    : space.axes.map(({ name }) => `--param ${rung}.${name}=${winner[name]}`).join(' ')

export const sameValues = (
  a: Readonly<Record<string, number>> | null,
  b: Readonly<Record<string, number>> | null,
  names: readonly string[],
): boolean => a !== null && b !== null && names.every((name) => a[name] === b[name])

/** The finalists with the rung's own values among them, the fastest first. */
export const timedInTurn = ({ finalists, baseline }: Report) =>
  [
    ...finalists.map((one) => ({ ...one, own: false })),
    ...(baseline ? [{ ...baseline, own: true }] : []),
  ].sort((a, b) => (a.medianMs ?? Infinity) - (b.medianMs ?? Infinity))
