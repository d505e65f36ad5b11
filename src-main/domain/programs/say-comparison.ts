/** Describes the differences between two sessions in sentences that all UIs show. Pure. */
import type { MetricDelta } from '../analysis/compare'
import { mostMoved, movedWords } from '../analysis/most-moved'
import { message, type AnyMessage } from '../messages/message'
import { code } from '../messages/sentence'
import { formatMs, formatPercent, formatRatio } from '../metrics/units'
import type { Session } from '../session/session'
import { briefName } from './kernel-names'
import type { SessionComparison } from './session-comparison'

type Fused = SessionComparison['fused'][number]

/** Maximum number of kernel names in a sentence. */
const mostNames = 8

/** Returns the kernel names in launch order, such as `add ×2 + tanh`. */
function namesOf(sides: Fused['sidesA']): string {
  const counts = new Map<string, number>()
  for (const { title, kernel } of sides) {
    const name = kernel ? briefName(kernel.name) : title
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const names = [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name))
  return names.length > mostNames
    ? `${names.slice(0, mostNames).join(' + ')} + …`
    : names.join(' + ')
}

const magnitude = ({ change }: { change: number | null }): number => Math.abs(change ?? 0)

const total = (ones: readonly (number | null)[]): number | null =>
  ones.every((one) => one !== null) ? ones.reduce<number>((sum, one) => sum + one!, 0) : null

/** Merges equal fusions that occur several times, such as in the iterations of a loop. */
function fusionsOf(fused: readonly Fused[]): Fused[] {
  const groups = new Map<string, Fused[]>()
  for (const one of fused) {
    const key = JSON.stringify(
      [one.sidesA, one.sidesB].map((sides) => sides.map(({ kernel }) => kernel)),
    )
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].map((group) => {
    const [timeA, timeB] = [
      total(group.map((one) => one.timeA)),
      total(group.map((one) => one.timeB)),
    ]
    const comparable = group.every(({ ratio }) => ratio !== null)
    return {
      ...group[0]!,
      from: group.flatMap(({ from }) => from),
      to: group.flatMap(({ to }) => to),
      sidesA: group.flatMap(({ sidesA }) => sidesA),
      sidesB: group.flatMap(({ sidesB }) => sidesB),
      ...{ timeA, timeB, ratio: comparable ? timeB! / timeA! : null },
      change: total(group.map(({ change }) => change)),
    }
  })
}

function sayFused({ from, to, sidesA, sidesB, timeA, timeB, ratio }: Fused): AnyMessage {
  const isSplit = from.length < to.length
  const names = {
    ...{ from: from.length, to: to.length },
    ...{ a: code(namesOf(sidesA)), b: code(namesOf(sidesB)) },
  }
  if (ratio === null)
    return message(isSplit ? 'comparison.splitUntimed' : 'comparison.fusedUntimed', names)
  return message(isSplit ? 'comparison.split' : 'comparison.fused', {
    ...names,
    ...{ timeA: formatMs(timeA!), timeB: formatMs(timeB!), ratio: formatRatio(ratio) },
  })
}

type Compared = Omit<SessionComparison['pairs'][number], 'moved'>

/** Returns a function that finds the counters that changed most in an untimed pair. */
export function movesBetween(a: Session, b: Session): (pair: Compared) => MetricDelta[] {
  const [left, right] = [a, b].map(({ rungs }) => new Map(rungs.map((rung) => [rung.id, rung])))
  return (pair) => {
    const { sideA, sideB, timeA, timeB } = pair
    // A rung's counters are sums over its kernels, so they do not describe a single kernel.
    const areWhole = pair.a === sideA.rung && pair.b === sideB.rung
    const [own, other] = [left!.get(sideA.rung), right!.get(sideB.rung)]
    if (timeA !== null || timeB !== null || !areWhole || !own || !other) return []
    return mostMoved({ session: a, rung: own }, { session: b, rung: other }) ?? []
  }
}

/**
 * Describes the change in a ladder: how many rungs became faster. Without times, describes the
 * counters that changed most in one rung.
 */
export function sayRungs(
  pairs: readonly Compared[],
  movesOf: ReturnType<typeof movesBetween>,
): AnyMessage {
  const isTimed = pairs.some(({ timeA, timeB }) => timeA !== null || timeB !== null)
  const of = (wanted: string): number => pairs.filter(({ verdict }) => verdict === wanted).length
  if (isTimed && of('unresolved') === pairs.length) return message('comparison.undecided')
  if (isTimed)
    return message('comparison.rungs', {
      ...{ all: pairs.length, faster: of('faster'), slower: of('slower') },
      ...{ same: of('same'), unresolved: of('unresolved') },
    })
  const moved = pairs.flatMap((pair) => {
    const moves = movesOf(pair)
    return moves[0] ? [{ rung: pair.b, moves, by: Math.abs(Math.log(moves[0].ratio || 1e9)) }] : []
  })
  const [most] = moved.sort((one, other) => other.by - one.by)
  return most
    ? message('comparison.counted', { rung: code(most.rung), moves: movedWords(most.moves) })
    : message('comparison.countedSame')
}

/**
 * Describes the model's errors for a predicted and a measured session. Returns undefined if no rung
 * has both a predicted and a measured time.
 */
export function sayErrors(
  pairs: readonly Pick<Compared, 'predictionError'>[],
): AnyMessage | undefined {
  const errors = pairs.flatMap(({ predictionError }) => predictionError ?? [])
  if (errors.length === 0) return undefined
  const sorted = errors.map(({ error }) => Math.abs(error)).toSorted((x, y) => x - y)
  const half = sorted.length / 2
  const median = (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
  return message('comparison.errors', {
    rungs: errors.length,
    mean: formatPercent((100 * sorted.reduce((all, one) => all + one)) / sorted.length),
    median: formatPercent(100 * median),
    inside: errors.filter(({ inRange }) => inRange).length,
  })
}

/** Maximum number of fusions to describe. The comparison's list of changes shows all fusions. */
const mostSaid = 12

export const sayRefusal = (reasons: readonly AnyMessage[]): AnyMessage[] => [
  message('comparison.refused'),
  ...reasons,
]

export function sayFusions(fused: readonly Fused[]): AnyMessage[] {
  const said = fusionsOf(fused).sort((one, other) => magnitude(other) - magnitude(one))
  const left = said.length - mostSaid
  return [
    ...said.slice(0, mostSaid).map(sayFused),
    ...(left > 0 ? [message('comparison.moreFused', { left })] : []),
  ]
}

/** Describes the change in programs and imports: fusions and splits first, then the total time. */
export function sayKernels(compared: Pick<SessionComparison, 'fused' | 'total'>): AnyMessage[] {
  const { timeA, timeB, ratio } = compared.total
  return [
    ...sayFusions(compared.fused),
    ratio === null
      ? message('comparison.untimed')
      : message('comparison.total', {
          ...{ a: formatMs(timeA!), b: formatMs(timeB!), ratio: formatRatio(ratio) },
        }),
  ]
}
