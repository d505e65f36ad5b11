/** How metrics are laid out wherever they are listed. */
export type MetricGroupId = 'occupancy' | 'shared' | 'arithmetic' | 'resources' | 'other'

const groups: readonly { id: MetricGroupId; metrics: readonly string[] }[] = [
  { id: 'occupancy', metrics: ['wavesPerSm', 'theoreticalOccupancy', 'achievedOccupancy'] },
  {
    id: 'shared',
    metrics: [
      'sharedLoads',
      'sharedLoadBankConflicts',
      'sharedStoreBankConflicts',
      'sharedLoadWavefronts',
      'sharedStoreWavefronts',
    ],
  },
  { id: 'arithmetic', metrics: ['fmaUtilization'] },
  { id: 'resources', metrics: ['registersPerThread'] },
]

/** The ids that are there, in groups; what no group names comes last. */
export function groupMetrics(
  ids: readonly string[],
): { id: MetricGroupId; metrics: readonly string[] }[] {
  const named = new Set(groups.flatMap(({ metrics }) => metrics))
  return [...groups, { id: 'other' as const, metrics: ids.filter((id) => !named.has(id)) }]
    .map(({ id, metrics }) => ({ id, metrics: metrics.filter((metric) => ids.includes(metric)) }))
    .filter(({ metrics }) => metrics.length > 0)
}
