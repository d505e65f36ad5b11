/** Control instructions: branches, calls, barriers, and other instructions that wait. */
import type { Instruction } from '../sass/instruction'
import { phaseControl } from './mbarriers'
import { type Cluster, type Control, type Split, type Warp } from './warp'
import { lanes, Site, type EmulatorState } from './site'
import type { Trace } from './trace'
import { systemCall } from './system-calls'
import { barrierControl, completeBarrier } from './block-barriers'
import { branch, converge, convergenceOf, giveWay, scatter, setConvergence } from './divergence'

/** Instructions that can change a warp's control flow. */
const controls = new Set([
  'BRA',
  'BRX',
  'JMP',
  'BSSY',
  'BSYNC',
  'BREAK',
  'BMOV',
  'WARPSYNC',
  'YIELD',
  'NANOSLEEP',
  'CALL',
  'RET',
  'EXIT',
  'BAR',
  'B2R',
  'BPT',
  'KILL',
  'UCGABAR_ARV',
  'UCGABAR_WAIT',
])

export const isControl = ({ mnemonic, modifiers }: Instruction): boolean =>
  controls.has(mnemonic) || (mnemonic === 'SYNCS' && modifiers.includes('PHASECHK'))

/** Releases the blocks of a cluster once all remaining warps have arrived. */
function completeCluster(cluster: Cluster, trace: Trace | null): void {
  if (cluster.arrived === 0) return
  const warps = cluster.blocks.flatMap(({ warps: all }) => all).filter(({ live }) => live !== 0)
  if (cluster.arrived < warps.length) return
  cluster.arrived = 0
  cluster.meetings++
  trace?.completes({ kind: 'cluster', block: cluster.blocks[0]! })
  for (const block of cluster.blocks) block.watch?.barrier(block.warps.map(({ number }) => number))
}

function exit(warp: Warp, split: Split, active: number, trace: Trace | null): void {
  split.mask &= ~active
  warp.live &= ~active
  split.at++
  if (split.mask === 0) warp.splits = warp.splits.filter((each) => each !== split)
  converge(warp)
  for (const index of warp.block.barriers.keys()) completeBarrier(warp.block, index, trace)
  completeCluster(warp.block.cluster, trace)
}

/** Ends a warp early, as if all its lanes had exited. */
export function retire(warp: Warp, trace: Trace): void {
  for (const split of [...warp.splits]) exit(warp, split, split.mask, trace)
}

const barrierIndex = (site: Site): number => {
  const [operand] = site.all('convergence-barrier')
  return operand ? site.take(operand, 'value').index : site.unknown()
}

/** Returns a control instruction's extra condition, which applies in addition to its guard. */
const conditionOf = (site: Site): ((warp: Warp) => number) => site.predicate(site.predicates[0])

/** Returns the function that executes a control instruction. */
export function controlOf(
  instruction: Instruction,
  index: number,
  machine: EmulatorState,
): Control {
  const site = new Site(instruction, index, machine)
  const control = makeControl(site, index, machine)
  site.finish()
  return control
}

