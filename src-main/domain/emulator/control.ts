/** Instructions that decide where a warp goes on: branches, calls, and all that waits. */
import type { Instruction } from '../sass/instruction'
import { phaseControl, barrierControl, completeBarrier } from './barriers'
import {
  branch,
  converge,
  giveWay,
  scatter,
  Halt,
  type Cluster,
  type Control,
  type Split,
  type Warp,
} from './warp'
import { lanes, Site, type Machine } from './site'
import { systemCall } from './system-calls'

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

/** Lets the blocks of a cluster go on when all warps that are left have arrived. */
function completeCluster(cluster: Cluster): void {
  if (cluster.arrived === 0) return
  const warps = cluster.blocks.flatMap(({ warps: all }) => all).filter(({ live }) => live !== 0)
  if (cluster.arrived < warps.length) return
  cluster.arrived = 0
  cluster.meetings++
  for (const block of cluster.blocks) block.watch?.barrier(block.warps.map(({ number }) => number))
}

function exit(warp: Warp, split: Split, active: number): void {
  split.mask &= ~active
  warp.live &= ~active
  split.at++
  if (split.mask === 0) warp.splits = warp.splits.filter((each) => each !== split)
  converge(warp)
  for (const index of warp.block.barriers.keys()) completeBarrier(warp.block, index)
  completeCluster(warp.block.cluster)
}

const targetOf = (site: Site): number => {
  const operand = site.instruction.operands.find(({ kind }) => kind === 'target')
  return operand?.kind === 'target' ? operand.address / 16 : site.unknown('it has no target')
}

const barrierIndex = (site: Site): number => {
  const operand = site.instruction.operands.find(({ kind }) => kind === 'convergence-barrier')
  return operand?.kind === 'convergence-barrier' ? operand.index : site.unknown()
}

/** What an instruction that decides where a warp goes on does. */
export function controlOf(instruction: Instruction, index: number, machine: Machine): Control {
  const site = new Site(instruction, index, machine)
  const { counts } = machine
  switch (instruction.mnemonic) {
    case 'BRA':
    case 'JMP': {
      const target = targetOf(site)
      if (site.has('DIV')) {
        const operand = instruction.operands[0]!
        const among = site.int(operand)
        return (warp, split, active) => {
          const whole = (among(warp.base, 0) & warp.live) === split.mask
          branch(warp, split, whole ? 0 : active, target, counts)
        }
      }
      const condition = instruction.operands.find(
        (operand) => operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
      )
      const holds =
        condition?.kind === 'predicate' || condition?.kind === 'uniform-predicate'
          ? site.predicate(condition)
          : null
      // One lane that goes takes all along, those that its guard leaves out as well: uniform registers are theirs in common.
      const any = site.has('ANY')
      return (warp, split, active) => {
        const taken = holds ? active & holds(warp) : active
        branch(warp, split, any && taken !== 0 ? split.mask : taken, target, counts)
      }
    }
    case 'BRX': {
      // The register holds the distance from the next instruction, less what is printed behind it.
      const [register, offset] = instruction.operands
      const by = site.int(register!)
      const plus = offset?.kind === 'immediate' ? offset.bits : 0
      return (warp, split, active) =>
        scatter(warp, split, active, index, counts, (lane) => {
          return (16 * (index + 1) + plus + by(warp.base, lane)) / 16
        })
    }
    case 'BSSY': {
      const barrier = barrierIndex(site)
      return (warp, split, active) => {
        if (active !== 0) warp.convergence[barrier] = active
        split.at++
      }
    }
    case 'BREAK': {
      const barrier = barrierIndex(site)
      return (warp, split, active) => {
        warp.convergence[barrier]! &= ~active
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
      const other = instruction.operands.find(({ kind }) => kind !== 'convergence-barrier')!
      const reads = instruction.operands[0]!.kind !== 'convergence-barrier'
      if (reads && other.kind === 'register') {
        const put = site.putRegister(other)
        const clears = site.has('CLEAR')
        return (warp, split, active) => {
          for (let lane = 0; lane < lanes; lane++)
            if ((active >>> lane) & 1) put(warp.base, lane, warp.convergence[barrier]!)
          if (clears) warp.convergence[barrier] = 0
          split.at++
        }
      }
      const value = site.int(other)
      return (warp, split, active) => {
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
      return (warp, split, active) => {
        split.at++
        if (active !== 0) giveWay(warp, split)
      }
    case 'CALL': {
      const register = instruction.operands.find(({ kind }) => kind === 'register')
      if (register && site.has('ABS')) return systemCall(site, register)
      const target = targetOf(site)
      return (warp, split, active) => branch(warp, split, active, target, counts)
    }
    case 'RET': {
      const operand = instruction.operands.find(({ kind }) => kind === 'register')!
      const address = site.int(operand)
      // Lanes at different depths of a recursion return to different places.
      return (warp, split, active) =>
        scatter(warp, split, active, index, counts, (lane) => address(warp.base, lane) / 16)
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
      return (warp, split, active) => exit(warp, split, active & holds(warp))
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
        completeCluster(cluster)
      }
    case 'UCGABAR_WAIT':
      return (warp, split, active) => {
        split.at++
        if (active === 0) return
        const { cluster } = warp.block
        const over = () => cluster.meetings > warp.clusterTurn
        if (!over()) split.waits = { kind: 'until', over, end: () => {}, timesOut: false }
      }
    case 'BAR':
      return barrierControl(site)
    case 'B2R': {
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
      return (_, split, active) => {
        if (active !== 0) throw new Halt('trap', instruction, instruction.mnemonic)
        split.at++
      }
  }
}
