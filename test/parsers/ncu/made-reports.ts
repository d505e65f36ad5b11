/**
 * Creates synthetic reports for cases without a capture. Each launch is the message of a real
 * launch with new NVTX ranges, a new thread, and a new time. All other data in the message is
 * unchanged.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

export type Write = (writer: BinaryWriter) => unknown

const bytesOf = (write: Write): Uint8Array => {
  const writer = new BinaryWriter()
  write(writer)
  return writer.finish()
}
const nested = (writer: BinaryWriter, field: number, write: Write): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).bytes(bytesOf(write))
const text = (writer: BinaryWriter, field: number, value: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).string(value)
const number = (writer: BinaryWriter, field: number, value: number): BinaryWriter =>
  writer.tag(field, WireType.Varint).uint64(value)

/** Returns the message with some fields replaced. The bytes of all other fields do not change. */
export function withFields(message: Uint8Array, fields: ReadonlyMap<number, Write>): Uint8Array {
  const reader = new BinaryReader(message)
  const writer = new BinaryWriter()
  while (reader.pos < reader.len) {
    const from = reader.pos
    const [field, wireType] = reader.tag()
    reader.skip(wireType, field)
    if (!fields.has(field)) writer.raw(message.subarray(from, reader.pos))
  }
  for (const write of fields.values()) write(writer)
  return writer.finish()
}

const sized = (bytes: Uint8Array): Uint8Array => {
  const all = new Uint8Array(bytes.length + 4)
  new DataView(all.buffer).setUint32(0, bytes.length, true)
  all.set(bytes, 4)
  return all
}

export interface Block {
  header: Uint8Array
  sources: Uint8Array[]
  results: Uint8Array[]
}

const numberIn = (message: Uint8Array, wanted: number): number => {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === wanted) return Number(reader.uint64())
    reader.skip(wireType, field)
  }
  return 0
}

export function takeApart(report: Uint8Array): { start: Uint8Array; blocks: Block[] } {
  const view = new DataView(report.buffer, report.byteOffset, report.byteLength)
  let at = 4
  const next = (): Uint8Array => {
    const length = view.getUint32(at, true)
    at += 4 + length
    return report.subarray(at - length, at)
  }
  next()
  const start = report.subarray(0, at)
  const blocks: Block[] = []
  while (at < report.length) {
    const header = next()
    const sources = Array.from({ length: numberIn(header, 1) }, next)
    blocks.push({ header, sources, results: Array.from({ length: numberIn(header, 2) }, next) })
  }
  return { start, blocks }
}

export function blockBytes({ header, sources, results }: Block, more?: Map<number, Write>) {
  const payload = [...sources, ...results].map(sized)
  const length = payload.reduce((sum, part) => sum + part.length, 0)
  const own = withFields(
    header,
    new Map<number, Write>([
      [1, (writer) => number(writer, 1, sources.length)],
      [2, (writer) => number(writer, 2, results.length)],
      [5, (writer) => number(writer, 5, length)],
      ...(more ?? []),
    ]),
  )
  return Buffer.concat([sized(own), ...payload])
}

/**
 * The name of a range and the number of the call that opened the range. Later calls have higher
 * numbers.
 */
export type Opened = readonly [name: string, order: number]

export interface Ranges {
  /** Push/pop ranges by thread, outermost first. */
  pushed?: Readonly<Record<number, readonly Opened[]>>
  started?: readonly Opened[]
  /** Push/pop ranges of a library's own domain, by thread. */
  library?: Readonly<Record<number, readonly Opened[]>>
}

const [defaultDomain, libraryDomain] = [0, 77]

export const nvtx =
  ({ pushed = {}, started = [], library = {} }: Ranges): Write =>
  (writer) => {
    for (const [id, name] of [
      [defaultDomain, '<default domain>'],
      [libraryDomain, 'library'],
    ] as const)
      nested(writer, 1, (domain) => text(number(domain, 1, id), 2, name))
    const threads = new Set([...Object.keys(pushed), ...Object.keys(library)].map(Number))
    for (const thread of threads)
      nested(writer, 2, (own) => {
        number(own, 1, thread)
        for (const [domain, stack] of [
          [defaultDomain, pushed[thread]],
          [libraryDomain, library[thread]],
        ] as const)
          nested(own, 2, (one) => {
            number(one, 1, domain)
            for (const [name, order] of stack ?? [])
              nested(one, 3, (range) => number(text(range, 1, name), 3, order))
          })
      })
    nested(writer, 3, (domain) => {
      number(domain, 1, defaultDomain)
      for (const [name, order] of started)
        nested(domain, 3, (range) => number(text(number(range, 1, order), 2, name), 4, order))
    })
    number(writer, 4, defaultDomain)
  }

export interface MadeLaunch {
  /** The index of the real launch that this launch is based on. */
  of?: number
  thread?: number
  ranges?: Ranges
  more?: ReadonlyMap<number, Write>
}

/**
 * Returns a report whose launches are based on a real report's launches. The new report has the
 * real report's sources, names, and session.
 */
export function madeReport(base: Uint8Array, launches: readonly MadeLaunch[]): Uint8Array {
  const { start, blocks } = takeApart(base)
  const real = blocks.flatMap(({ results }) => results)
  const made = launches.map(({ of = 0, thread, ranges, more }) =>
    withFields(
      real[of]!,
      new Map<number, Write>([
        ...(thread === undefined
          ? []
          : [[1, (writer: BinaryWriter) => number(writer, 1, thread)] as const]),
        ...(ranges
          ? [[21, (writer: BinaryWriter) => nested(writer, 21, nvtx(ranges))] as const]
          : []),
        ...(more ?? []),
      ]),
    ),
  )
  const last = blocks.at(-1)!
  return new Uint8Array(
    Buffer.concat([
      start,
      ...blocks.map((block) => blockBytes({ ...block, results: [] })),
      blockBytes({ header: last.header, sources: [], results: made }),
    ]),
  )
}

/**
 * Returns a report like those from ncu 2025.4 and later, which sample only cycles without an issued
 * instruction. The report is created from an ncu 2025.3 report. The metrics of all samples are
 * renamed to meaningless names of the same length.
 */
export function withNotIssuedSamplesAlone(report: Uint8Array): Uint8Array {
  const text = Buffer.from(report).toString('latin1')
  const renamed = text.replaceAll(
    /smsp__pcsamp_(warps_issue_stalled_[a-z_]+)/g,
    (name, rest: string) => (name.endsWith('_not_issued') ? name : `smsp__renamed${rest}`),
  )
  return new Uint8Array(Buffer.from(renamed, 'latin1'))
}