function makeControl(site: Site, index: number, machine: EmulatorState): Control {
  const { counts } = machine
  switch (site.mnemonic) {
    case 'BRA':
    case 'JMP': {
      const target = site.target()
      if (site.has('DIV')) {
        const among = site.int(site.all('uniform-register', 'register')[0] ?? site.unknown())
        return (warp, split, active) => {
          const whole = (among(warp.base, 0) & warp.live) === split.mask
          branch(warp, split, whole ? 0 : active, target, counts)
        }
      }
      const holds = conditionOf(site)
      site.expect('U')
      // With ANY, if any lane branches, all of the split's lanes branch, even lanes that the guard
      // excludes. The lanes share the uniform registers, so they must stay together.
      const any = site.has('ANY')
      return (warp, split, active) => {
        const taken = active & holds(warp)
        branch(warp, split, any && taken !== 0 ? split.mask : taken, target, counts)
      }
    }
    case 'BRX': {
      // The target is the address of the next instruction plus the register's value and the printed
      // offset.
      const by = site.int(site.all('register')[0] ?? site.unknown())
      const [offset] = site.all('immediate')
      const plus = offset ? site.take(offset, 'value').bits : 0
      return (warp, split, active) =>
        scatter(warp, split, active, index, counts, (lane) => {
          return (16 * (index + 1) + plus + by(warp.base, lane)) / 16
        })
    }
    case 'BSSY': {
      const barrier = barrierIndex(site)
      // Lanes wait at BSYNC, so BSSY's target is not needed.
      site.target()
      return (warp, split, active) => {
        setConvergence(warp, barrier, active, () => active)
        split.at++
      }
    }
    case 'BREAK': {
      const barrier = barrierIndex(site)
      return (warp, split, active) => {
        const among = convergenceOf(warp, barrier, active)
        setConvergence(warp, barrier, among | active, (before) => before & ~active)
        split.at++
        converge(warp)
      }
    }
    case 'BSYNC': {
      const barrier = barrierIndex(site)
      return (warp, split, active) => {
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
      site.expect('32')
      const other = site.all('register', 'uniform-register', 'immediate')[0] ?? site.unknown()
      const reads = site.first?.kind !== 'convergence-barrier'
      if (reads && other.kind === 'register') {
        const put = site.putRegister(other)
        const clears = site.has('CLEAR')
        return (warp, split, active) => {
          for (let lane = 0; lane < lanes; lane++)
            if ((active >>> lane) & 1)
              put(warp.base, lane, warp.convergence[barrier * lanes + lane]!)
          if (clears) setConvergence(warp, barrier, active, () => 0)
          split.at++
        }
      }
      const value = site.int(other)
      return (warp, split, active) => {
        setConvergence(warp, barrier, active, (_, lane) => value(warp.base, lane))
        split.at++
      }
    }
    case 'WARPSYNC': {
      const [operand] = site.all('register', 'immediate', 'uniform-register')
      const among = operand ? site.int(operand) : () => -1
      site.expect('ALL')
      // With COLLECTIVE, the target marks the end of the collective section. The emulator ignores
      // the target of COLLECTIVE.
      if (site.has('COLLECTIVE')) site.target()
      return (warp, split, active) => {
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
    case 'YIELD':
    case 'NANOSLEEP':
      for (const time of site.all('immediate', 'register', 'constant')) site.take(time, 'value')
      return (warp, split, active) => {
        split.at++
        if (active !== 0) giveWay(warp, split)
      }
    case 'CALL': {
      site.expect('NOINC')
      const [register] = site.all('register')
      if (register && site.has('ABS')) return systemCall(site, register)
      site.expect('REL')
      const target = site.target()
      if (register) {
        // The operand is a function pointer. nvcc stores the function's address within the kernel
        // in a table in constant bank 2.
        const place = site.int(register)
        return (warp, split, active) =>
          scatter(
            warp,
            split,
            active,
            index,
            counts,
            (lane) => target + place(warp.base, lane) / 16,
          )
      }
      return (warp, split, active) => branch(warp, split, active, target, counts)
    }
    case 'RET': {
      site.expect('REL', 'NODEC')
      const address = site.int(site.all('register')[0] ?? site.unknown())
      const from = site.all('target').length > 0 ? site.target() : 0
      // Lanes at different recursion depths return to different addresses.
      return (warp, split, active) =>
        scatter(warp, split, active, index, counts, (lane) => from + address(warp.base, lane) / 16)
    }
    case 'EXIT':
    case 'KILL': {
      const holds = conditionOf(site)
      return (warp, split, active) => exit(warp, split, active & holds(warp), machine.trace)
    }
    case 'SYNCS':
      return phaseControl(site)
    case 'UCGABAR_ARV':
      return (warp, split, active) => {
        split.at++
        if (active === 0) return
        const { cluster } = warp.block
        warp.clusterTurn = cluster.meetings
        cluster.arrived++
        const [block] = cluster.blocks
        machine.trace?.arrives(warp, index, { kind: 'cluster', block: block! }, 'warp')
        completeCluster(cluster, machine.trace)
      }
    case 'UCGABAR_WAIT':
      return (warp, split, active) => {
        split.at++
        if (active === 0) return
        const { cluster } = warp.block
        const over = () => cluster.meetings > warp.clusterTurn
        const phase = over() ? 'previous' : 'current'
        const [block] = cluster.blocks
        machine.trace?.waits(warp, index, { kind: 'cluster', block: block! }, phase)
        if (!over()) split.waits = { kind: 'until', over, end: () => {}, timesOut: false }
      }
    case 'BAR':
      return barrierControl(site)
    case 'B2R': {
      site.expect('RESULT')
      const put = site.operands.destination ? site.put() : () => {}
      const out = site.putPredicate(site.operands.outs[0])
      return (warp, split, active) => {
        for (let lane = 0; lane < lanes; lane++)
          if ((active >>> lane) & 1) put(warp.base, lane, warp.barrierResult)
        out(warp, active, warp.barrierResult !== 0 ? -1 : 0)
        split.at++
      }
    }
    default:
      site.matching(/./)
      for (const operand of site.all('immediate')) site.take(operand, 'value')
      return (_, split, active) => {
        if (active !== 0) site.halt('trap', site.mnemonic)
        split.at++
      }
  }
}
