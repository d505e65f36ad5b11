/** Waves of a launch: how its blocks fill the GPU, and which SM runs which block. */

/**
 * Waves: how often a grid fills the SMs, how full the last wave is, and the schedule that results if all blocks
 * take equally long. Reality differs if blocks differ; the schedule is a model and labeled as such.
 */
export interface Waves {
  blocks: number
  /** Blocks that run concurrently: SMs × blocks per SM. */
  slots: number
  /** The same as ncu's launch__waves_per_multiprocessor. */
  waves: number
  /** Waves, counting the last one as a full one. */
  wholeWaves: number
  /** Share of the slots used in the last wave, from 0 (exclusive) to 1. */
  lastWaveFill: number
  /** Share of the slot time used over the whole run, 0 to 1: waves / wholeWaves. */
  efficiency: number
}

/** Null if no block fits. Otherwise counts are positive integers. */
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
  /** In launch order, from 0. */
  block: number
  /** Slot within its SM, from 0 to blocksPerSm - 1. */
  slot: number
  /** In units of one block's duration. */
  start: number
  end: number
}

export interface Schedule {
  /** By SM, each in chronological order. */
  sms: ScheduledBlock[][]
  /** The waves to draw: the first and last ones of a long run. */
  drawnWaves: number[]
  /** The omitted waves in between, as [from, to), or null if there are none. */
  leftOut: [number, number] | null
  wholeWaves: number
}

/** With more waves than this, the middle is omitted. */
const mostWaves = 8

/**
 * Assigns blocks to SMs, wave by wave: each SM gets one block before any gets a second, as CUDA's work
 * distributor does. Long runs keep their first waves and the last two, which contain the tail.
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
