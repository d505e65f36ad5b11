/**
 * How alike two CUDA sources are, by winnowing (Schleimer, Wilkerson, Aiken: Winnowing: Local Algorithms
 * for Document Fingerprinting, SIGMOD 2003): comments, layout and names do not count, and neither does
 * what everyone was given. It flags; a person judges.
 */

/** Words of the language that keep their meaning; every other name becomes one and the same. */
const keywords = new Set(
  `alignas asm auto bool break case char const constexpr continue default do double else enum extern
  false float for goto half if inline int long nullptr return short signed sizeof static static_assert
  struct switch template true typedef typename union unsigned using void volatile while
  __device__ __forceinline__ __global__ __host__ __launch_bounds__ __restrict__ __shared__ __syncthreads
  __syncwarp blockDim blockIdx gridDim threadIdx float2 float4 dim3`.split(/\s+/),
)

const tokenPattern =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|^[ \t]*#[ \t]*include[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.]*|[<>]{3}|[-+*/%&|^<>=!]=|&&|\|\||<<|>>|->|::|\+\+|--|[^\s]/gm

/** Names as `v`, numbers as `0`, texts as `""`. */
export function normalizedTokens(source: string): string[] {
  return [...source.matchAll(tokenPattern)].flatMap(([text]) => {
    if (text.startsWith('//') || text.startsWith('/*') || /^[ \t]*#[ \t]*include/.test(text))
      return []
    if (/^["']/.test(text)) return ['""']
    if (/^\d/.test(text)) return ['0']
    if (/^[A-Za-z_]/.test(text)) return [keywords.has(text) ? text : 'v']
    return [text]
  })
}

/** Tokens in a row that are compared as one; shorter runs are shared by chance. */
const gramLength = 12
/** Of so many grams in a row one is kept, so that a copied stretch of gram + window − 1 is never missed. */
const windowLength = 6

/** FNV-1a, 32 bits. */
function hash(words: readonly string[]): number {
  let value = 0x811c9dc5
  for (const word of words) {
    for (let index = 0; index < word.length; index += 1)
      value = Math.imul(value ^ word.charCodeAt(index), 0x01000193)
    value = Math.imul(value ^ 0x20, 0x01000193)
  }
  return value >>> 0
}

export function fingerprints(source: string): Set<number> {
  const tokens = normalizedTokens(source)
  const grams = tokens
    .slice(0, Math.max(0, tokens.length - gramLength + 1))
    .map((_, index) => hash(tokens.slice(index, index + gramLength)))
  const kept = new Set<number>()
  for (let index = 0; index < grams.length; index += 1) {
    const window = grams.slice(Math.max(0, index - windowLength + 1), index + 1)
    if (window.length === windowLength || index === grams.length - 1) kept.add(Math.min(...window))
  }
  return kept
}

export interface Likeness {
  a: string
  b: string
  /** Share of the smaller one's own fingerprints that the other has too, 0 to 1. */
  share: number
}

/** Fewer own fingerprints than this say nothing: a line changed in the starter has as many. */
const fewest = 8

/** Every pair from `threshold` on, the most alike first. What `given` holds counts for nobody. */
export function findLikenesses(
  sources: ReadonlyMap<string, string>,
  given: readonly string[],
  threshold = 0.8,
): Likeness[] {
  const common = new Set(given.flatMap((text) => [...fingerprints(text)]))
  const own = [...sources].map(([name, text]) => ({
    name,
    prints: new Set([...fingerprints(text)].filter((print) => !common.has(print))),
  }))
  return own
    .flatMap((a, index) =>
      own.slice(index + 1).flatMap((b): Likeness[] => {
        const [small, large] = a.prints.size <= b.prints.size ? [a, b] : [b, a]
        if (small.prints.size < fewest) return []
        const shared = [...small.prints].filter((print) => large.prints.has(print)).length
        const share = shared / small.prints.size
        return share >= threshold ? [{ a: a.name, b: b.name, share }] : []
      }),
    )
    .sort((one, other) => other.share - one.share)
}
