/**
 * Handles sizes with equal values in the recorded launch. Equal values do not show which size an
 * extent depends on. Trials with unequal sizes determine the correct size.
 */
import type { Count } from './counts'
import type { Proposal } from './proposal'

/**
 * Returns groups of at least two sizes that had equal values. Ignores sizes that are not used in
 * shapes or the grid.
 */
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

/** Returns all permutations of a list, starting with the given order. */
function orders(names: readonly string[]): string[][] {
  if (names.length < 2) return [[...names]]
  return names.flatMap((first, at) =>
    orders([...names.slice(0, at), ...names.slice(at + 1)]).map((rest) => [first, ...rest]),
  )
}

/**
 * Maximum number of permutations to try. Each permutation is compiled, so the number is limited.
 */
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

/**
 * Returns one proposal per permutation of the group's names in the shapes and the grid, up to
 * `mostOrders` permutations. The first proposal equals the given proposal.
 */
export const exchanged = (proposal: Proposal, group: readonly string[]): Proposal[] =>
  orders(group)
    .slice(0, mostOrders)
    .map((order) => renamed(proposal, new Map(group.map((name, at) => [name, order[at]!]))))

/** Maximum value of the other sizes in a trial, to keep trials small. */
const most = 128

/**
 * Returns two sets of sizes in which the group's sizes have unequal values. The second set has the
 * group's values in reverse order.
 */
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

/** Returns the proposal without the guesses that were resolved by a trial. */
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

/**
 * Returns the proposal with a rule that these sizes must be equal. Used if no trial with unequal
 * sizes succeeded.
 */
export const keptEqual = (proposal: Proposal, group: readonly string[]): Proposal => ({
  ...proposal,
  equal: [...proposal.equal, [...group]],
})

/** Returns the proposal with these sizes marked as guesses, because no trial was possible. */
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
