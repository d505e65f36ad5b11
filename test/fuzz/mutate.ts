/** Seeded damage to real inputs: the same seed damages the same way, so that a find can be repeated. */

/** A number from 0 up to, not including, `below`. */
export type Random = (below: number) => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const pick = <T>(random: Random, of: readonly T[]): T => of[random(of.length)]!

/** What readers have stumbled over: numbers at the edge of their types, markup, escapes, names of JavaScript's own. */
const tokens = [
  ...[
    '0',
    '-1',
    '1e999',
    '-1e-999',
    'NaN',
    'Infinity',
    '2147483648',
    '9007199254740993',
    '1,5',
    '.',
  ],
  ...[
    '9'.repeat(400),
    '4294967296',
    '0x',
    '1e',
    '--',
    "'",
    '"',
    '"""',
    '`',
    '\\',
    '\u0000',
    '\r',
    '\n\n',
  ],
  ...[
    '\ufeff',
    '\ufffd',
    '\ud800',
    '\u2028',
    '&lt;',
    '<!--',
    ']]>',
    '<![CDATA[',
    '<!DOCTYPE x [',
    '&x;',
    '{{',
    '}}',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    '[[[[',
    '- ',
    '? ',
    ': ',
    '&a ',
    '*a',
    '!!',
    '|',
    '>',
    '#',
    '%',
    '~',
    'null',
    'true',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '../..',
    '/etc/passwd',
    '$&',
    '%s',
    '@',
  ],
  ...['==PROF==', '==ERROR==', '=========', '// @', '// @param', '// @rung', '---', '...'],
]

type Mutation<T> = (input: T, random: Random) => T

const cut = (text: string, random: Random): [string, string, string] => {
  const from = random(text.length + 1)
  const to = Math.min(text.length, from + random(1 + Math.min(200, text.length)))
  return [text.slice(0, from), text.slice(from, to), text.slice(to)]
}

const ofText: readonly Mutation<string>[] = [
  (text, random) => text.slice(0, random(text.length + 1)),
  (text, random) => text.slice(random(text.length + 1)),
  (text, random) => {
    const [before, , after] = cut(text, random)
    return before + after
  },
  (text, random) => {
    const [before, middle, after] = cut(text, random)
    return before + middle.repeat(1 + random(8)) + after
  },
  (text, random) => {
    const [before, , after] = cut(text, random)
    return before + pick(random, tokens) + after
  },
  (text, random) => {
    const at = random(text.length + 1)
    return text.slice(0, at) + pick(random, tokens) + text.slice(at)
  },
  (text, random) => {
    const at = random(text.length + 1)
    return (
      text.slice(0, at) + String.fromCharCode(random(random(2) ? 128 : 65536)) + text.slice(at + 1)
    )
  },
  // Two lines change places.
  (text, random) => {
    const lines = text.split('\n')
    const [a, b] = [random(lines.length), random(lines.length)]
    ;[lines[a], lines[b]] = [lines[b]!, lines[a]!]
    return lines.join('\n')
  },
  // A number becomes another.
  (text, random) => {
    const numbers = [...text.matchAll(/\d+/g)]
    const found = numbers[random(Math.max(1, numbers.length))]
    if (!found) return text
    return (
      text.slice(0, found.index) + pick(random, tokens) + text.slice(found.index + found[0].length)
    )
  },
]

/** Long texts take a reader a hundred times as long as others, so few inputs have one. */
const bulky: readonly Mutation<string>[] = [
  // One character many times, which a pattern may take quadratic time for.
  (text, random) => {
    const at = random(text.length + 1)
    const long = pick(random, [...' \t=\'"-_.,:;#/\\0a(<[{']).repeat(
      pick(random, [300, 5000, 40_000]),
    )
    return text.slice(0, at) + long + text.slice(at)
  },
  // A line many times.
  (text, random) => {
    const lines = text.split('\n')
    const at = random(lines.length)
    return [...lines.slice(0, at), ...Array<string>(500).fill(lines[at]!), ...lines.slice(at)].join(
      '\n',
    )
  },
]

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const ofBytes: readonly Mutation<Uint8Array>[] = [
  (bytes, random) => bytes.slice(0, random(bytes.length + 1)),
  (bytes, random) => {
    const copy = bytes.slice()
    if (copy.length > 0) copy[random(copy.length)] = random(256)
    return copy
  },
  (bytes, random) => {
    const copy = bytes.slice()
    for (let count = 1 + random(30); count > 0 && copy.length > 0; count -= 1)
      copy[random(copy.length)]! ^= 1 << random(8)
    return copy
  },
  // A word becomes one at the edge of its type, as of a length or an offset.
  (bytes, random) => {
    const copy = bytes.slice()
    if (copy.length < 8) return copy
    const word = pick(random, [
      0,
      1,
      0x7f,
      0x7fffffff,
      0x80000000,
      0xffffffff,
      0xfffffff0,
      copy.length,
    ])
    view(copy).setUint32(random(copy.length - 4), word, true)
    return copy
  },
  (bytes, random) => {
    const from = random(bytes.length + 1)
    const piece = bytes.slice(from, from + random(64))
    const at = random(bytes.length + 1)
    return Uint8Array.from([...bytes.slice(0, at), ...piece, ...bytes.slice(at)])
  },
  (bytes, random) => {
    const from = random(bytes.length + 1)
    const copy = bytes.slice()
    copy.fill(pick(random, [0, 0xff]), from, from + random(64))
    return copy
  },
]

function several<T>(
  input: T,
  random: Random,
  mutations: readonly Mutation<T>[],
  rare: readonly Mutation<T>[] = [],
): T {
  let damaged = input
  for (let count = 1 + random(4); count > 0; count -= 1)
    damaged = pick(random, mutations)(damaged, random)
  return rare.length > 0 && random(1000) === 0 ? pick(random, rare)(damaged, random) : damaged
}

/** Beyond that an input says nothing new. */
const mostLetters = 500_000

export const mutate = <T extends string | Uint8Array>(input: T, random: Random): T =>
  (typeof input === 'string'
    ? several<string>(input, random, ofText, bulky).slice(0, mostLetters)
    : several<Uint8Array>(input, random, ofBytes)) as T
