/**
 * Barriers in shared memory (`mbarrier`), which SYNCS and ARRIVES implement.
 *
 * The layout of the barrier's 64 bits follows nvcc's code. The field for the number of expected
 * threads, which is less than 2^20, starts at bit 1. The field for the number of missing threads
 * starts at bit 43. Both thread-count fields store 2^20 minus the number of threads. The phase
 * parity is bit 63.
 *
 * It is unknown where the hardware stores the number of outstanding bytes. Compiled code does not
 * read the byte count. The emulator stores the byte count in bits 21 to 42.
 */
import type { Meeting, Trace } from './trace'
import { type Block, type Control, type Step, type Warp } from './warp'
import { firstLane, lanes, type Site, eachLane } from './site'
import { addressOf, offsetMask, rankShift } from './memory-access'

const full = 1 << 20
const barrierBytes = 8

interface State {
  expected: number
  missing: number
  /**
   * Number of announced bytes that have not arrived. The number is negative if bytes arrived before
   * they were announced.
   */
  bytes: number
  parity: number
}

function readState(words: Int32Array, word: number): State {
  const low = words[word]! >>> 0
  const high = words[word + 1]! >>> 0
  return {
    expected: (full - (low >>> 1)) & (full - 1),
    missing: (full - (high >>> 11)) & (full - 1),
    bytes: ((((high & 0x7ff) << 11) | (low >>> 21)) << 10) >> 10,
    parity: high >>> 31,
  }
}

function writeState(words: Int32Array, word: number, { expected, missing, bytes, parity }: State) {
  words[word] = (((full - expected) & (full - 1)) << 1) | ((bytes & 0x7ff) << 21)
  words[word + 1] =
    (parity << 31) | (((full - missing) & (full - 1)) << 11) | ((bytes >> 11) & 0x7ff)
}

interface Change {
  arrivals: number
  bytes: number
  /** Whether the arriving threads drop out of later phases. */
  leaves?: boolean
}

/**
 * Applies a change to a barrier. The phase ends once all threads and all announced bytes have
 * arrived.
 */
export function change(
  at: Site,
  warp: Warp,
  { block, offset, place }: BarrierPlace,
  by: Change,
  from: Parameters<Trace['arrives']>[3] = 'warp',
): void {
  const { words } = at.views
  const { trace } = at.machine
  const state = readState(words, place >>> 2)
  const meeting: Meeting = { kind: 'mbarrier', block, offset }
  trace?.arrives(warp, at.index, meeting, from)
  state.missing -= by.arrivals
  state.bytes += by.bytes
  if (by.leaves) state.expected -= by.arrivals
  if (state.missing <= 0 && state.bytes === 0) {
    state.parity ^= 1
    state.missing = state.expected
    trace?.completes(meeting)
  }
  writeState(words, place >>> 2, state)
}

/** A barrier and its location, looked up by an address that contains the block's rank. */
export interface BarrierPlace {
  block: Block
  offset: number
  /** Byte offset of the barrier in the device memory. */
  place: number
}

/**
 * Returns the barrier at an address. Reports a finding and returns null if the address is invalid.
 */
export function barrierAt(
  at: Site,
  warp: Warp,
  lane: number,
  address: number,
): BarrierPlace | null {
  const offset = address & offsetMask
  const block = warp.block.cluster.blocks[address >>> rankShift]
  const aligned = offset % barrierBytes === 0
  if (block && aligned && offset + barrierBytes <= at.machine.sharedBytes)
    return { block, offset, place: block.shared + offset }
  at.machine.report({
    kind: aligned ? 'outside-shared' : 'misaligned',
    at: at.index,
    write: true,
    bytes: barrierBytes,
    thread: warp.number * lanes + lane,
    block: 0,
    address,
  })
  return null
}

/**
 * Returns a function that reads the address operand of SYNCS. Each lane's address includes the
 * block's rank.
 */
const addressesOf = (at: Site) => addressOf(at, at.memory(), 'generic-shared')

const valueOf = (at: Site) => {
  const operand = at.all('register', 'uniform-register').at(-1)
  return operand ?? at.unknown('it has no value')
}

/** SYNCS.EXCH.64: initializes a barrier. */
function exchange(at: Site): Step {
  at.expect('64')
  const value = valueOf(at)
  const address = addressesOf(at)
  const [low, high] = [at.raw(value, 0), at.raw(value, 1)]
  const puts = at.destinationIsZero ? [] : [at.put(0), at.put(1)]
  const { words } = at.views
  return (warp) => {
    const found = barrierAt(at, warp, 0, address(warp.base, 0))
    if (!found) return
    const { block, offset, place } = found
    const word = place >>> 2
    const old = [words[word]!, words[word + 1]!]
    words[word] = low(warp.base, 0)
    words[word + 1] = high(warp.base, 0)
    block.watch?.shared(at.index, warp, 0, offset, barrierBytes, true, false)
    for (const [part, put] of puts.entries())
      for (let lane = 0; lane < lanes; lane++) put(warp.base, lane, old[part]!)
  }
}

