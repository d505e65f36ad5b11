/** Real inputs cut to what they are made of: a reader takes microseconds for them, so that a campaign reaches a million. */

/** The first items of every list, and of records of many figures one in so many. */
export function lean(value: unknown, items = 1, figures = 12): unknown {
  if (Array.isArray(value)) {
    // Three numbers are an extent.
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

/** A quoted table of ncu with its own first columns, then every `step`th one, and as many rows. */
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

/** An XML document without the elements that nothing is read from. */
export const withoutElements = (xml: string, tags: readonly string[]): string =>
  tags.reduce(
    (text, tag) => text.replaceAll(new RegExp(`\\s*<${tag}>[^]*?</${tag}>`, 'g'), ''),
    xml,
  )

/** Fields of a protobuf message, each with its tag and bytes as they are. */
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

/** A `uint32` field of five bytes, whatever its value. */
const uint32Field = (number: number, value: number): Uint8Array =>
  Uint8Array.from([
    number << 3,
    ...[0, 7, 14, 21].map((shift) => ((value >>> shift) & 0x7f) | 0x80),
    (value >>> 28) & 0x0f,
  ])

/**
 * A report of ncu with its last block's first launch, its first counters and the names that they have. Source code, machine code,
 * sections and advice are left out.
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
