/**
 * Executes copies of tensor-map boxes (UTMALDG, UTMASTG) and of plain byte ranges (UBLKCP). In the
 * emulator, a copy completes when it is issued. The copy's barrier then counts the copied bytes as
 * arrived. ncu counts no sectors for these instructions.
 */
import type { MemoryOperand } from '../sass/instruction'
import { barrierAt, change, type BarrierPlace } from './mbarriers'
import { deviceHigh } from './device'
import { offsetMask, rankShift } from './memory-access'
import { firstLane, lanes, type Site } from './site'
import type { Block, Step, Warp } from './warp'
import {
  swizzled,
  tensorMapBytes,
  readTensorMap,
  boxRows,
  chunk,
  boxFault,
  type TensorMap,
  type BoxRow,
} from './tensor-map'

/**
 * Returns a function that creates a reader for one of the operand's registers. The function's
 * parameter is the register's distance from the operand's first register.
 */
function registersOf(at: Site, operand: MemoryOperand | undefined): (place: number) => Value {
  const first = operand?.uniform ?? at.unknown('it has no address')
  return (place) => at.uniform(first + place)
}
type Value = (warp: Warp) => number

const memoryOperands = (at: Site): MemoryOperand[] =>
  at.all('memory').map((operand) => at.take(operand, 'uniform register'))

/**
 * Moves data between global and shared memory in chunks. Reports a finding for an invalid access.
 */
class Mover {
  constructor(
    private readonly at: Site,
    private readonly toShared: boolean,
  ) {}

  private report(
    kind: 'outside-global' | 'outside-shared' | 'misaligned',
    warp: Warp,
    address: number,
    bytes: number,
  ): void {
    const write = this.toShared === (kind === 'outside-shared')
    const thread = warp.number * lanes + firstLane(warp.live)
    this.at.machine.report({ kind, at: this.at.index, write, bytes, thread, block: 0, address })
  }

  /** Returns whether a range is inside a block's shared memory and aligned to the chunk size. */
  shared(warp: Warp, block: Block | undefined, offset: number, bytes: number): block is Block {
    const aligned = offset % chunk === 0
    if (block && aligned && offset + bytes <= this.at.machine.sharedBytes) return true
    this.report(aligned ? 'outside-shared' : 'misaligned', warp, offset, bytes)
    return false
  }

  /** Returns whether a range of global memory is inside one buffer. */
  global(warp: Warp, low: number, high: number, bytes: number): boolean {
    if (bytes === 0 || (high === deviceHigh && this.at.machine.inBuffer(low, bytes))) return true
    this.report('outside-global', warp, low, bytes)
    return false
  }

  /**
   * Reports a box that starts at an invalid position. The invalid copy still runs, because a
   * barrier may wait for it.
   */
  begins(warp: Warp, map: TensorMap, bytes: number): void {
    const fault = boxFault(bytes, this.toShared)
    if (fault !== null) this.report(fault, warp, map.low + bytes, chunk)
  }

  /** Copies bytes that are contiguous in both global and shared memory. */
  move(warp: Warp, block: Block, offset: number, low: number, bytes: number): void {
    if (bytes === 0) return
    const place = block.shared + offset
    const lane = firstLane(warp.live)
    this.at.machine.trace?.copied(low, bytes)
    if (this.toShared) this.at.views.bytes.copyWithin(place, low, low + bytes)
    else this.at.views.bytes.copyWithin(low, place, place + bytes)
    warp.block.watch?.global(this.at.index, warp, lane, low, bytes, !this.toShared)
    this.watchShared(warp, block, offset, bytes)
  }

  /** Zeroes a range of shared memory. */
  clear(warp: Warp, block: Block, offset: number, bytes: number): void {
    if (bytes === 0 || !this.toShared) return
    this.at.views.bytes.fill(0, block.shared + offset, block.shared + offset + bytes)
    this.watchShared(warp, block, offset, bytes)
  }

  private watchShared(warp: Warp, { watch }: Block, offset: number, bytes: number): void {
    const lane = firstLane(warp.live)
    const { index } = this.at
    if (watch === warp.block.watch)
      watch?.shared(index, warp, lane, offset, bytes, this.toShared, false)
    else watch?.copiedHere(index, warp.number * lanes + lane, offset, bytes)
  }
}

/** Tells the copy's barrier that the copied bytes have arrived. */
function complete(at: Site, warp: Warp, barrier: BarrierPlace | null, bytes: number): void {
  if (!barrier) return
  barrier.block.watch?.release(barrier.offset, barrier.block === warp.block ? warp.number : null)
  change(at, warp, barrier, { arrivals: 0, bytes: -bytes }, 'bulk-copy')
}

/**
 * Returns the function that executes UTMALDG or UTMASTG. The first operand's registers contain the
 * shared-memory address, the barrier and the coordinates. The second operand's registers contain
 * the address of the tensor map.
 */
