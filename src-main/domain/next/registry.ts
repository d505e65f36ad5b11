/** All moves. The order matters only for moves with equal gains. */
import type { Move } from './move'
import { addressing } from './moves/addressing'
import { aggregateAtomics } from './moves/aggregate-atomics'
import { asyncCopy } from './moves/async-copy'
import { barriers } from './moves/barriers'
import { blockShape } from './moves/block-shape'
import { blocks } from './moves/blocks'
import { cluster } from './moves/cluster'
import { coalesce } from './moves/coalesce'
import { divergence } from './moves/divergence'
import { eviction } from './moves/eviction'
import { fuse } from './moves/fuse'
import { l2Order } from './moves/l2-order'
import { largerBlocks } from './moves/larger-blocks'
import { library } from './moves/library'
import { moreWork } from './moves/more-work'
import { occupancyDown } from './moves/occupancy-down'
import { occupancyUp } from './moves/occupancy-up'
import { onePass } from './moves/one-pass'
import { overlap } from './moves/overlap'
import { pad } from './moves/pad'
import { persistent } from './moves/persistent'
import { precision } from './moves/precision'
import { prefetch } from './moves/prefetch'
import { registerTile } from './moves/register-tile'
import { sharedTile } from './moves/shared-tile'
import { shuffle } from './moves/shuffle'
import { specialize } from './moves/specialize'
import { splitK } from './moves/split-k'
import { tensorCores } from './moves/tensor-cores'
import { unroll } from './moves/unroll'
import { vectorize } from './moves/vectorize'

export const moves: readonly Move[] = [
  coalesce,
  aggregateAtomics,
  tensorCores,
  sharedTile,
  registerTile,
  onePass,
  fuse,
  pad,
  vectorize,
  blocks,
  splitK,
  asyncCopy,
  prefetch,
  specialize,
  persistent,
  overlap,
  cluster,
  moreWork,
  shuffle,
  barriers,
  divergence,
  unroll,
  addressing,
  occupancyUp,
  largerBlocks,
  occupancyDown,
  blockShape,
  l2Order,
  eviction,
  precision,
  library,
]

export const moveOf = (id: string): Move | undefined => moves.find((move) => move.id === id)
