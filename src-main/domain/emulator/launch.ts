/**
 * Runs a kernel launch: its blocks one after another, the warps of a block in turns between barriers, and within a warp
 * the lanes that are at one instruction together. What is counted is exact and does not depend on the order.
 */
import type { Instruction, Operand } from '../sass/instruction'
import { truePredicate, zeroRegister } from '../sass/instruction'
import type { Allocation, Device } from './device'
import {
  countLanes,
  lanes,
  Site,
  type Counts,
  type Finding,
  type Machine,
  type Views,
  type Watch,
} from './site'
import { specialRegister, type BlockPlace } from './special-registers'
import { compile, type Compiled } from './compile'
import { keepPattern, setBounds, siteBytes, takeCounts, type FastSite } from './fast-memory'
import type { Cost } from './patterns'
import { stepOf } from './steps'
import { Halt, predicateTrue, uniformPredicates, type Split, type Step, type Warp } from './warp'
import { createWatch } from './watch'

export type Extent = readonly [number, number, number]

export interface Launch {
  readonly kernel: string
  readonly code: readonly Instruction[]
  readonly grid: Extent
  readonly block: Extent
  /** Static and dynamic together. */
  readonly sharedBytes: number
  /** Stack of a thread. */
  readonly localBytes: number
  /** Constant banks by number; bank 0 with launch and parameters filled in, see `launchBank`. */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /** Linear numbers of the blocks to run; all of them by default. */
  readonly blocks?: { readonly first: number; readonly count: number }
}

