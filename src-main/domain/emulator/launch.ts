/**
 * Runs a kernel launch: its blocks one after another, those of a cluster together, the warps of a block in turns between
 * barriers, and within a warp the lanes that are at one instruction together. What is counted is exact and does not
 * depend on the order.
 */
import { type Instruction, truePredicate } from '../sass/instruction'
import { growsStack, isNarrow, registersOf } from './code-facts'
import { segmentCompiler, type Segment } from './compile'
import { controlOf, isControl, retire } from './control'
import { deviceHigh, parameterHigh, type Allocation, type Device } from './device'
import { countLanes, lanes, type Cost, type Finding, type EmulatorState, type Views } from './site'
import { isNothing, stepOf } from './steps'
import { createWatch, writtenBytes } from './watch'
import {
  convergenceWords,
  Halt,
  newCounts,
  predicateTrue,
  uniformPredicates,
  type Block,
  type Cluster,
  type Control,
  type Counts,
  type Split,
  type Step,
  type Warp,
} from './warp'
import { specialRegister, type Extent } from './special-registers'
import { guardOf } from './guard'
import type { Trace } from './trace'
import { keepPattern, setBounds, siteBytes, takeCounts, type FastSite } from './fast-patterns'

export { launchBank, type LaunchBank } from './constant-bank'
export { type Extent } from './special-registers'

export interface Launch {
  readonly kernel: string
  readonly code: readonly Instruction[]
  readonly grid: Extent
  readonly block: Extent
  /** Static and dynamic together. */
  readonly sharedBytes: number
  /** Blocks of a cluster, along x; they run together and see one another's shared memory. 1 by default. */
  readonly clusterBlocks?: number
  /** Stack of a thread. */
  readonly localBytes: number
  /** Constant banks by number; bank 0 with launch and parameters filled in, see `launchBank`. */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /** Linear numbers of the blocks to run, with the rest of their clusters; all of them by default. */
  readonly blocks?: BlockSelection
}

/** A run of blocks, or their numbers in ascending order. */
export type BlockSelection = { readonly first: number; readonly count: number } | readonly number[]

export interface Printed {
  readonly block: number
  readonly thread: number
  readonly text: string
}

export interface LaunchOptions {
  /** Warp instructions before it is stopped. */
  readonly limit: number
  /** Looks for reads of what was never written and for races; slower. */
  readonly checks: boolean
  /** How often a piece of the code is run by its steps before it is compiled; `Infinity` leaves everything to them. */
  readonly compileAfter?: number
  /** Leaves out what WebAssembly has not everywhere, the multiply-add of the CPU; results are the same. */
  readonly portable?: boolean
  /** Buffers that hold what a kernel may read; others have to be written first. */
  readonly written?: readonly Allocation[]
  /** The same byte by byte for all of the buffers' memory; what this launch writes is added, for the next one. */
  readonly writtenBytes?: Uint8Array
  /** LeadContext how many warp instructions were executed, at most about once a second. */
  readonly onProgress?: (instructions: number) => void
  /** Told of what the launch does. Makes it slower: accesses are then done by their steps. */
  readonly trace?: Trace
  /** LeadContext of what threads print, both numbers linear. */
  readonly onPrint?: (printed: Printed) => void
}

export interface LaunchResult {
  /** Warp instructions. */
  readonly instructions: number
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly barriers: number
}

/** Shared memory begins with what CUDA keeps for itself. */
export const reservedShared = 1024
/** Findings of a kind that are kept; a kernel that goes wrong does so in every thread. */
const mostFindings = 1000
/** How often waits that time out may do so in a row, with nothing else that could run. */
const mostStalls = 100
/** Segments that a warp runs before another has its turn. */
const turn = 4096
/**
 * Reads of a clock that follow one another within so many instructions, so many times, are a loop that waits for it. The
 * clock then goes ever faster, so that a wait of a second ends as well.
 */
const [closeRead, mostCloseReads] = [64, 256]

