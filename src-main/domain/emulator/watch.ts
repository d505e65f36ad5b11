/**
 * Who wrote and read what: finds reads of memory that nothing was written to, and accesses of two warps to one place of
 * shared memory that no barrier orders. Order is told by vector clocks, so that a race is found whichever warp happens
 * to run first. Warps alone are told apart: the lanes of one are taken to be ordered by the code between them.
 */
import type { Allocation } from './device'
import type { Finding } from './site'
import { lanes } from './site'
import type { BlockWatch, Warp } from './warp'

interface Setting {
  warps: number
  sharedBytes: number
  /** 1 for each byte of the memory of buffers that was written to; what is written here is added. */
  globalWritten: Uint8Array
  report(finding: Finding): void
}

/** What a kernel may read at first: of so many bytes, those of these buffers. */
export function writtenBytes(memoryBytes: number, written: readonly Allocation[]): Uint8Array {
  const bytes = new Uint8Array(memoryBytes)
  for (const { offset, bytes: own } of written) bytes.fill(1, offset, offset + own)
  return bytes
}

const none = -1

export function createWatch(setting: Setting): BlockWatch {
  const { warps, sharedBytes, globalWritten, report } = setting

  /** By byte of shared memory: who wrote it last, when by its own clock, and where. */
  const writer = new Int32Array(sharedBytes)
  const writeClock = new Int32Array(sharedBytes)
  const writePlace = new Int32Array(sharedBytes)
  const writeThread = new Int32Array(sharedBytes)
  const writeAtomic = new Uint8Array(sharedBytes)
  /** By byte and warp: when it was read since, and where. */
  const readClock = new Int32Array(sharedBytes * warps)
  const readPlace = new Int32Array(sharedBytes * warps)
  /** What each warp knows of the others' clocks. */
  const clocks = new Int32Array(warps * warps)
  const arrivals = new Map<number, Int32Array>()
  const released = new Map<number, Int32Array>()

  /** What the warp knows, joined to what others had known there. */
  const leave = (places: Map<number, Int32Array>, place: number, warp: number): void => {
    const known = places.get(place) ?? new Int32Array(warps)
    for (let other = 0; other < warps; other++)
      known[other] = Math.max(known[other]!, knows(warp, other))
    places.set(place, known)
    clocks[warp * warps + warp]!++
  }
  const knows = (warp: number, other: number): number => clocks[warp * warps + other]!
  const beginBlock = (): void => {
    writer.fill(none)
    readClock.fill(0)
    clocks.fill(0)
    arrivals.clear()
    released.clear()
    for (let warp = 0; warp < warps; warp++) clocks[warp * warps + warp] = 1
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
      const joint = new Int32Array(warps)
      for (const warp of met)
        for (let other = 0; other < warps; other++)
          joint[other] = Math.max(joint[other]!, knows(warp, other))
      for (const arrived of arrivals.values())
        for (let other = 0; other < warps; other++)
          joint[other] = Math.max(joint[other]!, arrived[other]!)
      arrivals.clear()
      for (const warp of met) {
        for (let other = 0; other < warps; other++) clocks[warp * warps + other] = joint[other]!
        clocks[warp * warps + warp]!++
      }
    },
    arrive(barrier, warp) {
      leave(arrivals, barrier, warp)
    },
    release(address, warp) {
      leave(released, address, warp)
    },
    acquire(address, warp) {
      const known = released.get(address)
      if (!known) return
      for (let other = 0; other < warps; other++) {
        const place = warp * warps + other
        clocks[place] = Math.max(clocks[place]!, known[other]!)
      }
    },
    global(at, warp, lane, offset, bytes, write) {
      if (write) {
        globalWritten.fill(1, offset, offset + bytes)
        return
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
      for (let byte = address; byte < address + bytes; byte++) {
        const last = writer[byte]!
        const together = atomic && writeAtomic[byte] === 1
        if (last === none) unwritten ||= !write || atomic
        else if (last !== me && !together && writeClock[byte]! > knows(me, last))
          race(at, thread, bytes, address, write, {
            at: writePlace[byte]!,
            write: true,
            thread: writeThread[byte]!,
          })
        if (write) {
          for (let other = 0; other < warps; other++) {
            const read = readClock[byte * warps + other]!
            if (read === 0 || other === me || read <= knows(me, other) || atomic) continue
            race(at, thread, bytes, address, write, {
              at: readPlace[byte * warps + other]!,
              write: false,
              thread: other * lanes,
            })
          }
          writer[byte] = me
          writeClock[byte] = now
          writePlace[byte] = at
          writeThread[byte] = thread
          writeAtomic[byte] = atomic ? 1 : 0
        } else {
          readClock[byte * warps + me] = now
          readPlace[byte * warps + me] = at
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