export interface LaunchOptions {
  /** Warp instructions before it is stopped. */
  readonly limit: number
  /** Looks for reads of what was never written and for races; slower. */
  readonly checks: boolean
  /** Leaves everything to the steps; the compiled code is held to them. */
  readonly interpreted?: boolean
  /** Buffers that hold what a kernel may read; others have to be written first. */
  readonly written?: readonly Allocation[]
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
/** Findings that are kept; a kernel that goes wrong does so in every thread. */
const mostFindings = 1000
/** Segments that a warp runs before another has its turn. */
const turn = 4096

const newCounts = (length: number): Counts => {
  const one = () => new Float64Array(length)
  return {
    executed: one(),
    threads: one(),
    on: one(),
    wavefronts: one(),
    idealWavefronts: one(),
    tags: one(),
    sectors: one(),
    idealSectors: one(),
    divergent: one(),
  }
}

/** Instructions that decide where a warp goes on. */
const controls = new Set([
  'BRA',
  'BRX',
  'JMP',
  'BSSY',
  'BSYNC',
  'BREAK',
  'BMOV',
  'WARPSYNC',
  'CALL',
  'RET',
  'EXIT',
  'BAR',
  'B2R',
  'BPT',
  'KILL',
])

function highestRegister(code: readonly Instruction[]): number {
  let highest = 0
  for (const { operands } of code)
    for (const operand of operands) {
      const index =
        operand.kind === 'register' || operand.kind === 'memory'
          ? operand.kind === 'register'
            ? operand.index
            : (operand.register ?? 0)
          : 0
      if (index !== zeroRegister) highest = Math.max(highest, index)
    }
  // Operands of several words name the first one.
  return Math.min(highest + 8, 256)
}

const uniformRows = 64
/** For four lanes that are rounded with care, and two rows of addresses. */
const fixBytes = 512
/** Behind the registers of a warp: its predicates. */
const predicateWords = lanes

interface Block extends BlockPlace {
  warps: Warp[]
  barriers: Map<number, Barrier>
}

interface Barrier {
  arrived: number
  /** Arrivals without a wait. */
  signalled: number
  waiting: { warp: Warp; split: Split }[]
  value: number
}

export function runLaunch(device: Device, launch: Launch, options: LaunchOptions): LaunchResult {
  const { code } = launch
  const threads = launch.block[0] * launch.block[1] * launch.block[2]
  const warpCount = Math.ceil(threads / lanes)
  const registers = highestRegister(code)
  const warpWords = (registers + uniformRows) * lanes + predicateWords
  const sharedBytes = reservedShared + launch.sharedBytes
  const align = (bytes: number) => Math.ceil(bytes / 256) * 256
  const registerBytes = align(4 * warpWords * warpCount)
  const onBytes = align(8 * code.length)
  /** Places for the patterns of memory accesses, by instruction. */
  const siteOf = new Map<number, number>()
  for (const [index, { operands }] of code.entries())
    if (operands.some(({ kind }) => kind === 'memory')) siteOf.set(index, siteOf.size)
  const start = device.scratch(
    registerBytes +
      align(sharedBytes) +
      align(launch.localBytes * lanes * warpCount) +
      onBytes +
      fixBytes +
      siteOf.size * siteBytes,
  )
  const { buffer } = device.memory
  const views: Views = {
    words: new Int32Array(buffer),
    unsigned: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
    bytes: new Uint8Array(buffer),
    halves: new Uint16Array(buffer),
  }
  const shared = start + registerBytes
  const local = shared + align(sharedBytes)
  const onAddress = local + align(launch.localBytes * lanes * warpCount)
  const fixAddress = onAddress + onBytes
  const siteAddress = (index: number): number =>
    fixAddress + fixBytes + siteOf.get(index)! * siteBytes
  views.bytes.fill(0, start, fixAddress + fixBytes + siteOf.size * siteBytes)
  const counts = newCounts(code.length + 1)
  const findings: Finding[] = []
  let place: BlockPlace = { number: 0, at: [0, 0, 0] }
  const report = (finding: Finding): void => {
    if (findings.length < mostFindings) findings.push({ ...finding, block: place.number })
  }
  const watch: (Watch & ReturnType<typeof createWatch>) | null = options.checks
    ? createWatch({
        warps: warpCount,
        sharedBytes,
        memoryBytes: start,
        written: options.written ?? device.allocations,
        report,
      })
    : null
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
    shared,
    sharedBytes,
    local,
    localBytes: launch.localBytes,
    counts,
    constant(bank, offset) {
      const view = constantWords.get(bank)
      return view && offset >= 0 && offset + 4 <= view.byteLength ? view.getInt32(offset, true) : 0
    },
    special: (name) => specialRegister(name, launch, () => place),
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
    watch,
    seen(index, addresses, cost) {
      const site = fastSites.get(index)
      if (!site) return
      for (const [place, space] of site.access.spaces.entries()) {
        if (space !== 'global') continue
        const offset = addresses[place]![0]! >>> 0
        machine.inBuffer(offset, site.access.bytes)
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
  }

  // ---- The program ---------------------------------------------------------------------------------

  const steps: (Step | null)[] = new Array<Step | null>(code.length).fill(null)
  /** Made when first reached: what a kernel never executes need not be known. */
  const step = (index: number): Step => (steps[index] ??= stepOf(code[index]!, index, machine))
  const controlOf: (Control | null)[] = code.map(() => null)
  const guards = code.map(({ guard }) =>
    guard.index === truePredicate
      ? guard.negated
        ? { index: predicateTrue, flip: -1 }
        : null
      : {
          index: guard.kind === 'predicate' ? guard.index : uniformPredicates + guard.index,
          flip: guard.negated ? -1 : 0,
        },
  )
  /** For each instruction, the first one from it on that decides where to go. */
  const ends = new Int32Array(code.length + 1).fill(code.length)
  for (let index = code.length - 1; index >= 0; index--)
    ends[index] = controls.has(code[index]!.mnemonic) ? index : ends[index + 1]!

  const none: Compiled = { runs: [], accesses: [] }
  const compiled = options.interpreted
    ? none
    : compile(device, code, {
        registers,
        uniformRows,
        constant: machine.constant,
        fixAddress,
        onAddress,
        isControl: (instruction) => controls.has(instruction.mnemonic),
        memory: options.checks
          ? null
          : {
              registers,
              predicates: 4 * (warpWords - predicateWords),
              shared,
              sharedBytes,
              scratch: fixAddress + 64,
              site: (index) => siteAddress(index),
            },
      })
  const fastSites = new Map<number, FastSite>()
  for (const [index, each] of compiled.accesses.entries()) {
    if (!each) continue
    const site = {
      access: each.access,
      address: siteAddress(index),
      costs: [],
    }
    fastSites.set(index, site)
    for (const [place, space] of each.access.spaces.entries())
      if (space === 'shared') setBounds(views.words, site, place, 0, sharedBytes)
  }

  type Control = (block: Block, warp: Warp, split: Split, active: number) => void

  let barriers = 0
  let instructions = 0

  const guardMask = (index: number, warp: Warp, mask: number): number => {
    const guard = guards[index]!
    return guard === null ? mask : mask & (warp.predicates[guard.index]! ^ guard.flip)
  }

  // ---- Where lanes go ------------------------------------------------------------------------------

  /** Sends the lanes in `active` elsewhere; the others go on. */
  function branch(warp: Warp, split: Split, active: number, target: number): void {
    const rest = split.mask & ~active
    if (rest === 0) {
      split.at = target
      return
    }
    split.at++
    if (active === 0) return
    counts.divergent[split.at - 1]!++
    split.mask = rest
    warp.splits.push({ at: target, mask: active, waits: null })
  }

  /** Ends the wait of lanes that have all come together. */
  function converge(warp: Warp): void {
    for (let index = 0; index < warp.convergence.length; index++) {
      const waiting = warp.splits.filter(
        ({ waits }) => waits?.kind === 'convergence' && waits.barrier === index,
      )
      if (waiting.length === 0) continue
      const arrived = waiting.reduce((mask, split) => mask | split.mask, 0)
      const wanted = warp.convergence[index]! & warp.live
      if ((arrived & wanted) !== wanted) continue
      join(warp, waiting, arrived)
    }
    const waiting = warp.splits.filter(({ waits }) => waits?.kind === 'warp')
    for (const { waits } of waiting) {
      if (waits?.kind !== 'warp') continue
      const { mask } = waits
      const all = waiting.filter((split) => split.mask & mask)
      const arrived = all.reduce((union, split) => union | split.mask, 0)
      const wanted = mask & warp.live
      if ((arrived & wanted) !== wanted) continue
      for (const split of all) split.waits = null
      // Lanes that wait at one place go on together.
      const first = all[0]!
      if (all.every((split) => split.at === first.at)) join(warp, all, arrived)
      break
    }
  }

  function join(warp: Warp, waiting: Split[], mask: number): void {
    const first = waiting[0]!
    first.mask = mask
    first.waits = null
    if (waiting.length > 1)
      warp.splits = warp.splits.filter((split) => split === first || !waiting.includes(split))
  }

  function exit(block: Block, warp: Warp, split: Split, active: number): void {
    split.mask &= ~active
    warp.live &= ~active
    split.at++
    if (split.mask === 0) warp.splits = warp.splits.filter((each) => each !== split)
    converge(warp)
    for (const index of block.barriers.keys()) completeBarrier(block, index)
  }

  // ---- Block barriers ------------------------------------------------------------------------------

  const liveThreads = (block: Block): number =>
    block.warps.reduce((sum, warp) => sum + countLanes(warp.live), 0)

  function completeBarrier(block: Block, index: number): void {
    const barrier = block.barriers.get(index)
    if (!barrier || barrier.arrived + barrier.signalled === 0) return
    const wanted = barrier.waiting.reduce<number | null>((count, { split }) => {
      const threads = split.waits?.kind === 'block' ? split.waits.threads : null
      return threads ?? count
    }, null)
    if (barrier.arrived + barrier.signalled < (wanted ?? liveThreads(block))) return
    barriers++
    watch?.barrier(barrier.waiting.map(({ warp }) => warp.number))
    for (const { warp, split } of barrier.waiting) {
      split.waits = null
      warp.barrierResult = barrier.value
    }
    block.barriers.delete(index)
    for (const { warp } of barrier.waiting) mergeSame(warp)
  }

  /** Lanes that a barrier let go at one place go on together. */
  function mergeSame(warp: Warp): void {
    if (warp.splits.length < 2) return
    for (const split of warp.splits) {
      const same = warp.splits.filter(
        (each) => each.at === split.at && each.waits === null && split.waits === null,
      )
      if (same.length > 1) {
        join(
          warp,
          same,
          same.reduce((mask, each) => mask | each.mask, 0),
        )
        return mergeSame(warp)
      }
    }
  }

  const scalar = (site: Site, operand: Operand | undefined, warp: Warp, mask: number): number => {
    if (operand === undefined) return 0
    const lane = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask)
    return site.int(operand)(warp.base, lane)
  }

  function barrierControl(index: number, site: Site): Control {
    const numbers = site.instruction.operands.filter(
      ({ kind }) => kind === 'immediate' || kind === 'register' || kind === 'uniform-register',
    )
    const predicates = site.instruction.operands.filter(
      (operand) => operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
    )
    const arrives = site.has('ARV')
    const reduces = site.has('RED')
    if (!arrives && !reduces && !site.has('SYNC')) site.unknown()
    const combine = site.has('AND')
      ? (value: number, holds: number, all: number) => (holds === all ? value : 0)
      : site.has('OR')
        ? (value: number, holds: number) => (holds !== 0 ? 1 : value)
        : (value: number, holds: number) => value + countLanes(holds)
    const condition = site.predicate(predicates[0])
    return (block, warp, split, active) => {
      if (active === 0) {
        split.at++
        return
      }
      if (active !== warp.live)
        report({
          kind: 'divergent-barrier',
          at: index,
          write: false,
          bytes: 0,
          thread: warp.number * lanes + (31 - Math.clz32(active & -active)),
          block: 0,
          address: 0,
        })
      const number = scalar(site, numbers[0], warp, active)
      const wanted = numbers[1] === undefined ? null : scalar(site, numbers[1], warp, active)
      const barrier = block.barriers.get(number) ?? {
        arrived: 0,
        signalled: 0,
        waiting: [],
        value: site.has('AND') ? 1 : 0,
      }
      block.barriers.set(number, barrier)
      const rest = split.mask & ~active
      split.at++
      if (arrives) {
        barrier.signalled += countLanes(active)
        watch?.arrive(number, warp.number)
      } else {
        let waiting = split
        if (rest !== 0) {
          split.mask = rest
          waiting = { at: split.at, mask: active, waits: null }
          warp.splits.push(waiting)
        }
        waiting.waits = {
          kind: 'block',
          barrier: number,
          threads: wanted,
          reduce: null,
        }
        barrier.arrived += countLanes(active)
        barrier.waiting.push({ warp, split: waiting })
        if (reduces) barrier.value = combine(barrier.value, condition(warp) & active, active)
      }
      completeBarrier(block, number)
    }
  }

  // ---- Control instructions ------------------------------------------------------------------------

  const targetOf = (site: Site): number => {
    const operand = site.instruction.operands.find(({ kind }) => kind === 'target')
    return operand?.kind === 'target' ? operand.address / 16 : site.unknown('it has no target')
  }

  const barrierIndex = (site: Site): number => {
    const operand = site.instruction.operands.find(({ kind }) => kind === 'convergence-barrier')
    return operand?.kind === 'convergence-barrier' ? operand.index : site.unknown()
  }

  function makeControl(index: number): Control {
    const instruction = code[index]!
    const site = new Site(instruction, index, machine)
    switch (instruction.mnemonic) {
      case 'BRA':
      case 'JMP': {
        const target = targetOf(site)
        if (site.has('DIV')) {
          const operand = instruction.operands[0]!
          const among = site.int(operand)
          return (_, warp, split, active) => {
            const whole = (among(warp.base, 0) & warp.live) === split.mask
            branch(warp, split, whole ? 0 : active, target)
          }
        }
        const condition = instruction.operands.find(
          (operand) => operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
        )
        if (condition?.kind !== 'predicate' && condition?.kind !== 'uniform-predicate')
          return (_, warp, split, active) => branch(warp, split, active, target)
        const holds = site.predicate(condition)
        const any = site.has('ANY')
        return (_, warp, split, active) => {
          const taken = active & holds(warp)
          branch(warp, split, any && taken !== 0 ? active : taken, target)
        }
      }
      case 'BRX': {
        // The register holds the distance from the next instruction, less what is printed behind it.
        const [register, offset] = instruction.operands
        const by = site.int(register!)
        const plus = offset?.kind === 'immediate' ? offset.bits : 0
        return (_, warp, split, active) => {
          const goals = new Map<number, number>()
          for (let rest = active; rest !== 0; rest &= rest - 1) {
            const lane = 31 - Math.clz32(rest & -rest)
            const goal = (16 * (index + 1) + plus + by(warp.base, lane)) / 16
            goals.set(goal, (goals.get(goal) ?? 0) | (1 << lane))
          }
          if (goals.size > 1) counts.divergent[index]!++
          const rest = split.mask & ~active
          warp.splits = warp.splits.filter((each) => each !== split)
          for (const [goal, mask] of goals) warp.splits.push({ at: goal, mask, waits: null })
          if (rest !== 0) warp.splits.push({ at: index + 1, mask: rest, waits: null })
        }
      }
      case 'BSSY': {
        const barrier = barrierIndex(site)
        return (_, warp, split, active) => {
          if (active !== 0) warp.convergence[barrier] = active
          split.at++
        }
      }
      case 'BREAK': {
        const barrier = barrierIndex(site)
        return (_, warp, split, active) => {
          warp.convergence[barrier]! &= ~active
          split.at++
          converge(warp)
        }
      }
      case 'BSYNC': {
        const barrier = barrierIndex(site)
        return (_, warp, split, active) => {
          split.at++
          const rest = split.mask & ~active
          if (active === 0) return
          if (rest === 0) split.waits = { kind: 'convergence', barrier }
          else {
            split.mask = rest
            warp.splits.push({
              at: split.at,
              mask: active,
              waits: { kind: 'convergence', barrier },
            })
          }
          converge(warp)
        }
      }
      case 'BMOV': {
        const barrier = barrierIndex(site)
        const other = instruction.operands.find(({ kind }) => kind !== 'convergence-barrier')!
        const reads = instruction.operands[0]!.kind !== 'convergence-barrier'
        if (reads && other.kind === 'register') {
          const put = site.putRegister(other)
          const clears = site.has('CLEAR')
          return (_, warp, split, active) => {
            for (let lane = 0; lane < lanes; lane++)
              if ((active >>> lane) & 1) put(warp.base, lane, warp.convergence[barrier]!)
            if (clears) warp.convergence[barrier] = 0
            split.at++
          }
        }
        const value = site.int(other)
        return (_, warp, split, active) => {
          const lane = active === 0 ? 0 : 31 - Math.clz32(active & -active)
          if (active !== 0) warp.convergence[barrier] = value(warp.base, lane)
          split.at++
        }
      }
      case 'WARPSYNC': {
        const operand = instruction.operands.find(
          ({ kind }) => kind === 'register' || kind === 'immediate' || kind === 'uniform-register',
        )
        const among = operand ? site.int(operand) : () => -1
        return (_, warp, split, active) => {
          const lane = active === 0 ? 0 : 31 - Math.clz32(active & -active)
          split.at++
          if (active === 0) return
          split.waits = {
            kind: 'warp',
            mask: among(warp.base, lane) & warp.lanes,
          }
          converge(warp)
        }
      }
      case 'CALL': {
        const target = targetOf(site)
        return (_, warp, split, active) => branch(warp, split, active, target)
      }
      case 'RET': {
        const operand = instruction.operands.find(({ kind }) => kind === 'register')!
        const address = site.int(operand)
        return (_, warp, split, active) => {
          const lane = active === 0 ? 0 : 31 - Math.clz32(active & -active)
          branch(warp, split, active, address(warp.base, lane) / 16)
        }
      }
      case 'EXIT':
      case 'KILL': {
        const condition = instruction.operands.find(
          (operand) => operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
        )
        const holds =
          condition?.kind === 'predicate' || condition?.kind === 'uniform-predicate'
            ? site.predicate(condition)
            : () => -1
        return (block, warp, split, active) => exit(block, warp, split, active & holds(warp))
      }
      case 'BAR':
        return barrierControl(index, site)
      case 'B2R': {
        const put = site.operands.destination ? site.put() : () => {}
        const out = site.putPredicate(site.operands.outs[0])
        return (_, warp, split, active) => {
          for (let lane = 0; lane < lanes; lane++)
            if ((active >>> lane) & 1) put(warp.base, lane, warp.barrierResult)
          out(warp, active, warp.barrierResult !== 0 ? -1 : 0)
          split.at++
        }
      }
      default:
        return (_, __, split, active) => {
          if (active !== 0) throw new Halt('trap', instruction, instruction.mnemonic)
          split.at++
        }
    }
  }

  // ---- Running -------------------------------------------------------------------------------------

  const entered = new Float64Array(code.length + 1)
  const left = new Float64Array(code.length + 2)
  const lanesEntered = new Float64Array(code.length + 1)
  const lanesLeft = new Float64Array(code.length + 2)

  /** Runs one split until it waits, is gone or has had its turn. */
  function runSplit(block: Block, warp: Warp, split: Split): void {
    for (let segment = 0; segment < turn; segment++) {
      const from = split.at
      const end = ends[from]!
      if (end >= code.length) throw new Halt('trap', code[from] ?? null, 'runs off its end')
      const { mask } = split
      const count = countLanes(mask)
      entered[from]!++
      left[end + 1]!++
      lanesEntered[from]! += count
      lanesLeft[end + 1]! += count
      instructions += end - from + 1
      for (let index = from; index < end; index++) {
        const run = compiled.runs[index]
        if (run) {
          run.call(4 * warp.base, mask)
          index = run.end - 1
          continue
        }
        const access = compiled.accesses[index]
        const guard = guards[index]
        if (guard === null) {
          if (access && access.call(4 * warp.base, mask) !== 0) continue
          const known = steps[index]
          if (known) known(warp, mask)
          else step(index)(warp, mask)
        } else {
          const active = guardMask(index, warp, mask)
          counts.on[index]! += countLanes(active)
          if (active === 0) continue
          if (access && access.call(4 * warp.base, active) !== 0) continue
          step(index)(warp, active)
        }
      }
      if (instructions > options.limit) throw new Halt('too-long', code[end]!, `${options.limit}`)
      split.at = end
      const active = guardMask(end, warp, mask)
      if (guards[end] !== null) counts.on[end]! += countLanes(active)
      const control = (controlOf[end] ??= makeControl(end))
      control(block, warp, split, active)
      if (split.waits !== null || split.mask === 0 || !warp.splits.includes(split)) return
    }
  }

  function newWarp(number: number): Warp {
    const lanesOfWarp = Math.min(lanes, threads - number * lanes)
    const mask = lanesOfWarp === lanes ? -1 : (1 << lanesOfWarp) - 1
    const base = start / 4 + number * warpWords
    const predicates = views.words.subarray(base + warpWords - predicateWords, base + warpWords)
    predicates.fill(0)
    predicates[predicateTrue] = -1
    predicates[uniformPredicates + truePredicate] = -1
    return {
      number,
      base,
      predicates,
      convergence: new Int32Array(16),
      lanes: mask,
      live: mask,
      splits: [{ at: 0, mask, waits: null }],
      barrierResult: 0,
    }
  }

  function runBlock(number: number): void {
    const [x, y] = launch.grid
    const block: Block = {
      number,
      at: [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))],
      warps: Array.from({ length: warpCount }, (_, index) => newWarp(index)),
      barriers: new Map(),
    }
    place = block
    views.bytes.fill(0, shared, shared + sharedBytes)
    watch?.beginBlock()
    for (;;) {
      let ran = false
      let alive = false
      for (const warp of block.warps) {
        if (warp.splits.length > 0) alive = true
        for (const split of [...warp.splits]) {
          if (split.waits !== null || !warp.splits.includes(split)) continue
          runSplit(block, warp, split)
          ran = true
        }
      }
      if (!alive) return
      if (!ran) {
        const stuck = block.warps.find(({ splits }) => splits.length > 0)!
        const at = stuck.splits[0]!.at - 1
        throw new Halt('deadlock', code[at] ?? null, `${number}`)
      }
    }
  }

  const total = launch.grid[0] * launch.grid[1] * launch.grid[2]
  const { first, count } = launch.blocks ?? { first: 0, count: total }
  for (let number = first; number < first + count; number++) runBlock(number)

  for (const [index, site] of fastSites)
    for (const { cost, times } of takeCounts(views.words, site)) addCost(index, cost, times)
  const on = new DataView(buffer, onAddress, 8 * code.length)
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

export interface LaunchBank {
  /** 90 for sm_90. */
  architecture: number
  grid: Extent
  block: Extent
  /** The kernel's arguments, as laid out for it. */
  parameters: Uint8Array
  localBytes: number
}

/** Constant bank 0 as the driver fills it in: dimensions, the stack's end, the parameters. */
export function launchBank({
  architecture,
  grid,
  block,
  parameters,
  localBytes,
}: LaunchBank): Uint8Array {
  const base = architecture >= 90 ? 0x210 : 0x160
  const bank = new Uint8Array(base + parameters.length + 16)
  const view = new DataView(bank.buffer)
  ;[...block, ...grid].forEach((extent, index) => view.setUint32(4 * index, extent, true))
  view.setUint32(0x28, localBytes, true)
  bank.set(parameters, base)
  return bank
}
