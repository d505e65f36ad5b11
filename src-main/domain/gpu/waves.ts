/** Computes a launch's waves: how its blocks fill the GPU, and which SM runs which block. */

/**
 * A grid's waves, and how well they use the GPU. The model assumes that all blocks take
 * equally long. If some blocks take longer than others, the real schedule is different. The
 * schedule is therefore labeled as a model.
 */
export interface Waves {
  blocks: number
  /** Number of blocks that run concurrently, which is SMs × blocks per SM. */
  slots: number
  /** Number of waves, which equals ncu's launch__waves_per_multiprocessor. */
  waves: number
  /** Number of waves, counting a partial last wave as full. */
  wholeWaves: number
  /** Fraction of the slots that the last wave uses, from 0 (exclusive) to 1. */
  lastWaveFill: number
  /**
   * Fraction of the slot time in use over the whole run, from 0 to 1. The fraction equals waves /
   * wholeWaves.
   */
  efficiency: number
}

/** Returns a launch's waves, or null if there are no blocks or no block fits. */
export function wavesOf(blocks: number, smCount: number, blocksPerSm: number): Waves | null {
  const slots = smCount * blocksPerSm
  if (slots <= 0 || blocks <= 0) return null
  const waves = blocks / slots
  const wholeWaves = Math.ceil(waves)
  return {
    blocks,
    slots,
    waves,
    wholeWaves,
    lastWaveFill: waves - (wholeWaves - 1),
    efficiency: waves / wholeWaves,
  }
}

interface ScheduledBlock {
  /** Index of the block in launch order, starting at 0. */
  block: number
  /** The block's slot on its SM, from 0 to blocksPerSm - 1. */
  slot: number
  /** Start time, in units of one block's duration. */
  start: number
  end: number
}

export interface Schedule {
  /** Blocks on each SM, in chronological order. */
  sms: ScheduledBlock[][]
  /**
   * Indices of the waves to draw. For a long run, the list contains the first waves and the last
   * two.
   */
  drawnWaves: number[]
  /** Range of omitted waves as [from, to), or null if no waves are omitted. */
  leftOut: [number, number] | null
  wholeWaves: number
}

/** Maximum number of waves to draw. If there are more waves, the middle waves are omitted. */
const mostWaves = 8

/**
 * Returns the schedule of blocks on SMs, wave by wave. Each SM gets one block before any SM gets a
 * second block, as in CUDA's work distributor. For long runs, the schedule contains only the first
 * waves and the last two, which include the tail.
 */
export function scheduleOf(
  blocks: number,
  smCount: number,
  blocksPerSm: number,
  maxWaves = mostWaves,
): Schedule | null {
  const waves = wavesOf(blocks, smCount, blocksPerSm)
  if (!waves) return null
  const { slots, wholeWaves } = waves
  const head = wholeWaves <= maxWaves ? wholeWaves : Math.max(1, maxWaves - 2)
  const tail = wholeWaves <= maxWaves ? 0 : Math.min(2, wholeWaves - head)
  const drawnWaves = [
    ...Array.from({ length: head }, (_, wave) => wave),
    ...Array.from({ length: tail }, (_, index) => wholeWaves - tail + index),
  ]
  const sms: ScheduledBlock[][] = Array.from({ length: smCount }, () => [])
  for (const wave of drawnWaves)
    for (let index = 0; index < slots; index += 1) {
      const block = wave * slots + index
      if (block >= blocks) break
      sms[index % smCount]!.push({
        block,
        slot: Math.floor(index / smCount),
        start: wave,
        end: wave + 1,
      })
    }
  return { sms, drawnWaves, leftOut: tail === 0 ? null : [head, wholeWaves - tail], wholeWaves }
}
