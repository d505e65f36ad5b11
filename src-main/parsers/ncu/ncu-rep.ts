/**
 * Parses ncu's report format, `.ncu-rep`.
 *
 * The file consists of the magic number `NVR\0`, a file header, and blocks. Each block has a header
 * and a payload of length-prefixed protobuf messages. Payloads contain the launches. Metric names
 * are in string tables that grow from block to block.
 *
 * For a truncated file, the result contains the launches before the truncation and a note about the
 * missing part. Lengths are compared with the available bytes before reading, so that invalid files
 * are rejected quickly.
 */
import { message, type Statement } from '../../domain/messages/message'
import { inputError } from '../../domain/errors'
import { sourceOf, type ByteSource } from '../byte-source'
import type { Extent, NcuLaunch, NcuValue } from './ncu-csv'
import { launchCode, type LaunchCode } from './ncu-rep-code'
import { countMetrics, decode, firstId, metricIn, type MessageOf } from './ncu-rep-messages'
import { withoutCasts } from '../../domain/programs/kernel-names'
import { unitOf } from './ncu-rep-units'

export interface NcuRep {
  launches: NcuLaunch[]
  /**
   * Number of launches in the file. `launches` has fewer entries if `take` stopped the collection.
   */
  total: number
  /**
   * Total time, measured under ncu, of the launches that are not in `launches`. Null if any of
   * these times is missing.
   */
  restMs: number | null
  /** Messages about unreadable parts of the report. */
  notes: Statement[]
  /** ncu version, such as `2025.3.1.0`. Null if the report does not contain the version. */
  ncuVersion: string | null
  /** Time when the report was created. */
  createdAt: Date | null
  /** Command line that produced the report. The command line contains paths on the machine. */
  commandLine: string | null
  /**
   * Returns a launch's code, or null if the code cannot be decoded. The code is decoded on every
   * call.
   */
  codeOf: (launch: NcuLaunch, nameOf: (path: string) => string) => LaunchCode | null
}

const magic = [0x4e, 0x56, 0x52, 0]
/** Highest file version whose parsed values were verified against ncu's own output (2025.3.1). */
const knownVersion = 7
const maxNotes = 20
const durationName = 'gpu__time_duration.sum'

export const isNcuRep = (bytes: Uint8Array): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

/**
 * Limits on the number of invalid entries and the number of metrics per launch.
 *
 * After too many invalid entries, parsing stops, because a gigabyte of invalid entries would take
 * minutes. A launch has a few thousand metrics. The limit prevents a damaged report from exhausting
 * the memory.
 */
const maxUnreadable = 10_000
const maxMetrics = 100_000
/**
 * Maximum size of a block header with its string tables, which normally take a few hundred
 * kilobytes.
 */
const maxHeaderBytes = 64 * 2 ** 20

/** Thrown internally if the bytes end before the declared length. */
class CutOff extends Error {}

/** Position and length of a length-prefixed message in the file. */
interface Place {
  at: number
  length: number
}

class Cursor {
  constructor(
    readonly source: ByteSource,
    public at: number,
    readonly end = source.size,
  ) {}

  get left(): number {
    return this.end - this.at
  }

  /** Returns the position and length of the next message without reading it. */
  placeSized(): Place {
    if (this.left < 4) throw new CutOff()
    const bytes = this.source.read(this.at, 4)
    const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true)
    this.at += 4
    if (length > this.left) throw new CutOff()
    this.at += length
    return { at: this.at - length, length }
  }
}

const bytesAt = (source: ByteSource, { at, length }: Place): Uint8Array => {
  const bytes = source.read(at, length)
  if (bytes.length < length) throw new CutOff()
  return bytes
}

interface State extends Omit<NcuRep, 'codeOf'> {
  source: ByteSource
  take: (launch: NcuLaunch) => boolean
  wanted: boolean
  strings: string[]
  /** Launch positions by id. A launch is read again when its code is needed. */
  entries: Place[]
  /** Positions of the machine code, by id. */
  sources: Map<bigint, Place>
  /** Process id in the current block. */
  processId: number | null
  ranges: number
  unnamed: number
  unreadable: number
}

/**
 * Parses a report. `take` receives each launch and returns whether to continue. If `take` returns
 * false, only the remaining launches' times are read.
 */