/** How often a launch says how far it is, and after how many warp instructions it looks at the time. */
const [tellEveryMs, lookEvery] = [1000, 100_000]

/** A piece of code that is run but once takes longer to compile than to interpret. */
const compileAfter = 1

const uniformRows = 64
/** For four lanes that are rounded with care. */
const fixBytes = 256
/** Behind the registers of a warp: its predicates. */
const predicateWords = lanes

/** First blocks of the clusters that hold these blocks. */
function* clustersOf(blocks: BlockSelection, together: number): Generator<number> {
  if ('first' in blocks) {
    const { first, count } = blocks
    for (let number = first - (first % together); number < first + count; number += together)
      yield number
    return
  }
  let last = -1
  for (const number of blocks) {
    const start = number - (number % together)
    if (start !== last) yield start
    last = start
  }
}

export function runLaunch(device: Device, launch: Launch, options: LaunchOptions): LaunchResult {
  const { code } = launch
  const threads = launch.block[0] * launch.block[1] * launch.block[2]
  const warpCount = Math.ceil(threads / lanes)
  const registers = registersOf(code)
  const warpWords = (registers + uniformRows) * lanes + predicateWords
  const sharedBytes = reservedShared + launch.sharedBytes
  const align = (bytes: number) => Math.ceil(bytes / 256) * 256
  /** Of each block that runs at a time: registers, shared memory, local memory. */
  const registerBytes = align(4 * warpWords * warpCount)
  const blockBytes =
    registerBytes + align(sharedBytes) + align(launch.localBytes * lanes * warpCount)
  const together = launch.clusterBlocks ?? 1
  const onBytes = align(8 * code.length)
  /** Places for the patterns of memory accesses, by instruction. */
  const siteOf = new Map<number, number>()
  for (const [index, { operands }] of code.entries())
    if (operands.some(({ kind }) => kind === 'memory')) siteOf.set(index, siteOf.size)
  // What its compiled code finds by place: lanes counted, room to round with care, sites, constant banks.
  const onPlace = 0
  const fixPlace = onBytes
  const sitesPlace = fixPlace + fixBytes
  let tablesBytes = sitesPlace + align(siteOf.size * siteBytes)
  const banks = [...launch.banks].map(([bank, { length: bytes }]) => {
    const place = tablesBytes
    tablesBytes += align(bytes)
    return { bank, place, bytes }
  })
  const scratchBytes = together * blockBytes + tablesBytes
  const start = device.scratch(scratchBytes)
  const { buffer } = device.memory
  const views: Views = {
    words: new Int32Array(buffer),
    unsigned: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
    bytes: new Uint8Array(buffer),
    halves: new Uint16Array(buffer),
  }
  const tables = start + together * blockBytes
  const sitePlace = (index: number): number => sitesPlace + siteOf.get(index)! * siteBytes
  views.bytes.fill(0, start, start + scratchBytes)
  for (const { bank, place } of banks) views.bytes.set(launch.banks.get(bank)!, tables + place)
  const counts = newCounts(code.length + 1)
  const findings: Finding[] = []
  /** The block whose turn it is. */
  let running = 0
  const found = new Map<Finding['kind'], number>()
  const report = (finding: Finding): void => {
    const { kind } = finding
    const same = (found.get(kind) ?? 0) + 1
    found.set(kind, same)
    if (same <= mostFindings) findings.push({ ...finding, block: running })
  }
  const globalWritten =
    options.writtenBytes ?? writtenBytes(start, options.written ?? device.allocations)
  const watches = options.checks
    ? Array.from({ length: together }, () =>
        createWatch({
          warps: warpCount,
          sharedBytes,
          unit: code.some(isNarrow) ? 1 : 4,
          globalWritten,
          report,
        }),
      )
    : []
  let lastBuffer: Allocation = device.allocations[0] ?? {
    name: '',
    offset: 0,
    bytes: 0,
  }
  const constantWords = new Map<number, DataView>()
  for (const [bank, bytes] of launch.banks)
    constantWords.set(bank, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const machine: EmulatorState = {
    views,
    registers,
    sharedBytes,
    localBytes: launch.localBytes,
    growsStack: growsStack(code),
    clustered: together > 1,
    counts,
    trace: options.trace ?? null,
    constant(bank, offset) {
      const view = constantWords.get(bank)
      return view && offset >= 0 && offset + 4 <= view.byteLength ? view.getInt32(offset, true) : 0
    },
    generic(low, high, bytes) {
      const bank = constantWords.get(0)
      if (high === parameterHigh && bank && low + bytes <= bank.byteLength)
        return new DataView(bank.buffer, bank.byteOffset + low, bytes)
      if (high === deviceHigh && machine.inBuffer(low, bytes))
        return new DataView(buffer, low, bytes)
      return null
    },
    special: (name) => specialRegister(name, launch),
    clock(at) {
      const now = clock.before + (at - clock.from)
      clock.closeReads = now - clock.lastRead <= closeRead ? clock.closeReads + 1 : 0
      clock.lastRead = now
      clock.skipped += Math.max(0, clock.closeReads - mostCloseReads)
      return now - clock.began + clock.skipped
    },
    inBuffer(offset, bytes) {
      if (offset >= lastBuffer.offset && offset + bytes <= lastBuffer.offset + lastBuffer.bytes)
        return true
      const found = device.allocations.find(
        (each) => offset >= each.offset && offset + bytes <= each.offset + each.bytes,
      )
      if (!found) return false
      lastBuffer = found
      return true
    },
    report,
    print(warp, lane, text) {
      options.onPrint?.({ block: warp.block.number, thread: warp.number * lanes + lane, text })
    },
    seen(index, addresses, cost) {
      const site = fastSites.get(index)
      if (!site) return
      for (const [place, space] of site.pattern.spaces.entries()) {
        if (space !== 'global') continue
        const offset = addresses[place]![0]! >>> 0
        machine.inBuffer(offset, site.pattern.bytes)
        setBounds(views.words, site, place, lastBuffer.offset, lastBuffer.bytes)
      }
      const before = keepPattern(views.words, site, addresses, cost)
      if (before) addCost(index, before.cost, before.times)
    },
  }

  const addCost = (index: number, cost: Cost, times: number): void => {
    counts.wavefronts[index]! += times * cost.wavefronts
    counts.idealWavefronts[index]! += times * cost.idealWavefronts
    counts.tags[index]! += times * cost.tags
    counts.sectors[index]! += times * cost.sectors
    counts.idealSectors[index]! += times * cost.idealSectors
    counts.passes[index]! += times * cost.passes
    counts.conflicts[index]! += times * cost.conflicts
    counts.l1Sectors[index]! += times * cost.l1Sectors
  }

  // ---- The program ---------------------------------------------------------------------------------

  const steps: (Step | null)[] = new Array<Step | null>(code.length).fill(null)
  /** Made when first reached: what a kernel never executes need not be known. */
  const step = (index: number): Step => (steps[index] ??= stepOf(code[index]!, index, machine))
  /** Whether the step of an instruction can be made: compiled code never does more than its step would. */
  const isKnown = (index: number): boolean => {
    try {
      step(index)
      return true
    } catch (error) {
      if (error instanceof Halt) return false
      throw error
    }
  }
  const controlAt: (Control | null)[] = code.map(() => null)
  const guards = code.map(guardOf)
  /** For each instruction, the first one from it on that decides where to go. */
  const ends = new Int32Array(code.length + 1).fill(code.length)
  for (let index = code.length - 1; index >= 0; index--)
    ends[index] = isControl(code[index]!) ? index : ends[index + 1]!

  const predicatePlace = 4 * (warpWords - predicateWords)
  const fastSites = new Map<number, FastSite>()
  /** The warp whose turn it is, for the steps that its compiled code calls. */
  let current: Warp | null = null
  const compile = segmentCompiler(device, code, {
    registers,
    tables,
    banks,
    fixPlace,
    onPlace,
    predicatePlace,
    portable: options.portable ?? false,
    isNothing,
    isKnown,
    memory:
      options.checks || options.trace
        ? null
        : {
            registers,
            predicates: predicatePlace,
            clustered: together > 1,
            site: sitePlace,
          },
    step: (index, active) => (steps[index] ?? step(index))(current!, active),
    onAccess(index, pattern) {
      if (fastSites.has(index)) return
      const site = { pattern, address: tables + sitePlace(index), costs: [] }
      fastSites.set(index, site)
      for (const [place, space] of pattern.spaces.entries())
        if (space === 'shared') setBounds(views.words, site, place, 0, sharedBytes)
    },
  })
  const segments: (Segment | undefined)[] = new Array<Segment | undefined>(code.length)
  const threshold = options.compileAfter ?? compileAfter

  let instructions = 0
  /** The instructions before the segment that runs, its first one, when the block began, and reads in a waiting loop. */
  const clock = { before: 0, from: 0, began: 0, lastRead: 0, closeReads: 0, skipped: 0 }

  let [nextLook, reported] = [options.onProgress ? lookEvery : Infinity, performance.now()]
  const lookAtTime = (): void => {
    nextLook = instructions + lookEvery
    if (performance.now() - reported < tellEveryMs) return
    reported = performance.now()
    options.onProgress?.(instructions)
  }

  const guardMask = (index: number, warp: Warp, mask: number): number => {
    const guard = guards[index]!
    return guard === null ? mask : mask & (warp.predicates[guard.index]! ^ guard.flip)
  }
  // ---- Running -------------------------------------------------------------------------------------

  const entered = new Float64Array(code.length + 1)
  const left = new Float64Array(code.length + 2)
  const lanesEntered = new Float64Array(code.length + 1)
  const lanesLeft = new Float64Array(code.length + 2)

  function interpret(warp: Warp, from: number, end: number, mask: number): void {
    for (let index = from; index < end; index++) {
      const active = guardMask(index, warp, mask)
      if (guards[index] !== null) counts.on[index]! += countLanes(active)
      if (active !== 0) step(index)(warp, active)
    }
  }

  /** Runs one split until it waits, is gone or has had its turn. */
  function runSplit(warp: Warp, split: Split): void {
    for (let segment = 0; segment < turn; segment++) {
      const from = split.at
      // A branch of damaged code may lead between instructions.
      const end = ends[from] ?? code.length
      if (end >= code.length) throw new Halt('trap', code[from] ?? null, 'runs off its end')
      const { mask } = split
      if (options.trace && !options.trace.enters(warp, from, end)) {
        retire(warp, options.trace)
        return
      }
      const count = countLanes(mask)
      entered[from]!++
      left[end + 1]!++
      lanesEntered[from]! += count
      lanesLeft[end + 1]! += count
      clock.before = instructions
      clock.from = from
      instructions += end - from + 1
      if (end > from) {
        const segment = (segments[from] ??=
          entered[from]! > threshold ? compile(from, end) : undefined)
        if (segment) {
          current = warp
          segment(4 * warp.base, mask, warp.block.shared)
        } else interpret(warp, from, end, mask)
      }
      if (instructions >= nextLook) lookAtTime()
      if (instructions > options.limit) throw new Halt('too-long', code[end]!, `${options.limit}`)
      split.at = end
      const active = guardMask(end, warp, mask)
      if (guards[end] !== null) counts.on[end]! += countLanes(active)
      const control = (controlAt[end] ??= controlOf(code[end]!, end, machine))
      control(warp, split, active)
      if (split.waits !== null || split.mask === 0 || !warp.splits.includes(split)) return
    }
  }

  function newWarp(block: Block, number: number, first: number): Warp {
    const lanesOfWarp = Math.min(lanes, threads - number * lanes)
    const mask = lanesOfWarp === lanes ? -1 : (1 << lanesOfWarp) - 1
    const base = first / 4 + number * warpWords
    const predicates = views.words.subarray(base + warpWords - predicateWords, base + warpWords)
    predicates.fill(0)
    predicates[predicateTrue] = -1
    predicates[uniformPredicates + truePredicate] = -1
    return {
      number,
      block,
      base,
      predicates,
      convergence: new Int32Array(convergenceWords),
      lanes: mask,
      live: mask,
      splits: [{ at: 0, mask, waits: null }],
      barrierResult: 0,
      clusterTurn: 0,
    }
  }

  /** A block in the `rank`-th of the rooms for those that run together. */
  function newBlock(number: number, cluster: Cluster): Block {
    const [x, y] = launch.grid
    const rank = cluster.blocks.length
    const first = start + rank * blockBytes
    const shared = first + registerBytes
    const block: Block = {
      cluster,
      rank,
      number,
      at: [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))],
      warps: [],
      barriers: new Map(),
      meetings: 0,
      shared,
      local: shared + align(sharedBytes),
      watch: watches[rank] ?? null,
    }
    for (let index = 0; index < warpCount; index++) block.warps.push(newWarp(block, index, first))
    views.bytes.fill(0, shared, shared + sharedBytes)
    block.watch?.beginBlock()
    cluster.blocks.push(block)
    return block
  }

  /** Whether a split can run now; the end of what it waited for is done with. */
  function ready(split: Split, timedOut: boolean): boolean {
    const { waits } = split
    if (waits === null) return true
    if (waits.kind !== 'until' || !((timedOut && waits.timesOut) || waits.over())) return false
    split.waits = null
    split.yielded = false
    waits.end()
    return true
  }

  /** Gives each warp of the blocks a turn, or those whose wait may time out; false where none could run. */
  function runTurns(blocks: readonly Block[], timedOut: boolean): boolean {
    let ran = false
    for (const block of blocks) {
      running = block.number
      for (const warp of block.warps)
        for (const split of [...warp.splits]) {
          if (!warp.splits.includes(split) || !ready(split, timedOut)) continue
          runSplit(warp, split)
          ran = true
        }
    }
    return ran
  }

  function runCluster({ blocks }: Cluster): void {
    const warps = blocks.flatMap((block) => block.warps)
    let stalls = 0
    for (;;) {
      const waiting = warps.find(({ splits }) => splits.length > 0)
      if (!waiting) return
      if (runTurns(blocks, false)) stalls = 0
      else if (stalls++ === mostStalls || !runTurns(blocks, true)) {
        // They wait for warps that the trace has ended.
        if (options.trace?.endsWarps) return
        const at = waiting.splits[0]!.at - 1
        throw new Halt('deadlock', code[at] ?? null, `${waiting.block.number}`)
      }
    }
  }

  const total = launch.grid[0] * launch.grid[1] * launch.grid[2]
  let barriers = 0
  for (const number of clustersOf(launch.blocks ?? { first: 0, count: total }, together)) {
    const cluster: Cluster = { blocks: [], arrived: 0, meetings: 0 }
    // Each block's own, so that it is the same on however many threads blocks are emulated.
    Object.assign(clock, { began: instructions, closeReads: 0, skipped: 0 })
    for (let rank = 0; rank < together; rank++) newBlock(number + rank, cluster)
    runCluster(cluster)
    for (const { meetings } of cluster.blocks) barriers += meetings
  }

  for (const [index, site] of fastSites)
    for (const { cost, times } of takeCounts(views.words, site)) addCost(index, cost, times)
  const on = new DataView(buffer, tables + onPlace, 8 * code.length)
  for (let index = 0; index < code.length; index++)
    counts.on[index]! += Number(on.getBigUint64(8 * index, true))
  let executing = 0
  let threadsExecuting = 0
  for (let index = 0; index < code.length; index++) {
    executing += entered[index]! - left[index]!
    threadsExecuting += lanesEntered[index]! - lanesLeft[index]!
    counts.executed[index] = executing
    counts.threads[index] = threadsExecuting
    if (guards[index] === null) counts.on[index] = threadsExecuting
  }
  return { instructions, counts, findings, barriers }
}
