/**
 * Records the warps of some blocks for the timing simulation. A recording contains the pieces
 * (straight-line code segments) that each warp executes. The recording also contains each warp's
 * accesses by line and sector, its arrivals, and its waits.
 */
import { countLanes } from '../emulator/site'
import type { AccessKind, AccessSpace, Meeting, Trace } from '../emulator/trace'
import type { Block, Warp } from '../emulator/warp'
import { lineBytes, sectorBytes } from './memory-units'

/**
 * Kinds of events. An event starts with the index of the piece, the index of the instruction, and
 * the kind. The kind determines which data follows.
 */
export const eventKinds = {
  /** The data is the number of wavefronts. */
  shared: 0,
  /**
   * The data starts with four counts: wavefronts, lanes, bytes per lane, and lines. Each line's
   * number and sectors follow.
   */
  load: 1,
  store: 2,
  atomic: 3,
  /** An atomic that returns no result. The data has the same format as for a load. */
  reduction: 4,
  copy: 5,
  copyPastL1: 6,
  /** The data is the number of bytes that the whole warp accesses. */
  local: 7,
  /** The data is the number of lines, followed by each line's number and sectors. */
  bulkLoad: 8,
  bulkStore: 9,
  /** The data is the index and the phase of the meeting (a barrier). */
  arrive: 10,
  arriveAfterCopies: 11,
  arriveAfterBulkCopy: 12,
  wait: 13,
} as const

/** Number of words before the data of an event. */
export const eventHead = 3

/**
 * Bit position of the mask of completely accessed sectors. The four bits below it are the mask of
 * all accessed sectors.
 */
export const wholeSectors = 4

/** A list of 32-bit words that grows on demand. */
export class Words {
  private words = new Int32Array(256)
  length = 0

  push(word: number): void {
    if (this.length === this.words.length) {
      const more = new Int32Array(2 * this.length)
      more.set(this.words)
      this.words = more
    }
    this.words[this.length++] = word
  }

  set(place: number, word: number): void {
    this.words[place] = word
  }

  done(): Int32Array {
    return this.words.subarray(0, this.length)
  }
}

export interface WarpTrace {
  /** Indices of the first and last instruction of each piece. */
  readonly pieces: Int32Array
  readonly events: Int32Array
}

export interface BlockTrace {
  readonly number: number
  /** Rank of the block in its cluster. */
  readonly rank: number
  readonly warps: readonly WarpTrace[]
  readonly instructions: number
}

export interface LaunchTrace {
  readonly blocks: readonly BlockTrace[]
  /** For each barrier and phase, the number of arrivals that complete the phase. */
  readonly arrivals: readonly (readonly number[])[]
}

interface RecordedWarp {
  pieces: Words
  events: Words
  instructions: number
  /** Whether any event was recorded after events of later pieces. */
  unordered: boolean
}

interface Recorded {
  block: Block
  warps: RecordedWarp[]
}

/** Lines and sectors that the lanes of an access use. */
class Lines {
  readonly line = new Float64Array(64)
  readonly sectors = new Int32Array(64)
  /** Mask of the accessed bytes in each sector, with one bit per byte. */
  private readonly covered = new Int32Array(4 * 64)
  count = 0

  clear(): void {
    this.count = 0
  }

  add(address: number, bytes: number): void {
    for (let at = address; at < address + bytes;) {
      const line = Math.floor(at / lineBytes)
      let place = this.count - 1
      while (place >= 0 && this.line[place] !== line) place--
      if (place < 0) {
        if (this.count === this.line.length) return
        place = this.count++
        this.line[place] = line
        this.sectors[place] = 0
        this.covered.fill(0, 4 * place, 4 * place + 4)
      }
      const sector = Math.floor((at % lineBytes) / sectorBytes)
      const first = at % sectorBytes
      const count = Math.min(sectorBytes - first, address + bytes - at)
      this.sectors[place]! |= 1 << sector
      this.covered[4 * place + sector]! |= count === 32 ? -1 : ((1 << count) - 1) << first
      at += count
    }
  }

