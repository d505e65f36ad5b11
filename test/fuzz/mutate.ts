/** Damages inputs, and creates small inputs from real ones. */

// Functions that damage an input. The damage depends only on a seed, so that a bug can be
// reproduced.

/** Returns an integer from 0 up to but not including `below`. */
export type Random = (below: number) => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    // The algorithm is mulberry32.
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const pick = <T>(random: Random, of: readonly T[]): T => of[random(of.length)]!

/**
 * Tokens that have caused bugs, such as numbers at type limits, markup, escapes, and JavaScript
 * built-in names.
 */
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
  // Swaps two lines.
  (text, random) => {
    const lines = text.split('\n')
    const [a, b] = [random(lines.length), random(lines.length)]
    ;[lines[a], lines[b]] = [lines[b]!, lines[a]!]
    return lines.join('\n')
  },
  // Changes a number.
  (text, random) => {
    const numbers = [...text.matchAll(/\d+/g)]
    const found = numbers[random(Math.max(1, numbers.length))]
    if (!found) return text
    return (
      text.slice(0, found.index) + pick(random, tokens) + text.slice(found.index + found[0].length)
    )
  },
]

/**
 * Mutations that produce long texts. Readers take a hundred times as long for such texts, so few
 * inputs get these mutations.
 */
const bulky: readonly Mutation<string>[] = [
  // Repeats a character, because some regular expressions take quadratic time on repeated
  // characters.
  (text, random) => {
    const at = random(text.length + 1)
    const long = pick(random, [...' \t=\'"-_.,:;#/\\0a(<[{']).repeat(
      pick(random, [300, 5000, 40_000]),
    )
    return text.slice(0, at) + long + text.slice(at)
  },
  // Repeats a line.
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
  // Sets a word to the limit of an integer type, as in a length or an offset.
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

/** The maximum size of an input. Inputs larger than this revealed no additional bugs. */
const mostLetters = 500_000

export const mutate = <T extends string | Uint8Array>(input: T, random: Random): T =>
  (typeof input === 'string'
    ? several<string>(input, random, ofText, bulky).slice(0, mostLetters)
    : several<Uint8Array>(input, random, ofBytes)) as T

// Functions that shorten real inputs, so that a reader takes microseconds per input and a fuzzing
// campaign can test a million inputs.

/** Returns the value with only the first items of every list and some entries of large records. */
export function lean(value: unknown, items = 1, figures = 12): unknown {
  if (Array.isArray(value)) {
    // Do not shorten lists of numbers, because a list of three numbers may be an extent.
    const kept = typeof value[0] === 'object' ? value.slice(0, items) : value
    return kept.map((one) => lean(one, items, figures))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept =
    entries.length > 40
      ? entries.filter((_entry, at) => at % Math.ceil(entries.length / figures) === 0)
      : entries
  return Object.fromEntries(kept.map(([key, one]) => [key, lean(one, items, figures)]))
}

/**
 * Returns a quoted ncu table with its first `own` columns, every `step`th of the other columns, and
 * `rows` rows.
 */
export function fewColumns(
  csv: string,
  { own = 12, step, rows }: { own?: number; step: number; rows: number },
): string {
  const lines = csv.split('\n')
  const first = lines.findIndex((line) => line.startsWith('"'))
  const chosen = lines.slice(first, first + rows).map((line) => {
    const cells = line.split(/(?<="),(?=")/)
    return cells.filter((_cell, at) => at < own || at % step === 0).join(',')
  })
  return [...lines.slice(0, Math.min(first, 3)), ...chosen, ''].join('\n')
}

/** Returns an XML document without the elements that the reader ignores. */
export const withoutElements = (xml: string, tags: readonly string[]): string =>
  tags.reduce(
    (text, tag) => text.replaceAll(new RegExp(`\\s*<${tag}>[^]*?</${tag}>`, 'g'), ''),
    xml,
  )

/**
 * Yields the fields of a protobuf message. Each yielded field includes its tag and its unchanged
 * bytes.
 */
function* fieldsOf(bytes: Uint8Array): Generator<{ number: number; whole: Uint8Array }> {
  let at = 0
  const varint = (): number => {
    let [value, scale, byte] = [0, 1, 0]
    do {
      byte = bytes[at++]!
      value += (byte & 0x7f) * scale
      scale *= 128
    } while (byte >= 0x80)
    return value
  }
  while (at < bytes.length) {
    const from = at
    const tag = varint()
    const kind = tag & 7
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else {
      const length = varint()
      at += length
    }
    yield { number: tag >>> 3, whole: bytes.subarray(from, at) }
  }
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

const sized = (bytes: Uint8Array): Uint8Array => {
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, bytes.length, true)
  return concat([length, bytes])
}

/** Encodes a `uint32` field in five bytes, for any value. */
const uint32Field = (number: number, value: number): Uint8Array =>
  Uint8Array.from([
    number << 3,
    ...[0, 7, 14, 21].map((shift) => ((value >>> shift) & 0x7f) | 0x80),
    (value >>> 28) & 0x0f,
  ])

/**
 * Returns an ncu report with only the first launch of the last block, and the first counters with
 * their names. Omits source code, machine code, sections, and recommendations.
 */
export function smallReport(report: Uint8Array, counters = 12): Uint8Array {
  const view = new DataView(report.buffer, report.byteOffset, report.byteLength)
  let at = 4
  const take = (): Uint8Array => {
    const length = view.getUint32(at, true)
    at += 4 + length
    return report.subarray(at - length, at)
  }
  const parts = [report.subarray(0, 4), sized(take())]
  while (at < report.length) {
    const fields = [...fieldsOf(take())]
    const number = (wanted: number): number => {
      const field = fields.find((one) => one.number === wanted)?.whole
      if (!field) return 0
      return [...field.subarray(1)].reduce((sum, byte, n) => sum + (byte & 0x7f) * 128 ** n, 0)
    }
    const [sources, results, payload] = [number(1), number(2), number(5)]
    const end = at + payload
    for (let n = 0; n < sources; n += 1) take()
    const launch = results > 0 ? take() : null
    at = end
    const entry =
      launch &&
      concat(
        [...fieldsOf(launch)]
          .filter(
            (
              (seen) => (field) =>
                [1, 5, 6, 7, 10, 11, 21].includes(field.number) ||
                (field.number === 13 && (seen += 1) <= counters)
            )(0),
          )
          .map(({ whole }) => whole),
      )
    const payloadOf = entry ? sized(entry) : new Uint8Array()
    const header = concat([
      ...fields.filter((field) => [3, 4].includes(field.number)).map(({ whole }) => whole),
      ...(entry ? [uint32Field(2, 1)] : []),
      uint32Field(5, payloadOf.length),
    ])
    parts.push(sized(header), payloadOf)
    if (entry) break
  }
  return concat(parts)
}
