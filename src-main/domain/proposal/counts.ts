/** Finds products of sizes that equal a given number, and formats them for ladder.yaml and C++. */

/** The formula ceil(product of `factors` · `times` / `over`) + `plus`. */
export interface Count {
  factors: readonly string[]
  times: number
  over: number
  plus: number
}

export interface Size {
  name: string
  value: number
}

export const constant = (value: number): Count => ({ factors: [], times: value, over: 1, plus: 0 })

export const isConstant = ({ factors }: Count): boolean => factors.length === 0

const productOf = ({ factors, times }: Count, name: (size: string) => string): string =>
  [...factors.map(name), ...(times === 1 && factors.length > 0 ? [] : [String(times)])].join(' * ')

/** Returns a shape's extents. */
export function shapeText(count: Count): string[] {
  const { factors, times, over, plus } = count
  if (over === 1 && plus === 0)
    return [...factors, ...(times === 1 && factors.length > 0 ? [] : [`${times}`])]
  return [expressionText(count)]
}

/** Returns the formula as an expression for ladder.yaml. */
export function expressionText(count: Count): string {
  const product = productOf(count, (size) => size)
  const { over, plus } = count
  const whole = over === 1 ? product : `ceil(${product} / ${over})`
  return plus === 0 ? whole : `${whole} ${plus < 0 ? '-' : '+'} ${Math.abs(plus)}`
}

/** Returns the formula in C++, with fields of the launch struct `p`. */
export function cppText(count: Count): string {
  const { over, plus } = count
  const product = productOf(count, (size) => `p->${size}`)
  const whole = over === 1 ? product : `(${product} + ${over - 1}) / ${over}`
  return plus === 0 ? whole : `${whole} ${plus < 0 ? '-' : '+'} ${Math.abs(plus)}`
}

/**
 * Returns the products of up to three different sizes, and the square of each size. Products with
 * fewer factors come first.
 */
function products(sizes: readonly Size[]): { factors: string[]; value: number }[] {
  const found: { factors: string[]; value: number }[] = []
  const extend = (from: number, factors: string[], value: number, left: number): void => {
    if (left === 0) {
      found.push({ factors, value })
      return
    }
    for (let at = from; at < sizes.length; at++)
      extend(at, [...factors, sizes[at]!.name], value * sizes[at]!.value, left - 1)
  }
  for (const length of [1, 2, 3]) extend(0, [], 1, length)
  // A product with a repeated size is a less likely formula, so it comes later.
  const repeats = ({ factors }: { factors: string[] }): number =>
    factors.length - new Set(factors).size
  return found
    .filter(({ factors }) => factors.length < 3 || new Set(factors).size === 3)
    .sort((a, b) => a.factors.length - b.factors.length || repeats(a) - repeats(b))
}

const rowNames = /^(?:d_|n_?|num_?)?(?:m|rows?|height|h|y|batch|b|size_y)$/i
const columnNames = /^(?:d_|n_?|num_?)?(?:n|cols?|columns?|width|w|x|size_x)$/i

/** Sorts factors so that rows come before columns, as in a row-major array. */
const ordered = (factors: readonly string[]): string[] =>
  [...factors].sort((a, b) => Number(rowNames.test(b)) - Number(rowNames.test(a)))

/** Sizes of the matrices in C = A·B, by matrix name. */
const matrixSizes: Readonly<Record<string, string>> = { a: 'mk', b: 'kn', c: 'mn' }

export interface Guessed {
  count: Count
  /** Other formulas that yield the same count, as text. */
  others: string[]
}

const guessed = (fits: readonly Count[]): Guessed | null =>
  fits.length === 0
    ? null
    : { count: fits[0]!, others: fits.slice(1, 4).map((other) => expressionText(other)) }

/** Returns a formula for the number of elements of a buffer, or null if no formula fits. */
export function elementsOf(
  buffer: string,
  elements: number,
  sizes: readonly Size[],
): Guessed | null {
  if (elements === 1) return { count: constant(1), others: [] }
  const plain = { times: 1, over: 1, plus: 0 }
  const all = products(sizes.filter(({ value }) => value > 1))
  const matrix = matrixSizes[buffer.replace(/^(?:d_|dev_|g_)/, '').toLowerCase()]
  const isMatrix = (factors: readonly string[]): boolean =>
    matrix !== undefined &&
    [...factors.map((name) => name.toLowerCase())].sort().join('') === [...matrix].sort().join('')
  const exact = all
    .filter(({ value }) => value === elements)
    .sort((a, b) => Number(isMatrix(b.factors)) - Number(isMatrix(a.factors)))
    .map(({ factors }) => ({
      ...plain,
      factors: isMatrix(factors)
        ? [...matrix!].map((sign) => factors.find((name) => name.toLowerCase() === sign)!)
        : ordered(factors),
    }))
  if (exact.length > 0) return guessed(exact)
  const beyond = all.flatMap(({ factors, value }) => {
    const times = elements / value
    const plus = elements - value
    return [
      ...(Number.isInteger(times) && times <= 16 && value > 64
        ? [{ ...plain, factors: ordered(factors), times }]
        : []),
      ...(factors.length === 1 && value > 64 && Math.abs(plus) <= 8
        ? [{ ...plain, factors, plus }]
        : []),
    ]
  })
  return guessed(beyond)
}

const tiles = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/**
 * Returns a formula for the number of blocks along one dimension.
 *
 * @param threads threads per block along this dimension
 * @param taken sizes that another dimension already uses
 */
export function blocksOf(
  dimension: 0 | 1 | 2,
  blocks: number,
  threads: number,
  sizes: readonly Size[],
  taken: readonly string[],
): Guessed {
  if (blocks === 1) return { count: constant(1), others: [] }
  const liked = dimension === 0 ? columnNames : rowNames
  const rank = (factors: readonly string[]): number =>
    factors.length * 4 +
    (factors.some((name) => taken.includes(name)) ? 2 : 0) +
    (factors.some((name) => liked.test(name)) ? 0 : 1)
  const all = products(sizes.filter(({ value }) => value > 1))
    .filter(({ factors }) => factors.length < 3 && new Set(factors).size === factors.length)
    .sort((a, b) => rank(a.factors) - rank(b.factors))
  const overs = [threads, 1, ...tiles.map((tile) => threads * tile), ...tiles]
  const fits = [...new Set(overs)].flatMap((over) =>
    all
      .filter(({ value }) => Math.ceil(value / over) === blocks)
      .map(({ factors }) => ({ factors, times: 1, over, plus: 0 })),
  )
  return guessed(fits) ?? { count: constant(blocks), others: [] }
}