  /**
   * Returns the mask of accessed sectors. The next four bits are the mask of completely accessed
   * sectors.
   */
  bits(place: number): number {
    let whole = 0
    for (let sector = 0; sector < 4; sector++)
      if (this.covered[4 * place + sector] === -1) whole |= 1 << sector
    return this.sectors[place]! | (whole << wholeSectors)
  }
}

const kindOf: Record<Exclude<AccessKind, 'atomic'>, number> = {
  load: eventKinds.load,
  store: eventKinds.store,
  copy: eventKinds.copy,
  'copy-past-l1': eventKinds.copyPastL1,
}

const arrivalOf = {
  warp: eventKinds.arrive,
  copies: eventKinds.arriveAfterCopies,
  'bulk-copy': eventKinds.arriveAfterBulkCopy,
}

export interface Recorder {
  readonly trace: Trace
  done(): LaunchTrace
}

/** Returns the length in words of the event at index `at`. */
export function eventWords(events: Int32Array, at: number): number {
  const kind = events[at + 2]!
  if (kind === eventKinds.shared || kind === eventKinds.local) return eventHead + 1
  if (kind >= eventKinds.arrive) return eventHead + 2
  const lines = linesAt(events, at)
  return lines - at + 1 + 2 * events[lines]!
}

/** Returns the index of the line count within an access or a bulk copy. */
export const linesAt = (events: Int32Array, at: number): number => {
  const kind = events[at + 2]!
  const bulk = kind === eventKinds.bulkLoad || kind === eventKinds.bulkStore
  return at + eventHead + (bulk ? 0 : 3)
}

/** Returns the events sorted by piece. */
function inOrder(events: Int32Array): Int32Array {
  const places: { at: number; words: number }[] = []
  for (let at = 0; at < events.length;) {
    const words = eventWords(events, at)
    places.push({ at, words })
    at += words
  }
  places.sort((a, b) => events[a.at]! - events[b.at]! || a.at - b.at)
  const sorted = new Int32Array(events.length)
  let to = 0
  for (const { at, words } of places) {
    sorted.set(events.subarray(at, at + words), to)
    to += words
  }
  return sorted
}

/**
 * Creates a recorder. `mostInstructions` limits the number of instructions per warp, in order to
 * record only the start of a launch.
 */
