/** How metrics are laid out wherever they are listed. */
import { mixMetrics } from '../../src-main/domain/metrics/mix-metrics'

export type MetricGroupId =
  'occupancy' | 'shared' | 'memory' | 'arithmetic' | 'mix' | 'stalls' | 'resources' | 'other'

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
  {
    id: 'memory',
    metrics: [
      'dramBytes',
      'l2Bytes',
      'l1Bytes',
      'l2HitRate',
      'l1HitRate',
      'dramUtilization',
      'l2Utilization',
      'lsuDataUtilization',
      'lsuUtilization',
      'globalLoadSectorsPerRequest',
      'globalStoreSectorsPerRequest',
    ],
  },
  {
    id: 'arithmetic',
    metrics: ['fmaUtilization', 'tensorUtilization', 'issueSlotsBusy', 'instructions'],
  },
  { id: 'mix', metrics: mixMetrics.map(({ id }) => id) },
  {
    id: 'stalls',
    metrics: [
      'stallLongScoreboard',
      'stallShortScoreboard',
      'stallMioThrottle',
      'stallLgThrottle',
      'stallBarrier',
      'stallMathPipe',
      'stallNotSelected',
      'stallWait',
      'stallDispatch',
    ],
  },
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
