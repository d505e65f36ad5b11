/**
 * Simulates the timing of one SM. A launch with clusters is simulated on one SM per block of a
 * cluster. The simulator replays the blocks' traces instruction by instruction. The model includes
 * the control bits of the machine code, the pipes, the load/store unit, and the memory hierarchy.
 *
 * Times are in cycles. Every unit serves requests in issue order, so the completion time of a
 * request is known when it is issued.
 */
import { schedulersPerSm } from '../gpu/sm-limits'
import { InstructionCache } from './instruction-cache'
import { MemoryHierarchy, type Sharing, type Traffic } from './memory-hierarchy'
import { Meetings, type Meeting } from './meetings'
import { lineBytes } from './memory-units'
import type { ParameterValues } from './parameter-table'
import type { Removal } from './prediction'
import { RegisterFile } from './register-file'
import { Server } from './servers'
import { reasonAt, reasonCount } from './stall-index'
import { SubCorePipes, throttleOf } from './sub-core-pipes'
import { newWarp, scoreboards, type WarpState } from './warp-state'
import { pipes, type TimedInstruction } from './timed-code'
import {
  eventHead,
  eventKinds,
  wholeSectors,
  type BlockTrace,
  type LaunchTrace,
} from './warp-trace'

/** Settings for simulating the blocks of one SM. */
export interface SmSetting {
  readonly code: readonly TimedInstruction[]
  readonly values: ParameterValues
  readonly trace: LaunchTrace
  /** Blocks in the order in which the SM receives them. Blocks of a cluster are consecutive. */
  readonly order: readonly BlockTrace[]
  /** Number of blocks that are resident on one SM at the same time. */
  readonly resident: number
  /** Number of blocks per cluster. Each block runs on a separate SM. */
  readonly clusterBlocks: number
  readonly sharing: Sharing
  /**
   * A cause of stalls to disable, so that it costs no time in the simulation. For `latency`, the
   * caller must also set the latencies in `values` to 0.
   */
  readonly without?: Removal
  /** Whether instructions take time to read their operands from the register banks. */
  readonly readsRegisters: boolean
  /** Whether accesses with bank conflicts or scattered addresses need more than one wavefront. */
  readonly replays: boolean
}

export interface SmResult {
  /** Cycles from the start of the first block to the end of the last block. */
  readonly cycles: number
  /** End time of each block, in order. */
  readonly ends: readonly number[]
  readonly issued: number
  /** Busy cycles of each pipe, summed over all sub-cores. */
  readonly pipeBusy: Readonly<Record<(typeof pipes)[number], number>>
  /** Busy cycles of the L1 data stage. */
  readonly l1Busy: number
  readonly l2Busy: number
  readonly dramBusy: number
  readonly portBusy: number
  /**
   * Stalled warp cycles for each instruction and stall reason. The reasons are in the order of
   * `stallReasons`.
   */
  readonly stalls: Float64Array
  /** Number of times that warps executed each instruction. */
  readonly executed: Float64Array
  /** Lifetime of each warp in cycles, summed over all warps. */
  readonly warpCycles: number
  readonly traffic: Traffic
  readonly instructionCacheMisses: number
}

/** Cycles from issue until an instruction reaches the load/store unit. */
const dispatchCycles = 6
/** Cycles from arrival at the load/store unit until the source registers may be overwritten. */
const operandCycles = 14
/** Number of 16-byte instructions per line of the instruction cache. */
const instructionsPerLine = lineBytes / 16
/**
 * Maximum number of cycles between a warp's merged writes to a sector, and the maximum number of
 * tracked lines per warp.
 */
const [mergedWithin, mostWritten] = [64, 256]
/** Mask of a line in which all four sectors are accessed completely. */
const allSectors = 15 | (15 << wholeSectors)

interface SubCore {
  readonly sm: number
  readonly pipes: SubCorePipes
  readonly registers: RegisterFile
  warps: WarpState[]
  last: WarpState | null
  /** Earliest time at which a warp may issue. */
  next: number
  /** Time until which the operands of the last instruction keep all warps from issuing. */
  heldUntil: number
}

