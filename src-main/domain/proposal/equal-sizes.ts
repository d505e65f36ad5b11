/**
 * Sizes that had one value in the recorded launch: which of them an extent is then follows from their names alone. Trials
 * at unequal sizes tell.
 */
import type { Count } from './counts'
import type { Proposal } from './proposal'

/** Names of sizes that shapes and grid depend on and that had the same value, in groups of two or more. */
export function equalSizes({ sizes, buffers, grid }: Proposal): string[][] {
  const used = new Set([
    ...buffers.flatMap(({ shape }) => shape.factors),
    ...grid.flatMap(({ count }) => count.factors),
  ])
  const groups = new Map<number, string[]>()
  for (const { name, value } of sizes)
    if (used.has(name)) groups.set(value, [...(groups.get(value) ?? []), name])
  return [...groups.values()].filter((names) => names.length > 1)
}

/** Every order of a list, the given one first. */
function orders(names: readonly string[]): string[][] {
  if (names.length < 2) return [[...names]]
  return names.flatMap((first, at) =>
    orders([...names.slice(0, at), ...names.slice(at + 1)]).map((rest) => [first, ...rest]),
  )
}

/** More orders than these are not tried: each is compiled. */
const mostOrders = 6

const renamed = (proposal: Proposal, names: ReadonlyMap<string, string>): Proposal => {
  const of = (count: Count): Count => ({
    ...count,
    factors: count.factors.map((name) => names.get(name) ?? name),
  })
  return {
    ...proposal,
    buffers: proposal.buffers.map((buffer) => ({ ...buffer, shape: of(buffer.shape) })),
    grid: proposal.grid.map((one) => ({ ...one, count: of(one.count) })),
  }
}

/** The proposal with the names of a group exchanged in its shapes and its grid, itself first. */
export const exchanged = (proposal: Proposal, group: readonly string[]): Proposal[] =>
  orders(group)
    .slice(0, mostOrders)
    .map((order) => renamed(proposal, new Map(group.map((name, at) => [name, order[at]!]))))

/** Other sizes stay small in a trial. */
const most = 128

/** Two choices of sizes in which no two of a group are equal, and each pair is in both orders. */
export function unequalSizes(
  { sizes, block }: Proposal,
  group: readonly string[],
): Record<string, number>[] {
  const unit = Math.max(32, ...block)
  const factors = [2, 3, 5, 7].slice(0, group.length)
  return [factors, factors.toReversed()].map((order) =>
    Object.fromEntries(
      sizes.map(({ name, value }) => [
        name,
        group.includes(name) ? unit * order[group.indexOf(name)]! : Math.min(value, most),
      ]),
    ),
  )
}

const isOfGroup = (guess: string, group: readonly string[]): boolean =>
  guess.startsWith('could also be ') &&
  (guess.slice('could also be '.length).match(/[A-Za-z]\w*/g) ?? []).every(
    (word) => word === 'or' || word === 'ceil' || group.includes(word),
  )

/** Without the guesses that a trial has settled. */
export const settled = (proposal: Proposal, group: readonly string[]): Proposal => ({
  ...proposal,
  buffers: proposal.buffers.map((buffer) => ({
    ...buffer,
    guesses: buffer.guesses.filter((guess) => !isOfGroup(guess, group)),
  })),
  grid: proposal.grid.map((one) => ({
    ...one,
    guesses: one.guesses.filter((guess) => !isOfGroup(guess, group)),
  })),
})

/** The proposal with these sizes kept equal, since no trial with unequal ones went well. */
export const keptEqual = (proposal: Proposal, group: readonly string[]): Proposal => ({
  ...proposal,
  equal: [...proposal.equal, [...group]],
})

/** The proposal with each of these sizes marked as a guess, where no trial was possible. */
export const marked = (proposal: Proposal, group: readonly string[]): Proposal => ({
  ...proposal,
  sizes: proposal.sizes.map((size) =>
    group.includes(size.name)
      ? {
          ...size,
          why: `${group.join(' and ')} were equal, so shapes and grid may name the wrong one`,
        }
      : size,
  ),
})