function copyBox(at: Site, toShared: boolean): Step {
  const rank = Number((at.matching(/^[1-5]D$/)[0] ?? at.unknown())[0])
  if (at.has('IM2COL')) return at.unknown()
  cachePolicy(at)
  const [box, map] = memoryOperands(at).map((operand) => registersOf(at, operand))
  if (!box || !map) return at.unknown()
  const [address, barrier, low, high] = [box(0), box(1), map(0), map(1)]
  // Only copies to shared memory have a barrier, which precedes the coordinates.
  const coordinates = Array.from({ length: rank }, (_, place) => box((toShared ? 2 : 1) + place))
  const mover = new Mover(at, toShared)
  let known: { bytes: DataView; low: number; high: number; map: TensorMap } | null = null
  /**
   * Returns the tensor map at an address. A tensor map in the kernel's parameters never changes, so
   * the map is cached.
   */
  const mapAt = (lowAddress: number, highAddress: number): TensorMap => {
    if (known && known.low === lowAddress && known.high === highAddress) return known.map
    const bytes = at.machine.generic(lowAddress >>> 0, highAddress, tensorMapBytes)
    const read = bytes ? readTensorMap(bytes) : 'a tensor map at this address'
    if (typeof read === 'string') return at.unknown(read)
    if (read.sizes.length !== rank) return at.unknown('a tensor map of another rank')
    if (highAddress !== deviceHigh)
      known = { bytes: bytes!, low: lowAddress, high: highAddress, map: read }
    return read
  }
  /**
   * Bit mask of the receiving blocks' ranks. The box has the same shared-memory offset in all
   * receiving blocks.
   */
  const to = at.has('MULTICAST') ? multicastOf(at) : null
  return (warp) => {
    const tensor = mapAt(low(warp), high(warp))
    const { blocks } = warp.block.cluster
    const offset = address(warp) & offsetMask
    const ranks = to?.(warp) ?? 1 << (address(warp) >>> rankShift)
    const rowBytes = tensor.box[0]! * tensor.elementBytes
    const place = coordinates.map((value) => value(warp))
    mover.begins(warp, tensor, place[0]! * tensor.elementBytes)
    const rows = boxRows(tensor, place, toShared)
    at.machine.trace?.copies(warp, at.index, toShared)
    for (let rank = 0; ranks >>> rank !== 0; rank++) {
      if (!((ranks >>> rank) & 1)) continue
      const block = blocks[rank]
      if (!mover.shared(warp, block, offset, rows.length * rowBytes)) return
      moveRows(mover, warp, block, tensor, rows, offset)
      if (!toShared) continue
      const own = barrier(warp) & offsetMask
      const found = barrierAt(at, warp, firstLane(warp.live), (rank << rankShift) | own)
      complete(at, warp, found, rows.length * rowBytes)
    }
  }
}

/** Marks the L2 cache policy operand as handled, because the policy does not affect results. */
function cachePolicy(at: Site): void {
  for (const operand of at.all('word'))
    if (operand.text.startsWith('desc')) at.take(operand, 'value')
}

/**
 * Returns a function that reads a multicast's block mask. The mask is the high half of the
 * last register.
 */
function multicastOf(at: Site): Value {
  const operand = at.all('uniform-register').at(-1)
  const value = at.raw(operand ?? at.unknown('it has no blocks'))
  return (warp) => value(warp.base, 0) >>> 16
}

/** Copies the rows of a box. Elements outside the array become zero in shared memory. */
function moveRows(
  mover: Mover,
  warp: Warp,
  block: Block,
  map: TensorMap,
  rows: readonly BoxRow[],
  offset: number,
): void {
  const rowBytes = map.box[0]! * map.elementBytes
  for (const [number, { from, before, inside }] of rows.entries()) {
    const source = map.low + from
    if (!mover.global(warp, source, map.high, inside)) continue
    const start = offset + number * rowBytes
    for (let first = 0; first < rowBytes; first += chunk) {
      const bytes = Math.min(chunk, rowBytes - first)
      const place = swizzled(start + first, map.swizzle)
      const begin = Math.min(bytes, Math.max(0, before - first))
      const end = Math.max(begin, Math.min(bytes, before + inside - first))
      mover.clear(warp, block, place, begin)
      mover.clear(warp, block, place + end, bytes - end)
      mover.move(warp, block, place + begin, source + first + begin - before, end - begin)
    }
  }
}

/**
 * Returns the function that executes UBLKCP. `S.G` copies to shared memory. The address of the
 * copy's barrier is in the register after the shared-memory address. The length is in 16-byte
 * chunks.
 */
function copyBytes(at: Site): Step {
  const toShared = at.matching(/^[SG]$/)[0] === 'S'
  cachePolicy(at)
  const [to, from] = memoryOperands(at).map((operand) => registersOf(at, operand))
  const length = at.all('uniform-register').at(-1)
  if (!to || !from || !length) return at.unknown()
  const shared = toShared ? to : from
  const global = toShared ? from : to
  const [place, barrier, low, high] = [shared(0), shared(1), global(0), global(1)]
  const chunks = at.raw(length)
  const mover = new Mover(at, toShared)
  return (warp) => {
    const count = chunks(warp.base, 0)
    if (count >>> 16 !== 0) at.unknown('a copy to several blocks')
    const bytes = chunk * count
    const address = place(warp)
    const offset = address & offsetMask
    const block = warp.block.cluster.blocks[address >>> rankShift]
    if (!mover.shared(warp, block, offset, bytes)) return
    at.machine.trace?.copies(warp, at.index, toShared)
    if (mover.global(warp, low(warp) >>> 0, high(warp), bytes))
      mover.move(warp, block, offset, low(warp) >>> 0, bytes)
    if (!toShared) return
    const lane = firstLane(warp.live)
    complete(at, warp, barrierAt(at, warp, lane, barrier(warp)), bytes)
  }
}

export const bulkCopySteps: Record<string, (at: Site) => Step> = {
  UTMALDG: (at) => copyBox(at, true),
  UTMASTG: (at) => copyBox(at, false),
  UBLKCP: copyBytes,
}
