/**
 * Reads the resources that one block of a launch uses, which ncu reports for every launch.
 */
import type { LaunchResources } from '../../domain/session/session'
import type { NcuLaunch } from './ncu-csv'

const names = {
  registersPerThread: 'launch__registers_per_thread',
  staticSharedBytes: 'launch__shared_mem_per_block_static',
  dynamicSharedBytes: 'launch__shared_mem_per_block_dynamic',
  barriers: 'launch__barrier_count',
  carveOutBytes: 'launch__shared_mem_config_size',
  clusterBlocks: 'launch__cluster_size',
} as const satisfies Record<keyof LaunchResources, string>

/**
 * Returns a block's resources, or undefined if the file does not contain them, as for a details
 * page.
 */
export function launchResources({
  metrics,
}: Pick<NcuLaunch, 'metrics'>): LaunchResources | undefined {
  const entries = Object.entries(names).map(([key, name]): [string, number | null] => {
    const value = metrics[name]?.value
    return [key, typeof value === 'number' ? value : null]
  })
  return entries.some(([, value]) => value !== null)
    ? (Object.fromEntries(entries) as LaunchResources)
    : undefined
}
