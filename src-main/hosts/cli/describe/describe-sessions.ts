/** Prints two sessions side by side as terminal text. */
import { inEnglish } from '../../../domain/text/english'
import type { SessionComparison } from '../../../domain/programs/session-comparison'
import { formatPredictedMs } from '../../../domain/metrics/predicted-range'
import { formatMs, formatPercent, formatRatio } from '../../../domain/metrics/units'
import { type Session } from '../../../domain/session/session'
import { table, type Column } from '../table'
import { describeOrigin } from './describe-ladder'
import { none } from './figure'
import { briefName, extentText, shortName } from '../../../domain/programs/kernel-names'

type Pair = SessionComparison['pairs'][number]
type Only = SessionComparison['onlyA'][number]

const msText = (ms: number | null): string => (ms === null ? none : formatMs(ms))
const timeText = (ms: number | null, { predicted }: Pair['sideA']): string =>
  ms !== null && predicted ? formatPredictedMs({ ms, ...predicted }) : msText(ms)

function errorText({ predictionError }: Pair): string {
  if (!predictionError) return none
  const { error, inRange } = predictionError
  const sign = error < 0 ? '−' : '+'
  return `${sign}${formatPercent(Math.abs(100 * error))}, ${inRange ? 'in' : 'outside'} its range`
}

const ratioText = (ratio: number | null): string => (ratio === null ? none : formatRatio(ratio))
const changeText = (ms: number | null): string =>
  ms === null ? none : `${ms < 0 ? '−' : '+'}${formatMs(Math.abs(ms))}`

function kernelText({ title, kernel }: Pair['sideA']): string {
  if (!kernel) return title
  const shape =
    kernel.grid || kernel.block ? ` ${extentText(kernel.grid)} of ${extentText(kernel.block)}` : ''
  return `${shortName(kernel.name)}${shape}${kernel.range ? ` in ${kernel.range}` : ''}`
}

/**
 * Returns a kernel's name. For a ladder's rung, returns the rung id, because kernels of different
 * rungs may have the same name.
 */
const briefText = ({ rung, title, kernel, launches }: Pair['sideA']): string =>
  launches === null ? rung : kernel ? briefName(kernel.name) : title

const timeNote = (ms: number | null): string => (ms === null ? '' : ` (${formatMs(ms)})`)

const magnitude = ({ change }: { change: number | null }): number => Math.abs(change ?? 0)

/** Returns the table for sessions with counters but without times. */
function countedTable(pairs: readonly Pair[]): string {
  const columns: Column<Pair>[] = [
    { header: 'rung', align: 'left', cell: ({ a, b }) => (a === b ? a : `${a} = ${b}`) },
    { header: 'counters that changed most', align: 'left', cell: movedText },
  ]
  return table(pairs, columns)
}

const movedText = ({ moved }: Pair): string => moved.map((one) => inEnglish(one)).join('; ') || none

const isUntimed = ({ timeA, timeB, sideA, sideB }: Pair): boolean =>
  timeA === null && timeB === null && sideA.launches === null && sideB.launches === null

function pairTable(pairs: readonly Pair[]): string {
  if (pairs.every(isUntimed)) return countedTable(pairs)
  const columns: Column<Pair>[] = [
    { header: 'kernel', align: 'left', cell: ({ sideB }) => kernelText(sideB) },
    { header: 'before', cell: ({ timeA, sideA }) => timeText(timeA, sideA) },
    { header: 'after', cell: ({ timeB, sideB }) => timeText(timeB, sideB) },
    ...(pairs.some(({ predictionError }) => predictionError)
      ? [{ header: 'error of the prediction', cell: errorText }]
      : []),
    { header: 'after/before', cell: ({ ratio }) => ratioText(ratio) },
    { header: 'change', cell: ({ change }) => changeText(change) },
    { header: '', align: 'left', cell: ({ verdict }) => verdict },
    { header: 'paired by', align: 'left', cell: ({ by }) => by.replaceAll('+', ', ') },
    { header: '', align: 'left', cell: ({ a, b }) => (a === b ? a : `${a} = ${b}`) },
  ]
  return table(pairs, columns)
}

/** Lists the kernels that have no counterpart in the other session. */
function changeLines({ changes, onlyA, onlyB }: SessionComparison): string[] {
  const byId = (list: readonly Only[]): Map<string, Only> =>
    new Map(list.map((one) => [one.id, one]))
  const [left, right] = [byId(onlyA), byId(onlyB)]
  const names = (ids: readonly string[], from: Map<string, Only>): string =>
    ids.map((id) => briefText(from.get(id)!)).join(' + ')
  return changes
    .filter(({ kind }) => kind !== 'fused' && kind !== 'split')
    .sort((one, other) => magnitude(other) - magnitude(one))
    .map(({ kind, a, b, timeA, timeB, ratio }) => {
      if (kind === 'added') return `added: ${names(b, right)}${timeNote(timeB)}`
      if (kind === 'removed') return `removed: ${names(a, left)}${timeNote(timeA)}`
      return `${kind}: ${names(a, left)} (${msText(timeA)}) → ${names(b, right)} (${msText(timeB)}${ratio === null ? '' : `, ${formatRatio(ratio)}`})`
    })
}

export function describeSessions(a: Session, b: Session, comparison: SessionComparison): string {
  const { answer, pairs, comparable } = comparison
  const said = new Set(answer.map((sentence) => inEnglish(sentence)))
  const notes = comparable.reasons.filter((reason) => !said.has(inEnglish(reason)))
  const changed = changeLines(comparison)
  return [
    `before: ${describeOrigin(a)}`,
    `after:  ${describeOrigin(b)}`,
    '',
    ...answer.map((sentence) => inEnglish(sentence)),
    ...notes.map((note) => `note: ${inEnglish(note)}`),
    '',
    // Kernels are sorted by their contribution to the change in total time, largest first.
    ...(pairs.length === 0
      ? []
      : [pairTable([...pairs].sort((one, other) => magnitude(other) - magnitude(one)))]),
    ...(changed.length === 0 ? [] : ['', ...changed]),
  ].join('\n')
}
