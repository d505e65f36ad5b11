/**
 * Runs a kernel launch. Blocks run one after another, except that a cluster's blocks run
 * concurrently. Between barriers, the warps of a block take turns. Lanes at the same instruction
 * execute the instruction together. The counts are exact and do not depend on the order in which
 * warps run.
 */
import { growsStack, isNarrow } from './code-facts'
import { addBlock, runCluster } from './block-turns'
import { segmentCompiler, type Segment } from './compile'
import { controlOf, isControl, retire } from './control'
import { deviceHigh, parameterHigh, type Allocation, type Device } from './device'
import { countLanes, lanes, type Cost, type Finding, type EmulatorState } from './site'
import { launchMemory } from './launch-memory'
import { isNothing, stepOf } from './steps'
import { createWatch, writtenBytes } from './watch'
import {
  Halt,
  newCounts,
  type Cluster,
  type Control,
  type Split,
  type Step,
  type Warp,
} from './warp'
import { specialRegister } from './special-registers'
import { guardOf } from './guard'
import type { BlockSelection, Launch, LaunchOptions, LaunchResult } from './launch-types'
import { keepPattern, setBounds, takeCounts, type FastSite } from './fast-patterns'

export { launchBank, type LaunchBank } from './constant-bank'

/**
 * Maximum number of findings per kind. In a broken kernel, every thread may report the same
 * finding.
 */
const mostFindings = 1000
/** Number of segments that a warp runs in one turn. */
const turn = 4096
/**
 * Limits for detecting a loop that waits for the clock. A series of `mostCloseReads` clock reads
 * indicates a waiting loop if each read occurs within `closeRead` instructions of the previous
 * read. Once a waiting loop is detected, the emulated clock runs faster, so that even a one-second
 * wait ends soon.
 */
const [closeRead, mostCloseReads] = [64, 256]

/**
 * Minimum time between progress reports, and number of warp instructions between checks of the
 * elapsed time.
 */
const [tellEveryMs, lookEvery] = [1000, 100_000]

/**
 * Number of times that a segment is interpreted before it is compiled. Compiling code that runs
 * only once is slower than interpreting it.
 */
const compileAfter = 1

/** Yields the first block of each cluster that contains any of the given blocks. */
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
  const together = launch.clusterBlocks ?? 1
  const memory = launchMemory(device, launch, together)
  const { views, warps, registers, sharedBytes, tables, banks, sitePlace } = memory
  const { buffer } = device.memory
  const counts = newCounts(code.length + 1)
  const findings: Finding[] = []
  /** Linear index of the block that is running. */
  let running = 0
  const found = new Map<Finding['kind'], number>()
  const report = (finding: Finding): void => {
    const { kind } = finding
    const same = (found.get(kind) ?? 0) + 1
    found.set(kind, same)
    if (same <= mostFindings) findings.push({ ...finding, block: running })
  }
  const globalWritten =
    options.writtenBytes ?? writtenBytes(memory.start, options.written ?? device.allocations)
  const watches = options.checks
    ? Array.from({ length: together }, () =>
        createWatch({
          warps,
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

  const steps: (Step | null)[] = new Array<Step | null>(code.length).fill(null)
  /**
   * Returns the function that executes an instruction, creating the function on first use. Code
   * that a kernel never executes may contain unknown instructions.
   */
  const step = (index: number): Step => (steps[index] ??= stepOf(code[index]!, index, machine))
  /**
   * Returns whether the interpreter supports an instruction. Compiled code supports only
   * instructions that the interpreter supports.
   */
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
  /**
   * For each instruction, the index of the next control instruction. For a control instruction, the
   * entry is the instruction's own index.
   */
  const ends = new Int32Array(code.length + 1).fill(code.length)
  for (let index = code.length - 1; index >= 0; index--)
    ends[index] = isControl(code[index]!) ? index : ends[index + 1]!

  const predicatePlace = 4 * (memory.warpWords - memory.predicateWords)
  const fastSites = new Map<number, FastSite>()
  /** The current warp, used when compiled code calls the interpreter. */
  let current: Warp | null = null
  const compile = segmentCompiler(device, code, {
    registers,
    tables,
    banks,
    fixPlace: memory.fixPlace,
    onPlace: memory.onPlace,
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
  /**
   * The clock's state. `before` and `began` are the instruction counts at the start of the segment
   * and of the block. `from` is the index of the segment's first instruction. `closeReads` counts
   * successive reads of the clock with little time in between, and `skipped` is the time that the
   * clock has skipped.
   */
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

  /** Runs one split until it waits, exits or uses up its turn. */
  function runSplit(warp: Warp, split: Split): void {
    running = warp.block.number
    for (let segment = 0; segment < turn; segment++) {
      const from = split.at
      // A branch in corrupt code may target an address between two instructions.
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

  const total = launch.grid[0] * launch.grid[1] * launch.grid[2]
  let [barriers, blocks] = [0, 0]
  for (const number of clustersOf(launch.blocks ?? { first: 0, count: total }, together)) {
    const cluster: Cluster = { blocks: [], arrived: 0, meetings: 0 }
    // Each block has its own clock. Results therefore do not depend on the number of emulation
    // threads.
    Object.assign(clock, { began: instructions, closeReads: 0, skipped: 0 })
    for (let rank = 0; rank < together; rank++)
      addBlock(cluster, number + rank, launch, memory, watches)
    // Other warps may still be waiting for a warp that the trace ended early.
    runCluster(cluster, code, runSplit, options.trace?.endsWarps ?? false)
    for (const { meetings } of cluster.blocks) barriers += meetings
    blocks += together
  }

  for (const [index, site] of fastSites)
    for (const { cost, times } of takeCounts(views.words, site)) addCost(index, cost, times)
  const on = new DataView(buffer, tables + memory.onPlace, 8 * code.length)
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
  return { instructions, counts, findings, barriers, blocks }
}