export function simulateSm(setting: SmSetting): SmResult {
  const { code, values, trace, order, clusterBlocks, without } = setting
  const memories = Array.from(
    { length: clusterBlocks },
    () => new MemoryHierarchy(values, setting.sharing),
  )
  const dataStages = memories.map(() => new Server())
  const caches = memories.map(() => new InstructionCache(values))
  const constants = memories.map(() => new Set<string>())
  const queueLength = Math.max(1, Math.round(values.lsuQueue))
  const cores: SubCore[] = memories.flatMap((_, sm) =>
    Array.from({ length: schedulersPerSm }, () => ({
      ...{ sm, warps: [], last: null, next: Infinity, heldUntil: 0 },
      pipes: new SubCorePipes(queueLength),
      registers: new RegisterFile(),
    })),
  )
  const stalls = new Float64Array(code.length * reasonCount)
  const executed = new Float64Array(code.length)
  const barrierCycles =
    values.latencyBarrier + values.barrierPerWarp * Math.max(0, (order[0]?.warps.length ?? 1) - 1)
  const wavefrontCycles = 1 / values.l1WavefrontsPerCycle
  let issued = 0
  let warpCycles = 0
  let finished = 0

  // Each block of a cluster runs on a separate SM.
  const clusters: BlockTrace[][] = []
  for (let first = 0; first < order.length; first += clusterBlocks)
    clusters.push(order.slice(first, first + clusterBlocks))
  const ends: number[] = []
  const left: number[] = []
  let nextCluster = 0
  let nextWarp = 0

  function startCluster(time: number): void {
    const cluster = clusters[nextCluster]
    if (!cluster) return
    const number = nextCluster++
    if (number >= setting.resident) for (const memory of memories) memory.startLaterWave()
    left[number] = cluster.reduce((sum, { warps }) => sum + warps.length, 0)
    for (const [sm, block] of cluster.entries())
      for (const warpTrace of block.warps) {
        const core = cores[sm * schedulersPerSm + (nextWarp++ % schedulersPerSm)]!
        const warp = newWarp({
          ...{ sm, core: cores.indexOf(core), block: number, trace: warpTrace },
          ...{ started: time, ready: time + values.blockCycles },
        })
        if (warp.done) {
          end(warp, time)
          continue
        }
        core.warps.push(warp)
        fetch(warp)
        core.next = Math.min(core.next, warp.ready)
      }
  }

  function end(warp: WarpState, time: number): void {
    warpCycles += time - warp.started
    finished = Math.max(finished, time)
    if (--left[warp.block]! > 0) return
    ends[warp.block] = time
    startCluster(time)
  }

  /** Delays the warp until `until` and attributes the delay to a stall reason. */
  function delay(warp: WarpState, until: number, reason: number, at: number): void {
    if (until <= warp.ready) return
    stalls[at * reasonCount + reason]! += until - warp.ready
    warp.ready = until
  }

  /**
   * Prepares the warp's next instruction. Computes the time at which the instruction could issue if
   * its pipe were free.
   */
  function fetch(warp: WarpState): void {
    const { at, scoreboard } = warp
    const line = Math.floor(at / instructionsPerLine)
    if (line !== warp.fetchedLine) {
      warp.fetchedLine = line
      delay(warp, caches[warp.sm]!.fetch(warp.ready, line), reasonAt.no_instruction, at)
    }
    const instruction = code[at]!
    if (instruction.waitMask !== 0)
      for (let index = 0; index < scoreboards; index++)
        if ((instruction.waitMask >> index) & 1)
          delay(
            warp,
            scoreboard[index]!,
            warp.long[index] ? reasonAt.long_scoreboard : reasonAt.short_scoreboard,
            at,
          )
    for (const constant of instruction.constants) {
      const known = constants[warp.sm]!
      if (known.has(constant)) continue
      known.add(constant)
      delay(warp, warp.ready + values.latencyConstantMiss, reasonAt.no_instruction, at)
    }
    const { action } = instruction
    if (action.kind === 'scoreboard') {
      const { groups } = warp
      const index = groups.length - 1 - action.pending
      if (index >= 0) {
        delay(warp, groups[index]!, reasonAt.long_scoreboard, at)
        warp.groups = groups.slice(index + 1)
      }
    } else if (action.kind === 'warpgroup-wait') {
      const { products } = warp
      const index = products.length - 1 - action.pending
      if (index >= 0) {
        // ncu counts a wait for a warpgroup product as a barrier stall.
        delay(warp, products[index]!, reasonAt.barrier, at)
        warp.products = products.slice(index + 1)
      }
    }
  }

  /**
   * Sends wavefronts through the load/store unit. Returns the completion time of the last
   * wavefront.
   */
  function pass(core: SubCore, time: number, wavefronts: number): number {
    const stage = dataStages[core.sm]!
    const began = Math.max(stage.free, time + dispatchCycles)
    const replayed = setting.replays ? Math.max(1, wavefronts) : 1
    const done = stage.serve(began, replayed * wavefrontCycles)
    core.pipes.enqueue(began)
    return done
  }

  function complete(warp: WarpState, instruction: TimedInstruction, done: number): void {
    const { writeBarrier } = instruction
    if (writeBarrier < 0) return
    if (done >= warp.scoreboard[writeBarrier]!) {
      warp.scoreboard[writeBarrier] = done
      warp.long[writeBarrier] = instruction.long ? 1 : 0
    }
  }

  function read(warp: WarpState, instruction: TimedInstruction, done: number): void {
    const { readBarrier } = instruction
    if (readBarrier < 0 || done < warp.scoreboard[readBarrier]!) return
    warp.scoreboard[readBarrier] = done
    warp.long[readBarrier] = instruction.long ? 1 : 0
  }

  const meetings = new Meetings(trace.arrivals, (warp, latest, reason) => {
    warp.ready = warp.waitUntil
    delay(warp, Math.max(latest, warp.waitUntil), reason, warp.at)
    fetch(warp)
    const core = cores[warp.core]!
    core.next = Math.min(core.next, warp.ready)
  })

  /**
   * Returns which of the sectors the warp has already written recently. L1 merges the new write
   * with the earlier write.
   */
  function justWritten(warp: WarpState, line: number, sectors: number, time: number): number {
    const { written } = warp
    if (written.size > mostWritten) written.clear()
    const before = written.get(line)
    const recent = before && time - before.time <= mergedWithin ? before.sectors : 0
    written.set(line, { sectors: recent | sectors, time })
    return recent & sectors
  }

  /**
   * Processes the trace events of an issued instruction. Returns the barrier that the warp must
   * wait for, if any, and the earliest time at which the warp resumes.
   */
  function doEvents(warp: WarpState, core: SubCore, instruction: TimedInstruction, time: number) {
    const { events } = warp.trace
    const memory = memories[warp.sm]!
    let blockedBy: Meeting | null = null
    let blockedReason: number = reasonAt.barrier
    let passed = 0
    let resumes = 0
    while (
      warp.event < events.length &&
      events[warp.event] === warp.piece &&
      events[warp.event + 1] === warp.at
    ) {
      const kind = events[warp.event + 2]!
      const from = warp.event + eventHead
      switch (kind) {
        case eventKinds.shared: {
          const { leastWavefronts } = instruction
          const most = without === 'conflicts' ? leastWavefronts : Infinity
          passed = pass(core, time, Math.min(events[from]!, most))
          complete(warp, instruction, passed + values.latencyShared - 1)
          warp.event = from + 1
          break
        }
        case eventKinds.local: {
          passed = pass(core, time, Math.ceil(events[from]! / lineBytes))
          complete(warp, instruction, passed + values.latencyL1)
          warp.event = from + 1
          break
        }
        case eventKinds.load:
        case eventKinds.copy:
        case eventKinds.copyPastL1:
        case eventKinds.store:
        case eventKinds.atomic:
        case eventKinds.reduction: {
          const lanes = events[from + 1]!
          const bytes = events[from + 2]!
          const first = from + 3
          const end = first + 1 + 2 * events[first]!
          const filled = Math.max(1, Math.ceil((lanes * bytes) / lineBytes))
          const narrowed = without === 'sectors' && filled < events[first]!
          const lines = narrowed ? filled : events[first]!
          const last = first + 1 + 2 * lines
          const wavefronts = Math.max(
            narrowed ? filled : events[from]!,
            lines / values.l1TagsPerCycle,
          )
          passed = pass(core, time, wavefronts)
          if (kind === eventKinds.store) {
            for (let place = first + 1; place < last; place += 2) {
              const bits = narrowed ? allSectors : events[place + 1]!
              const touched = Math.max(1, lines)
              memory.store(
                passed,
                events[place]!,
                bits & 15,
                bits >> wholeSectors,
                Math.min(32, (lanes * bytes) / touched),
                justWritten(warp, events[place]!, bits & 15, time),
              )
            }
          } else if (kind === eventKinds.atomic || kind === eventKinds.reduction) {
            let done = passed
            for (let place = first + 1; place < last; place += 2)
              done = Math.max(done, memory.fromL2(passed, events[place]!, events[place + 1]! & 15))
            if (kind === eventKinds.atomic)
              complete(warp, instruction, done + values.latencyAtomicGlobal)
          } else {
            let done = passed
            for (let place = first + 1; place < last; place += 2) {
              const sectors = narrowed ? 15 : events[place + 1]! & 15
              const throughL1 = kind !== eventKinds.copyPastL1
              done = Math.max(done, memory.load(passed, events[place]!, sectors, throughL1))
            }
            if (kind === eventKinds.load) complete(warp, instruction, done)
            else {
              warp.copies = Math.max(warp.copies, done)
              complete(warp, instruction, done)
            }
          }
          warp.event = end
          break
        }
        case eventKinds.bulkLoad:
        case eventKinds.bulkStore: {
          const lines = events[from]!
          let done = time
          for (let place = from + 1; place < from + 1 + 2 * lines; place += 2) {
            const bits = events[place + 1]!
            done = Math.max(
              done,
              kind === eventKinds.bulkLoad
                ? memory.fromL2(time, events[place]!, bits & 15)
                : memory.store(time, events[place]!, bits & 15, bits >> wholeSectors, 16),
            )
          }
          if (kind === eventKinds.bulkLoad) warp.bulk = done + values.latencyBulkCopy
          else warp.copies = Math.max(warp.copies, done)
          warp.event = from + 1 + 2 * lines
          break
        }
        case eventKinds.arrive:
        case eventKinds.arriveAfterCopies:
        case eventKinds.arriveAfterBulkCopy: {
          const at =
            kind === eventKinds.arrive
              ? time + (instruction.pipe === 'branch' ? barrierCycles : values.latencyMbarrier)
              : kind === eventKinds.arriveAfterCopies
                ? Math.max(time, warp.copies)
                : warp.bulk
          warp.event = from + 2
          meetings.arrive(events[from]!, events[from + 1]!, at)
          break
        }
        default: {
          if (without === 'barriers' && instruction.pipe === 'branch') {
            warp.event = from + 2
            break
          }
          const meeting = meetings.of(events[from]!, events[from + 1]!)
          // A wait for an mbarrier is a loop that depends on a predicate. ncu counts this loop as a
          // long scoreboard stall.
          if (instruction.pipe !== 'branch') blockedReason = reasonAt.long_scoreboard
          if (meeting.left > 0) blockedBy = meeting
          else resumes = Math.max(resumes, meeting.latest)
          warp.event = from + 2
        }
      }
    }
    // An access without active lanes also passes through the load/store unit. The warp waits for
    // its result.
    if (passed === 0 && instruction.accesses) {
      passed = pass(core, time, 1)
      complete(warp, instruction, passed + values.latencyShared - 1)
    }
    if (passed > 0) read(warp, instruction, passed + operandCycles)
    else complete(warp, instruction, time + instruction.latency)
    return { blockedBy, blockedReason, resumes }
  }

  function issue(warp: WarpState, core: SubCore, time: number): void {
    const { at } = warp
    const instruction = code[at]!
    const place = at * reasonCount
    const throttled = Math.min(time - warp.ready, core.pipes.throttled(instruction, warp.ready))
    stalls[place + throttleOf(instruction)]! += throttled
    const rest = time - warp.ready - throttled
    const delayed = rest > 0 ? Math.min(rest, core.registers.delayed(warp.ready, time)) : 0
    stalls[place + reasonAt.dispatch_stall]! += delayed
    stalls[place + reasonAt.not_selected]! += rest - delayed
    if (setting.readsRegisters)
      core.heldUntil = core.next + core.registers.read(warp, instruction.reads, time)
    issued++
    executed[at]!++
    core.pipes.take(instruction, time)
    warp.lastIssue = time
    warp.ready = time + 1
    let blocked: ReturnType<typeof doEvents> | null = null
    const { action } = instruction
    switch (action.kind) {
      case 'events':
        blocked = doEvents(warp, core, instruction, time)
        break
      case 'shuffle': {
        const passed = pass(core, time, 1)
        complete(warp, instruction, passed + instruction.latency)
        read(warp, instruction, passed + operandCycles)
        break
      }
      case 'constant': {
        const known = constants[warp.sm]!
        const missed = action.line !== null && !known.has(action.line)
        if (action.line !== null) known.add(action.line)
        complete(
          warp,
          instruction,
          time + (missed ? values.latencyConstantMiss : values.latencyConstant),
        )
        break
      }
      case 'copy-group':
        warp.groups.push(Math.max(time, warp.copies, warp.groups.at(-1) ?? 0))
        complete(warp, instruction, time + 1)
        break
      case 'warpgroup': {
        const ends = core.pipes.multiply(time, action.cycles)
        if (action.commits) warp.products.push(ends + action.drain)
        break
      }
      case 'sleep':
        warp.ready = time + action.cycles
        stalls[place + reasonAt.sleeping]! += action.cycles
        break
      case 'plain':
      case 'scoreboard':
      case 'warpgroup-wait':
        complete(warp, instruction, time + instruction.latency)
        read(warp, instruction, time + operandCycles)
        break
    }
    advance(warp, core, instruction, blocked)
  }

  /** Advances the warp to its next instruction. */
  function advance(
    warp: WarpState,
    core: SubCore,
    instruction: TimedInstruction,
    blocked: ReturnType<typeof doEvents> | null,
  ): void {
    const { pieces } = warp.trace
    const from = warp.at
    const fixed = warp.lastIssue + instruction.stall
    if (from < pieces[2 * warp.piece + 1]!) warp.at = from + 1
    else {
      warp.piece++
      if (2 * warp.piece >= pieces.length) {
        warp.done = true
        core.warps.splice(core.warps.indexOf(warp), 1)
        if (core.last === warp) core.last = null
        end(warp, warp.lastIssue + 1)
        return
      }
      warp.at = pieces[2 * warp.piece]!
      if (warp.at !== from + 1) {
        delay(warp, fixed, reasonAt.wait, warp.at)
        delay(warp, fixed + values.branchTaken, reasonAt.branch_resolving, warp.at)
      }
    }
    delay(warp, fixed, reasonAt.wait, warp.at)
    if (blocked?.blockedBy) {
      warp.waitUntil = Math.max(warp.ready, blocked.resumes)
      warp.ready = Infinity
      blocked.blockedBy.waiting.push({ warp, reason: blocked.blockedReason })
      return
    }
    if (blocked && blocked.resumes > 0) delay(warp, blocked.resumes, blocked.blockedReason, warp.at)
    fetch(warp)
  }

  const startEvery = setting.sharing.sms / clusterBlocks / values.blocksPerCycle
  for (let block = 0; block < setting.resident; block++) startCluster(block * startEvery)
  for (;;) {
    let core: SubCore | null = null
    for (const each of cores) if (core === null || each.next < core.next) core = each
    const time = core!.next
    if (time === Infinity) {
      if (!meetings.releaseAll()) break
      continue
    }
    let best: WarpState | null = null
    let soonest = Infinity
    for (const warp of core!.warps) {
      if (warp.ready === Infinity) continue
      const earliest = Math.max(warp.ready, core!.heldUntil, core!.pipes.freeFor(code[warp.at]!))
      if (earliest > time) soonest = Math.min(soonest, earliest)
      else if (best === null || warp === core!.last) best = warp
    }
    if (best === null) {
      core!.next = soonest
      continue
    }
    core!.last = best
    core!.next = Math.floor(time) + 1
    issue(best, core!, time)
  }
  const drained = Math.max(finished, ...memories.map((memory) => memory.finish()))
  const sum = (of: (memory: MemoryHierarchy) => number): number =>
    memories.reduce((total, memory) => total + of(memory), 0)
  const traffic = Object.fromEntries(
    Object.keys(memories[0]!.traffic).map((name) => [
      name,
      sum(({ traffic: own }) => own[name as keyof Traffic]),
    ]),
  ) as unknown as Traffic
  return {
    cycles: drained,
    ends,
    issued,
    pipeBusy: Object.fromEntries(
      pipes.map((name, index) => [
        name,
        cores.reduce((total, core) => total + core.pipes.busy[index]!, 0),
      ]),
    ) as SmResult['pipeBusy'],
    l1Busy: dataStages.reduce((total, { busy }) => total + busy, 0),
    l2Busy: sum(({ l2 }) => l2.busy),
    dramBusy: sum(({ dram }) => dram.busy),
    portBusy: sum(({ port }) => port.busy),
    stalls,
    executed,
    warpCycles,
    traffic,
    instructionCacheMisses: caches.reduce((total, { misses }) => total + misses, 0),
  }
}