/** Maps an arrival's modifier to its effect, which is a function of the register's value. */
const changes: Record<string, (value: number) => Change> = {
  '': (bytes) => ({ arrivals: 1, bytes }),
  A1T0: () => ({ arrivals: 1, bytes: 0 }),
  ART0: (arrivals) => ({ arrivals, bytes: 0 }),
  A0TR: (bytes) => ({ arrivals: 0, bytes }),
  A0TX: (bytes) => ({ arrivals: 0, bytes: -bytes }),
}

/** SYNCS.ARRIVE: arrives at a barrier and returns the barrier's previous 64 bits. */
function arrive(at: Site): Step {
  at.expect('TRANS64')
  const kind = at.matching(/^A[01R]T[01RX]$/)[0] ?? ''
  const changeOf = changes[kind] ?? at.unknown()
  // A thread can leave the barrier only if it also arrives.
  const leaves = !kind.startsWith('A0') && at.has('OPTOUT')
  const value = at.raw(valueOf(at))
  const address = addressesOf(at)
  const puts = at.has('RED') || at.destinationIsZero ? [] : [at.put(0), at.put(1)]
  const { words } = at.views
  return (warp, active) =>
    eachLane((_, base, lane) => {
      const found = barrierAt(at, warp, lane, address(base, lane))
      if (!found) return
      const word = found.place >>> 2
      puts[0]?.(base, lane, words[word]!)
      puts[1]?.(base, lane, words[word + 1]!)
      // Each block has its own race-detector clocks, which exclude other blocks' warps.
      if (found.block === warp.block) found.block.watch?.release(found.offset, warp.number)
      change(at, warp, found, { ...changeOf(value(base, lane)), leaves })
    })(warp, active)
}

/**
 * ARRIVES.LDGSTSBAR: arrives when the thread's copies complete. The emulator completes copies at
 * issue. Without ARVCNT, the expected count is also incremented, which cancels the arrival.
 */
function arriveAfterCopies(at: Site): Step {
  at.expect('LDGSTSBAR', '64')
  const address = addressesOf(at)
  const counts = at.has('ARVCNT')
  return (warp, active) =>
    eachLane((_, base, lane) => {
      const found = barrierAt(at, warp, lane, address(base, lane))
      if (!found) return
      found.block.watch?.release(found.offset, warp.number)
      if (counts) change(at, warp, found, { arrivals: 1, bytes: 0 }, 'copies')
    })(warp, active)
}

/**
 * SYNCS.PHASECHK: tests whether a phase is complete. The operand register's highest bit is the
 * phase parity. In the emulator, TRYWAIT waits as long as other warps can run. On a GPU, TRYWAIT
 * times out after an unspecified time, so the iteration count of a TRYWAIT loop varies.
 */
export function phaseControl(at: Site): Control {
  const address = addressesOf(at)
  const token = at.raw(valueOf(at))
  const out = at.putPredicate(at.operands.outs[0])
  const { words } = at.views
  at.expect('PHASECHK', 'TRANS64')
  const waits = at.has('TRYWAIT')
  return (warp, split, active) => {
    split.at++
    if (active === 0) return
    const ended = (): number => {
      let mask = 0
      eachLane((_, base, lane) => {
        const found = barrierAt(at, warp, lane, address(base, lane))
        if (!found) return
        if (words[(found.place >>> 2) + 1]! >>> 31 !== token(base, lane) >>> 31) mask |= 1 << lane
      })(warp, active)
      return mask
    }
    const end = (): void => {
      const mask = ended()
      out(warp, active, mask)
      const lane = firstLane(mask)
      const found =
        mask !== 0 && at.machine.trace && barrierAt(at, warp, lane, address(warp.base, lane))
      if (found) at.machine.trace!.waits(warp, at.index, { kind: 'mbarrier', ...found }, 'previous')
      eachLane((_, base, lane) => {
        warp.block.watch?.acquire(address(base, lane) & offsetMask, warp.number)
      })(warp, mask)
    }
    if (ended() === active) end()
    // A thread that polls without TRYWAIT ends its turn, so that other threads can complete the
    // phase.
    else if (waits)
      split.waits = { kind: 'until', over: () => ended() === active, end, timesOut: true }
    else split.waits = { kind: 'until', over: () => true, end: () => {}, timesOut: false }
    if (!waits) end()
  }
}

function syncs(at: Site): Step {
  if (at.has('EXCH')) return exchange(at)
  if (at.has('ARRIVE')) return arrive(at)
  // SYNCS.CCTL.IV implements mbarrier.inval, which has no effect in the emulator.
  if (at.has('CCTL')) {
    at.expect('IV')
    addressesOf(at)
    return () => {}
  }
  return at.unknown()
}

export const barrierSteps: Record<string, (at: Site) => Step> = {
  SYNCS: syncs,
  ARRIVES: arriveAfterCopies,
}