export function parseNcuRep(
  from: Uint8Array | ByteSource,
  take: (launch: NcuLaunch) => boolean = () => true,
): NcuRep {
  const source = from instanceof Uint8Array ? sourceOf(from) : from
  if (!isNcuRep(source.read(0, magic.length)))
    throw inputError(message('imports.noReport'), message('imports.nameReport'))
  const state: State = {
    source,
    launches: [],
    total: 0,
    restMs: 0,
    notes: [],
    ncuVersion: null,
    createdAt: null,
    commandLine: null,
    take,
    wanted: true,
    strings: [],
    entries: [],
    sources: new Map(),
    processId: null,
    ranges: 0,
    unnamed: 0,
    unreadable: 0,
  }
  const cursor = new Cursor(source, magic.length)
  try {
    const { version } = decode('FileHeader', bytesAt(source, cursor.placeSized()))
    if (version > knownVersion)
      state.notes.push(message('imports.formatVersion', { version, known: knownVersion }))
    while (cursor.left > 0) readBlock(cursor, state)
  } catch (error) {
    const missing =
      state.launches.length === 0
        ? message('part.noLaunchReached')
        : message('part.launchesMissing', { count: state.total })
    state.notes.push(
      error instanceof CutOff
        ? message('imports.cutOff', { at: source.size, missing })
        : message('imports.unreadableFrom', { at: cursor.at, text: sentence(error), missing }),
    )
  }
  if (state.ranges > 0) state.notes.push(message('imports.ranges', { count: state.ranges }))
  if (state.unreadable > maxNotes)
    state.notes.push(message('imports.launchesUnreadable', { count: state.unreadable }))
  if (state.unnamed > 0) state.notes.push(message('imports.unnamed', { count: state.unnamed }))
  const { launches, total, restMs, notes, ncuVersion, createdAt, commandLine } = state
  const codeOf: NcuRep['codeOf'] = (launch, nameOf) => codeIn(state, launch, nameOf)
  return { launches, total, restMs, notes, ncuVersion, createdAt, commandLine, codeOf }
}

function codeIn(
  { source: file, entries, sources, strings }: State,
  { id, kernelName }: NcuLaunch,
  nameOf: (path: string) => string,
): LaunchCode | null {
  const entry = entries[id]
  if (!entry) return null
  try {
    const detailed = decode('Detailed', bytesAt(file, entry))
    const source = sources.get(detailed.source?.id ?? 0n)
    return launchCode({
      name: kernelName,
      detailed,
      source: source ? decode('Source', bytesAt(file, source)) : null,
      metricName: (index) => strings[index],
      nameOf,
    })
  } catch {
    // Ignore damaged code. The launch's counters have already been read.
    return null
  }
}

const sentence = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 120) : String(error)

/**
 * Parses a block. Throws an error if the header is unreadable, because the block's length is then
 * unknown.
 */
function readBlock(cursor: Cursor, state: State): void {
  const place = cursor.placeSized()
  if (place.length === 0 || place.length > maxHeaderBytes)
    throw new Error(`a block's header has ${place.length} bytes`)
  const header = decode('BlockHeader', bytesAt(state.source, place))
  readSession(header.session, state)
  state.processId = header.process?.id || null
  // Push names one at a time, because spreading a large table would overflow the stack.
  for (const text of header.strings?.entries ?? []) state.strings.push(text)

  const whole = header.payloadBytes <= cursor.left
  const end = cursor.at + Math.min(header.payloadBytes, cursor.left)
  const payload = new Cursor(state.source, cursor.at, end)
  cursor.at = end
  for (let n = 0; n < header.sources; n += 1) readSource(payload.placeSized(), state)
  for (let n = 0; n < header.results; n += 1) readResult(payload.placeSized(), state)
  state.ranges += header.ranges + header.commandLists + header.graphs
  if (!whole) throw new CutOff()
}

function readResult(place: Place, state: State): void {
  const entry = bytesAt(state.source, place)
  if (!state.wanted) {
    state.total += 1
    state.restMs = addMs(state.restMs, entry, state.strings)
    return
  }
  try {
    if (countMetrics(entry) > maxMetrics) throw new Error(`it has more than ${maxMetrics} metrics`)
    const result = decode('Result', entry)
    if (result.metrics.length === 0 && !result.functionName && !result.mangledName)
      throw new Error('it is empty')
    // A missing field is decoded as 0, and a launch with 0 blocks is invalid.
    if (Math.min(...extentOf(result.grid), ...extentOf(result.block)) < 1)
      throw new Error('it has no grid or no block size')
    const launch = toLaunch(result, state)
    state.launches.push(launch)
    state.entries.push(place)
    state.total += 1
    state.wanted = state.take(launch)
  } catch (error) {
    state.unreadable += 1
    if (state.unreadable <= maxNotes)
      state.notes.push(
        message('imports.launchUnreadable', { at: place.at - 4, text: sentence(error) }),
      )
    if (state.unreadable === maxUnreadable) throw new Error('it contains no launches')
  }
}

