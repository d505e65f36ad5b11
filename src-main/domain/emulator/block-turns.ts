/** Creates a cluster's blocks and runs their warps in rounds until all warps have exited. */
import { truePredicate, type Instruction } from '../sass/instruction'
import type { Launch } from './launch-types'
import type { LaunchMemory } from './launch-memory'
import { lanes } from './site'
import {
  convergenceWords,
  Halt,
  predicateTrue,
  uniformPredicates,
  type Block,
  type Cluster,
  type Split,
  type Warp,
} from './warp'

/**
 * Maximum number of consecutive rounds in which warps continue only because their waits time out.
 */
const mostStalls = 100

function newWarp(memory: LaunchMemory, block: Block, number: number, first: number): Warp {
  const { threads, warpWords, predicateWords, views } = memory
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

/** Adds a block to a cluster. The block's rank selects its slot in the scratch memory. */
export function addBlock(
  cluster: Cluster,
  number: number,
  { grid: [x, y] }: Launch,
  memory: LaunchMemory,
  watches: readonly NonNullable<Block['watch']>[],
): void {
  const rank = cluster.blocks.length
  const first = memory.start + rank * memory.blockBytes
  const shared = first + memory.sharedPlace
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
  for (let index = 0; index < memory.warps; index++)
    block.warps.push(newWarp(memory, block, index, first))
  memory.views.bytes.fill(0, shared, shared + memory.sharedBytes)
  block.watch?.beginBlock()
  cluster.blocks.push(block)
}

/**
 * Returns whether a split (a group of lanes at the same instruction) can run now. Ends the split's
 * wait if its condition is met.
 */
function ready(split: Split, timedOut: boolean): boolean {
  const { waits } = split
  if (waits === null) return true
  if (waits.kind !== 'until' || !((timedOut && waits.timesOut) || waits.over())) return false
  split.waits = null
  split.yielded = false
  waits.end()
  return true
}

/**
 * Runs each of the blocks' warps for one turn. `timedOut` ends every wait that can time out.
 * Returns false if no warp could run.
 */
function runTurns(
  blocks: readonly Block[],
  run: (warp: Warp, split: Split) => void,
  timedOut: boolean,
): boolean {
  let ran = false
  for (const block of blocks)
    for (const warp of block.warps)
      for (const split of [...warp.splits]) {
        if (!warp.splits.includes(split) || !ready(split, timedOut)) continue
        run(warp, split)
        ran = true
      }
  return ran
}

/**
 * Runs the blocks of a cluster until all their warps have exited. `run` runs a split until it
 * waits, exits or uses up its turn. `warpsMayEnd` means that a trace ends some warps early. Other
 * warps may then wait for them forever. Throws `Halt` on a deadlock.
 */
export function runCluster(
  { blocks }: Cluster,
  code: readonly Instruction[],
  run: (warp: Warp, split: Split) => void,
  warpsMayEnd: boolean,
): void {
  const warps = blocks.flatMap((block) => block.warps)
  let stalls = 0
  for (;;) {
    const waiting = warps.find(({ splits }) => splits.length > 0)
    if (!waiting) return
    if (runTurns(blocks, run, false)) stalls = 0
    else if (stalls++ === mostStalls || !runTurns(blocks, run, true)) {
      if (warpsMayEnd) return
      const at = waiting.splits[0]!.at - 1
      throw new Halt('deadlock', code[at] ?? null, `${waiting.block.number}`)
    }
  }
}
