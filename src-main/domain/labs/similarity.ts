/**
 * Computes the similarity of two CUDA sources by winnowing (Schleimer, Wilkerson, Aiken: Winnowing:
 * Local Algorithms for Document Fingerprinting, SIGMOD 2003). The comparison ignores comments,
 * layout, names, and code that all students received. High similarity does not prove copying, so a
 * person must judge each match.
 */

/** Names that are compared exactly. All names that are not keywords are treated as equal. */
const keywords = new Set(
  `alignas asm auto bool break case char const constexpr continue default do double else enum extern
  false float for goto half if inline int long nullptr return short signed sizeof static static_assert
  struct switch template true typedef typename union unsigned using void volatile while
  __device__ __forceinline__ __global__ __host__ __launch_bounds__ __restrict__ __shared__ __syncthreads
  __syncwarp blockDim blockIdx gridDim threadIdx float2 float4 dim3`.split(/\s+/),
)

/**
 * Matches one token. The regular expression is sticky and cannot backtrack deeply. An unterminated
 * comment or string ends at the end of the file or line, so malicious input does not slow down
 * matching.
 */
const tokenPattern =
  /\s+|\/\/[^\n]*|\/\*|"(?:[^"\\\n]|\\[^\n])*(?:"|\\?)|'(?:[^'\\\n]|\\[^\n])*(?:'|\\?)|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|[-+*/%&|^<>=!]=|&&|\|\||<<|>>|->|::|\+\+|--|[^\s]/y

const includeLine = /#[ \t]*include[^\n]*/y

/**
 * Returns a source's tokens, with names replaced by `v`, numbers by `0`, and strings by `""`.
 */
export function normalizedTokens(source: string): string[] {
  const tokens: string[] = []
  let lineStart = true
  for (let at = 0; at < source.length;) {
    if (lineStart && source[at] === '#') {
      includeLine.lastIndex = at
      if (includeLine.test(source)) {
        at = includeLine.lastIndex
        continue
      }
    }
    tokenPattern.lastIndex = at
    const text = tokenPattern.exec(source)?.[0] ?? source[at]!
    at += text.length
    if (/^\s/.test(text)) {
      lineStart ||= text.includes('\n')
      continue
    }
    if (text === '/*') {
      const end = source.indexOf('*/', at)
      at = end < 0 ? source.length : end + 2
      continue
    }
    if (text.startsWith('//')) continue
    lineStart = false
    if (/^["']/.test(text)) tokens.push('""')
    else if (/^\d/.test(text)) tokens.push('0')
    else if (/^[A-Za-z_]/.test(text)) tokens.push(keywords.has(text) ? text : 'v')
    else tokens.push(text)
  }
  return tokens
}

/**
 * Length of a gram: the number of consecutive tokens that are compared as one unit. If grams were
 * shorter, they would match by chance.
 */
const gramLength = 12
/**
 * Number of consecutive grams in a window. One gram per window is used as a fingerprint. The
 * fingerprints therefore find every copied sequence of at least gram + window − 1 tokens.
 */
const windowLength = 6

/** Returns a 32-bit FNV-1a hash. */
function hash(words: readonly string[]): number {
  let value = 0x811c9dc5
  for (const word of words) {
    for (let index = 0; index < word.length; index += 1)
      value = Math.imul(value ^ word.charCodeAt(index), 0x01000193)
    value = Math.imul(value ^ 0x20, 0x01000193)
  }
  return value >>> 0
}

function fingerprints(source: string): Set<number> {
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

interface Likeness {
  a: string
  b: string
  /**
   * Fraction of the smaller source's own fingerprints that also occur in the other source, 0 to 1.
   */
  share: number
}

/**
 * Minimum number of own fingerprints that a comparison requires. A single changed line in the
 * starter produces almost this many fingerprints.
 */
const fewest = 8

const copyShare = 0.8

function countShared(small: ReadonlySet<number>, large: ReadonlySet<number>): number {
  let shared = 0
  for (const print of small) if (large.has(print)) shared += 1
  return shared
}

/**
 * Returns every pair of sources with a similarity of at least `threshold`, most similar first.
 * Ignores code that also occurs in `given`.
 */
export function findLikenesses(
  sources: ReadonlyMap<string, string>,
  given: readonly string[],
  threshold = copyShare,
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
        const shared = countShared(small.prints, large.prints)
        const share = shared / small.prints.size
        return share >= threshold ? [{ a: a.name, b: b.name, share }] : []
      }),
    )
    .sort((one, other) => other.share - one.share)
}

/**
 * Returns the fraction of `original`'s own code that also occurs in `source`, 0 to 1. Returns null
 * if the fraction is below the copy threshold. Also returns null if `original` has too little code
 * to distinguish a copy from the only possible solution.
 */
export function likenessTo(
  original: string,
  source: string,
  given: readonly string[],
): number | null {
  const common = new Set(given.flatMap((text) => [...fingerprints(text)]))
  const prints = new Set([...fingerprints(original)].filter((print) => !common.has(print)))
  if (prints.size < fewest) return null
  const share = countShared(prints, fingerprints(source)) / prints.size
  return share >= copyShare ? share : null
}
