/** What the deep level adds to the registry: how busy each level of memory is. All of it is in ncu's full set. */
import type { MetricDefinition } from './metric-definition'

const busy = (definition: Pick<MetricDefinition, 'id' | 'label' | 'meaning' | 'ncu'>) => ({
  ...definition,
  unit: '%' as const,
  better: 'neither' as const,
  kind: 'dynamic' as const,
  level: 'deep' as const,
  aggregate: 'time-weighted' as const,
})

export const deepMetrics: readonly MetricDefinition[] = [
  busy({
    id: 'dramUtilization',
    label: 'DRAM busy',
    meaning: 'Traffic with device memory, as a share of the most that it can carry.',
    ncu: [
      'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed',
      'dram__throughput.avg.pct_of_peak_sustained_elapsed',
    ],
  }),
  busy({
    id: 'l2Utilization',
    label: 'L2 busy',
    meaning: 'The busiest part of the L2 cache, as a share of the most that it can do.',
    ncu: ['lts__throughput.avg.pct_of_peak_sustained_elapsed'],
  }),
  busy({
    id: 'lsuDataUtilization',
    label: 'L1 data stage busy',
    meaning:
      'Cycles in which the data stage of L1 and shared memory served loads and stores, as a share of all.',
    ncu: ['l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed'],
  }),
  busy({
    id: 'lsuUtilization',
    label: 'Load/store pipe utilization',
    meaning:
      'Load and store instructions issued, as a share of the most that the pipe takes while an SM is active.',
    ncu: ['sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active'],
  }),
]
