/**
 * Runs a kernel launch: its blocks one after another, those of a cluster together, the warps of a block in turns between
 * barriers, and within a warp the lanes that are at one instruction together. What is counted is exact and does not
 * depend on the order.
 */
import { truePredicate } from '../sass/instruction'
import { growsStack, isNarrow } from './code-facts'
import { segmentCompiler, type Segment } from './compile'
import { controlOf, isControl } from './control'
import { deviceHigh, parameterHigh, type Allocation, type Device } from './device'
import { countLanes, lanes, type Cost, type Finding, type Machine, type Views } from './site'
import { isNothing, stepOf } from './steps'
import { createWatch, writtenBytes } from './watch'
import {
  convergenceWords,
  Halt,
  newCounts,
  predicateTrue,
  ready,
  uniformPredicates,
  type Block,
  type Cluster,
  type Control,
  type Split,
  type Step,
  type Warp,
} from './warp'
import { specialRegister } from './special-registers'
import { guardOf } from './guard'
import { keepPattern, setBounds, takeCounts, type FastSite } from './fast-patterns'
import type { Launch, LaunchOptions, LaunchResult } from './launch-request'
import { predicateWords, memoryOf } from './launch-memory'

export { launchBank, type LaunchBank } from './constant-bank'
export { type Extent } from './special-registers'
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

export function runLaunch(device: Device, launch: Launch, options: LaunchOptions): LaunchResult {
  const { code } = launch
  const memory = memoryOf(launch)
  const { threads, warpCount, registers, warpWords, sharedBytes, registerBytes, blockBytes } =
    memory
  const { together, fixPlace, onPlace, sitePlace, banks, scratchBytes } = memory
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
  const machine: Machine = {
    views,
    registers,
    sharedBytes,
    localBytes: launch.localBytes,
    growsStack: growsStack(code),
    clustered: together > 1,
    counts,
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
    memory: options.checks
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

  let [nextLook, told] = [options.onProgress ? lookEvery : Infinity, performance.now()]
  const lookAtTime = (): void => {
    nextLook = instructions + lookEvery
    if (performance.now() - told < tellEveryMs) return
    told = performance.now()
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
      local: first + memory.localPlace,
      watch: watches[rank] ?? null,
    }
    for (let index = 0; index < warpCount; index++) block.warps.push(newWarp(block, index, first))
    views.bytes.fill(0, shared, shared + sharedBytes)
    block.watch?.beginBlock()
    cluster.blocks.push(block)
    return block
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
        const at = waiting.splits[0]!.at - 1
        throw new Halt('deadlock', code[at] ?? null, `${waiting.block.number}`)
      }
    }
  }

  const total = launch.grid[0] * launch.grid[1] * launch.grid[2]
  const { first, count } = launch.blocks ?? { first: 0, count: total }
  let barriers = 0
  for (let number = first - (first % together); number < first + count; number += together) {
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
