/**
 * Waves: how often a grid refills the SMs, how full the last refill is, and the schedule that follows
 * if all blocks take equally long. What really happens differs where blocks differ; the schedule is a
 * model and is labelled so.
 */
export interface Waves {
  blocks: number
  /** Blocks that run at the same time: SMs × blocks an SM. */
  slots: number
  /** As ncu's launch__waves_per_multiprocessor. */
  waves: number
  /** Refills with the last one counted whole. */
  wholeWaves: number
  /** Slots in use in the last wave, as a share of all, from 0 (exclusive) to 1. */
  lastWaveFill: number
  /** Slot time in use over the whole run, 0 to 1: waves / wholeWaves. */
  efficiency: number
}

/** Null where nothing can be resident: no block fits. Counts are whole and positive otherwise. */
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

export interface ScheduledBlock {
  /** In the order in which blocks are handed out, from 0. */
  block: number
  /** Place within its SM, from 0 to blocksPerSm - 1. */
  slot: number
  /** In units of one block's duration. */
  start: number
  end: number
}

export interface Schedule {
  /** By SM, each in order of time. */
  sms: ScheduledBlock[][]
  /** Waves that are drawn: the first ones and the last ones of a long run. */
  drawnWaves: number[]
  /** Waves between them that are left out, as [from, to) or null when none is. */
  leftOut: [number, number] | null
  wholeWaves: number
}

/** More waves than this and the middle is left out. */
const mostWaves = 8

/**
 * Blocks over SMs, wave by wave: a wave gives each SM one block before any gets its second, as CUDA's
 * distributor does. Long runs keep their first waves and their last two, where the tail is.
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