export function createRecorder(mostInstructions = Infinity): Recorder {
  const blocks: Recorded[] = []
  const byBlock = new Map<Block, Recorded>()
  const lines = new Lines()
  const meetings = new Map<string, number>()
  const phases: number[] = []
  const arrivals: number[][] = []
  let ended = false

  let last: Warp | null = null
  let own: RecordedWarp
  const of = (warp: Warp): RecordedWarp => {
    if (warp === last) return own
    let recorded = byBlock.get(warp.block)
    if (!recorded) {
      // The emulator reuses the memory of blocks. The recorder therefore removes a finished
      // cluster's blocks from its maps.
      byBlock.clear()
      meetings.clear()
      for (const block of warp.block.cluster.blocks) {
        const warps = block.warps.map(() => ({
          ...{ pieces: new Words(), events: new Words(), instructions: 0, unordered: false },
        }))
        const fresh = { block, warps }
        byBlock.set(block, fresh)
        blocks.push(fresh)
      }
      recorded = byBlock.get(warp.block)!
    }
    last = warp
    own = recorded.warps[warp.number]!
    return own
  }

  const event = (warp: Warp, at: number, kind: number): Words => {
    const { pieces, events } = of(warp)
    events.push(pieces.length / 2 - 1)
    events.push(at)
    events.push(kind)
    return events
  }

  const idOf = (meeting: Meeting): number => {
    const { block } = meeting
    const key =
      meeting.kind === 'cluster'
        ? `${block.cluster.blocks[0]!.number} cluster`
        : meeting.kind === 'barrier'
          ? `${block.number} ${meeting.number}`
          : `${block.number} at ${meeting.offset}`
    let id = meetings.get(key)
    if (id === undefined) {
      id = phases.push(0) - 1
      meetings.set(key, id)
      arrivals.push([0])
    }
    return id
  }

  const putLines = (words: Words): void => {
    words.push(lines.count)
    for (let place = 0; place < lines.count; place++) {
      words.push(lines.line[place]!)
      words.push(lines.bits(place))
    }
  }

  let bulk: { words: Words; count: number } | null = null

  const trace: Trace = {
    get endsWarps() {
      return ended
    },
    enters(warp, from, end) {
      const recorded = of(warp)
      if (recorded.instructions >= mostInstructions) {
        ended = true
        return false
      }
      recorded.instructions += end - from + 1
      recorded.pieces.push(from)
      recorded.pieces.push(end)
      return true
    },
    access(warp, at, space: AccessSpace, kind, { mask, addresses, bytes, wavefronts, returns }) {
      if (mask === 0) return
      if (space === 'shared') {
        event(warp, at, eventKinds.shared).push(wavefronts)
        return
      }
      if (space === 'local') {
        event(warp, at, eventKinds.local).push(bytes * countLanes(mask))
        return
      }
      const number =
        kind === 'atomic' ? (returns ? eventKinds.atomic : eventKinds.reduction) : kindOf[kind]
      const words = event(warp, at, number)
      lines.clear()
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest)
        lines.add(addresses[lane]! >>> 0, bytes)
      }
      words.push(wavefronts)
      words.push(countLanes(mask))
      words.push(bytes)
      putLines(words)
    },
    copies(warp, at, toShared) {
      const words = event(warp, at, toShared ? eventKinds.bulkLoad : eventKinds.bulkStore)
      bulk = { words, count: words.length }
      words.push(0)
      lines.clear()
    },
    copied(address, bytes) {
      if (!bulk) return
      const { words, count } = bulk
      for (let at = address; at < address + bytes;) {
        const next = Math.min(address + bytes, (Math.floor(at / lineBytes) + 1) * lineBytes)
        const line = Math.floor(at / lineBytes)
        // The rows of a box are often contiguous. A range may therefore start in the line in which
        // the previous range ended.
        const goesOn = words.done()[count]! > 0 && lines.count > 0 && lines.line[0] === line
        if (!goesOn) lines.clear()
        lines.add(at, next - at)
        at = next
        if (goesOn) words.set(words.length - 1, lines.bits(0))
        else {
          words.push(line)
          words.push(lines.bits(0))
          words.set(count, words.done()[count]! + 1)
        }
      }
    },
    arrives(warp, at, meeting, by) {
      const id = idOf(meeting)
      const phase = phases[id]!
      const words = event(warp, at, arrivalOf[by])
      words.push(id)
      words.push(phase)
      arrivals[id]![phase]!++
      // A multicast copy reads global memory only once.
      if (by === 'bulk-copy') bulk = null
    },
    completes(meeting) {
      const id = idOf(meeting)
      phases[id]!++
      arrivals[id]!.push(0)
    },
    waits(warp, at, meeting, which) {
      const id = idOf(meeting)
      const phase = phases[id]! - (which === 'previous' ? 1 : 0)
      if (phase < 0) return
      const recorded = of(warp)
      const words = event(warp, at, eventKinds.wait)
      words.push(id)
      words.push(phase)
      // Other lanes of the warp may have executed later pieces since the waiting lanes arrived.
      const pieces = recorded.pieces.done()
      let piece = pieces.length / 2 - 1
      while (piece > 0 && pieces[2 * piece + 1] !== at) piece--
      recorded.unordered ||= piece < pieces.length / 2 - 1
      words.set(words.length - eventHead - 2, piece)
    },
  }
  return {
    trace,
    done: () => ({
      blocks: blocks.map(({ block, warps }) => ({
        number: block.number,
        rank: block.rank,
        warps: warps.map(({ pieces, events, unordered }) => ({
          pieces: pieces.done(),
          events: unordered ? inOrder(events.done()) : events.done(),
        })),
        instructions: warps.reduce((sum, { instructions }) => sum + instructions, 0),
      })),
      arrivals,
    }),
  }
}