/** Adds a launch's duration to the sum. Returns null if any launch has no duration. */
function addMs(sum: number | null, entry: Uint8Array, strings: readonly string[]): number | null {
  try {
    const ns = sum === null ? null : metricIn(entry, (index) => strings[index] === durationName)
    return sum === null || ns === null ? null : sum + ns / 1e6
  } catch {
    return null
  }
}

/**
 * Maximum id length in bytes. The id is the first field, so reading the first few bytes is
 * sufficient.
 */
const idBytes = 11

/**
 * Records the position of machine code and decodes only its id. The code itself is read when it is
 * needed.
 */
function readSource(place: Place, state: State): void {
  try {
    const id = firstId(state.source.read(place.at, Math.min(idBytes, place.length)))
    // Some sources are repeated without their code, so keep the longest version.
    if (place.length > (state.sources.get(id)?.length ?? 0)) state.sources.set(id, place)
  } catch {
    // Ignore unreadable machine code, because the launches' counters are readable without it.
  }
}

function readSession(session: MessageOf<'Session'> | undefined, state: State): void {
  if (!session) return
  const seconds = Number(session.createdAt)
  // A Date can represent at most 8.64e12 seconds.
  if (seconds > 0 && seconds < 8.64e12) state.createdAt ??= new Date(seconds * 1000)
  if (session.commandLine) state.commandLine ??= session.commandLine
  const target = session.versions.find(({ tool }) => tool.startsWith('Nsight Compute'))
  state.ncuVersion ??= /^[\d.]+/.exec(target?.version ?? '')?.[0] ?? null
}

const extentOf = (extent: MessageOf<'Extent'> | undefined): Extent => [
  Number(extent?.x ?? 0n),
  Number(extent?.y ?? 0n),
  Number(extent?.z ?? 0n),
]

function toLaunch(result: MessageOf<'Result'>, state: State): NcuLaunch {
  const metrics = toMetrics(result.metrics, state)
  const number = (name: string): number | null => {
    const value = metrics[name]?.value
    return typeof value === 'number' ? value : null
  }
  const major = number('device__attribute_compute_capability_major')
  const minor = number('device__attribute_compute_capability_minor')
  const ranges = openRanges(result)
  return {
    id: state.launches.length,
    processId: state.processId ?? (result.threadId || null),
    kernelName:
      withoutCasts(result.demangledName) || result.functionName || result.mangledName || 'unnamed',
    rung: ranges.findLast(({ isPushed }) => isPushed)?.name ?? null,
    ranges: ranges.map(({ name }) => name),
    grid: extentOf(result.grid),
    block: extentOf(result.block),
    passes: number('profiler__replayer_passes'),
    device: number('device__attribute_device_index'),
    computeCapability: major === null || minor === null ? null : `${major}.${minor}`,
    metrics,
  }
}

function toMetrics(
  results: readonly MessageOf<'Metric'>[],
  state: State,
): Record<string, NcuValue> {
  const metrics: Record<string, NcuValue> = {}
  for (const { name: index, value } of results) {
    const name = state.strings[index]
    if (name === undefined) state.unnamed += 1
    // Ignore breakdown and group metrics, which define the layout of ncu's pages. The values of
    // these metrics are lists, not numbers.
    else if (!/^(breakdown|group):/.test(name))
      metrics[name] = { ...toFigure(value), unit: unitOf(name) }
  }
  return metrics
}

/** Converts a value. If ncu has no result, the value is missing, NaN, or an empty string. */
function toFigure(value: MessageOf<'Value'> | undefined): Omit<NcuValue, 'unit'> {
  const figure = value?.choice.value
  if (figure === undefined || typeof figure === 'string') return { value: figure || null }
  const number = Number(figure)
  return Number.isFinite(number) ? { value: number } : { value: null, reported: String(number) }
}

/**
 * Returns the open ranges in NVTX's default domain that contain the launch, in opening order.
 * Push/pop ranges must be on the launching thread, but start/end ranges can be on any thread.
 * Ignores the other NVTX domains, which libraries use.
 */
function openRanges({
  nvtx,
  threadId,
}: MessageOf<'Result'>): { name: string; isPushed: boolean }[] {
  if (!nvtx) return []
  const own = nvtx.domains.find(({ name }) => name === '<default domain>')?.id
  const pushed = nvtx.threads
    .filter(({ id }) => Number(id) === threadId)
    .flatMap(({ stacks }) => stacks)
    .filter(({ domain }) => domain === own)
    .flatMap(({ ranges }) => ranges.map((range) => ({ ...range, isPushed: true })))
  const started = nvtx.startEnd
    .filter(({ domain }) => domain === own)
    .flatMap(({ ranges }) => ranges.map((range) => ({ ...range, isPushed: false })))
  return [...pushed, ...started]
    .filter(({ name }) => name !== '')
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
}
