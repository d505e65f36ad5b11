/**
 * Tracks reads and writes to detect reads of uninitialized memory and races between warps.
 *
 * A race is a pair of unordered accesses by different warps to the same location in shared memory.
 * Vector clocks determine the order, so the detector finds a race regardless of which warp runs
 * first. The lanes of one warp are assumed to be ordered by the warp's code. Copies from other
 * blocks in a cluster are treated as one additional party, which only writes.
 */
import type { Allocation } from './device'
import type { Finding } from './site'
import { firstLane, lanes } from './site'
import type { BlockWatch, Warp } from './warp'

interface Setting {
  warps: number
  sharedBytes: number
  /** Tracking granularity in bytes. Every shared-memory access covers whole units. */
  unit: 1 | 4
  /**
   * One entry per byte of buffer memory. The entry is 1 if the byte has been written. The tracker
   * updates the entries.
   */
  globalWritten: Uint8Array
  report(finding: Finding): void
}

/**
 * Returns one flag for each of `memoryBytes` bytes. The flag is 1 for bytes of the `written`
 * buffers. These buffers are initialized, so a kernel may read them.
 */
export function writtenBytes(memoryBytes: number, written: readonly Allocation[]): Uint8Array {
  const bytes = new Uint8Array(memoryBytes)
  for (const { offset, bytes: own } of written) bytes.fill(1, offset, offset + own)
  return bytes
}

const none = -1
/** A word whose four bytes are all 1. */
const allWritten = 0x01010101

