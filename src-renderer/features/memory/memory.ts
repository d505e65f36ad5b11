/** Calculates the bytes that a launch moves between memory levels, and each level's utilization. */
import type { RungResult } from '../../../src-main/domain/session/session'

/**
 * Links between memory levels. Each link connects the level in its name to the next level toward
 * the SM.
 */
export const links = ['shared', 'l1', 'l2', 'dram'] as const
export type Link = (typeof links)[number]

interface Flow {
  bytes: number | null
  /** Bytes per second, averaged over the whole launch. */
  rate: number | null
}

export interface Level {
  /** Utilization as a percentage of the level's peak. */
  busy: number | null
  /** Percentage of the requested sectors that were hits. */
  hit: number | null
}

interface MemoryFigures {
  flows: Record<Link, Flow>
  /** L1 and shared memory share one storage and one data stage, so they form one level. */
  l1: Level
  l2: Level
  dram: Level
}

/**
 * Bytes that a wavefront occupies. A wavefront is one pass over the 32 banks of 4 bytes. The
 * threads may have requested fewer bytes.
 */
const bytesPerWavefront = 128

export function memoryFigures(rung: RungResult): MemoryFigures {
  const figure = (id: string) => rung.metrics[id]?.value ?? null
  const seconds = rung.timing ? rung.timing.medianMs / 1000 : null
  const flow = (bytes: number | null): Flow => ({
    bytes,
    rate: bytes !== null && seconds !== null ? bytes / seconds : null,
  })
  const [loads, stores] = [figure('sharedLoadWavefronts'), figure('sharedStoreWavefronts')]
  return {
    flows: {
      shared: flow(loads === null || stores === null ? null : (loads + stores) * bytesPerWavefront),
      l1: flow(figure('l1Bytes')),
      l2: flow(figure('l2Bytes')),
      dram: flow(figure('dramBytes')),
    },
    l1: { busy: figure('lsuDataUtilization'), hit: figure('l1HitRate') },
    l2: { busy: figure('l2Utilization'), hit: figure('l2HitRate') },
    dram: { busy: figure('dramUtilization'), hit: null },
  }
}

export const hasFigures = ({ flows }: MemoryFigures): boolean =>
  links.some((link) => flows[link].bytes !== null)

/**
 * Returns a link's width in pixels. The square-root scale keeps a link visible even at a hundredth
 * of the largest traffic.
 */
export function linkWidth(bytes: number | null, most: number): number {
  return bytes === null || bytes <= 0 || most <= 0 ? 1 : 1 + 17 * Math.sqrt(bytes / most)
}