export function createWatch(setting: Setting): BlockWatch {
  const { warps, unit, globalWritten, report } = setting
  const units = Math.ceil(setting.sharedBytes / unit)
  const outside = warps
  const parties = warps + 1
  const globalWords = new Int32Array(
    globalWritten.buffer,
    globalWritten.byteOffset,
    globalWritten.length >>> 2,
  )

  /**
   * For each unit of shared memory: the last writer, the writer's clock value, and the instruction.
   */
  const writer = new Int32Array(units)
  const writeClock = new Int32Array(units)
  const writePlace = new Int32Array(units)
  const writeThread = new Int32Array(units)
  const writeAtomic = new Uint8Array(units)
  /** Mask of warps that have read the unit since the last write. */
  const readers = new Int32Array(units)
  /**
   * For each unit and warp: the clock value and the instruction of the last read. The values are
   * valid only for warps in `readers`.
   */
  const readClock = new Int32Array(units * warps)
  const readPlace = new Int32Array(units * warps)
  /**
   * For each party, the latest clock value of every other party that the party has synchronized
   * with.
   */
  const clocks = new Int32Array(parties * parties)
  const arrivals = new Map<number, Int32Array>()
  const released = new Map<number, Int32Array>()

  /**
   * Publishes a warp's clocks at a synchronization point and merges them with the clocks published
   * there earlier.
   */
  const leave = (places: Map<number, Int32Array>, place: number, warp: number): void => {
    const known = places.get(place) ?? new Int32Array(parties)
    for (let other = 0; other < parties; other++)
      known[other] = Math.max(known[other]!, knows(warp, other))
    places.set(place, known)
    clocks[warp * parties + warp]!++
  }
  const knows = (warp: number, other: number): number => clocks[warp * parties + other]!
  const beginBlock = (): void => {
    writer.fill(none)
    readers.fill(0)
    clocks.fill(0)
    arrivals.clear()
    released.clear()
    for (let party = 0; party < parties; party++) clocks[party * parties + party] = 1
  }
  beginBlock()

  const reported = new Set<string>()
  const race = (
    at: number,
    thread: number,
    bytes: number,
    address: number,
    write: boolean,
    other: { at: number; write: boolean; thread: number },
  ): void => {
    const key = `${at} ${other.at} ${write} ${other.write}`
    if (reported.has(key)) return
    reported.add(key)
    report({
      kind: 'race',
      at,
      write,
      bytes,
      thread,
      block: 0,
      address,
      other,
    })
  }

  return {
    beginBlock,
    barrier(met) {
      const joint = new Int32Array(parties)
      for (const warp of met)
        for (let other = 0; other < parties; other++)
          joint[other] = Math.max(joint[other]!, knows(warp, other))
      for (const arrived of arrivals.values())
        for (let other = 0; other < parties; other++)
          joint[other] = Math.max(joint[other]!, arrived[other]!)
      arrivals.clear()
      for (const warp of met) {
        for (let other = 0; other < parties; other++) clocks[warp * parties + other] = joint[other]!
        clocks[warp * parties + warp]!++
      }
    },
    arrive(barrier, warp) {
      leave(arrivals, barrier, warp)
    },
    release(address, warp) {
      leave(released, address, warp ?? outside)
    },
    copiedHere(at, thread, address, bytes) {
      const end = (address + bytes) / unit
      for (let unitAt = address / unit; unitAt < end; unitAt++) {
        // The sending block's barrier ordered the copy after the earlier reads. The receiving
        // block's clocks do not record this order, so discard the reads.
        readers[unitAt] = 0
        writer[unitAt] = outside
        writeClock[unitAt] = knows(outside, outside)
        writePlace[unitAt] = at
        writeThread[unitAt] = thread
        writeAtomic[unitAt] = 0
      }
    },
    acquire(address, warp) {
      const known = released.get(address)
      if (!known) return
      for (let other = 0; other < parties; other++) {
        const place = warp * parties + other
        clocks[place] = Math.max(clocks[place]!, known[other]!)
      }
    },
    global(at, warp, lane, offset, bytes, write) {
      if (write) {
        globalWritten.fill(1, offset, offset + bytes)
        return
      }
      if (bytes % 4 === 0) {
        const end = (offset + bytes) >>> 2
        let at = offset >>> 2
        while (at < end && globalWords[at] === allWritten) at++
        if (at === end) return
      }
      for (let byte = offset; byte < offset + bytes; byte++)
        if (globalWritten[byte] === 0) {
          const thread = warp.number * lanes + lane
          report({
            kind: 'unwritten-global',
            at,
            write,
            bytes,
            thread,
            block: 0,
            address: offset,
          })
          return
        }
    },
    shared(at, warp: Warp, lane, address, bytes, write, atomic) {
      const me = warp.number
      const thread = me * lanes + lane
      const now = knows(me, me)
      let unwritten = false
      const end = (address + bytes) / unit
      for (let unitAt = address / unit; unitAt < end; unitAt++) {
        const last = writer[unitAt]!
        const together = atomic && writeAtomic[unitAt] === 1
        if (last === none) unwritten ||= !write || atomic
        else if (last !== me && !together && writeClock[unitAt]! > knows(me, last))
          race(at, thread, bytes, address, write, {
            at: writePlace[unitAt]!,
            write: true,
            thread: writeThread[unitAt]!,
          })
        if (write) {
          const others = atomic ? 0 : readers[unitAt]! & ~(1 << me)
          for (let rest = others; rest !== 0; rest &= rest - 1) {
            const other = firstLane(rest)
            if (readClock[unitAt * warps + other]! <= knows(me, other)) continue
            race(at, thread, bytes, address, write, {
              at: readPlace[unitAt * warps + other]!,
              write: false,
              thread: other * lanes,
            })
          }
          // An access ordered after this write is also ordered after the earlier reads.
          if (!atomic) readers[unitAt] = 0
          writer[unitAt] = me
          writeClock[unitAt] = now
          writePlace[unitAt] = at
          writeThread[unitAt] = thread
          writeAtomic[unitAt] = atomic ? 1 : 0
        } else {
          readers[unitAt]! |= 1 << me
          readClock[unitAt * warps + me] = now
          readPlace[unitAt * warps + me] = at
        }
      }
      if (unwritten)
        report({
          kind: 'unwritten-shared',
          at,
          write: false,
          bytes,
          thread,
          block: 0,
          address,
        })
    },
  }
}
