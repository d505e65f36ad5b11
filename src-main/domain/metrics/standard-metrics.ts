/**
 * Metrics that the standard level adds to the card level. These metrics cover memory traffic,
 * utilization of each memory level, issue slots, and stall reasons. The instruction-mix metrics are
 * in ./instruction-mix-metrics.
 */
import type { MetricDefinition } from './metric-definition'

type Own = Omit<MetricDefinition, 'level' | 'kind' | 'aggregate'> &
  Partial<Pick<MetricDefinition, 'kind' | 'aggregate'>>

const count = (definition: Own): MetricDefinition => ({
  kind: 'dynamic',
  ...definition,
  level: 'standard',
  aggregate: 'sum',
})

const rate = (definition: Own): MetricDefinition => ({
  kind: 'dynamic',
  ...definition,
  level: 'standard',
  aggregate: 'time-weighted',
})

/**
 * Minimum change in percentage points for fractions of time or of accesses. Smaller changes are not
 * meaningful.
 */
const pointFloor = { least: 0.5 } as const

/** Returns the definition of a memory unit's utilization. */
const busy = (definition: Pick<Own, 'id' | 'label' | 'meaning' | 'ncu'>): MetricDefinition =>
  rate({ ...definition, unit: '%', better: 'neither', floor: pointFloor, group: 'memory' })

/**
 * Returns the definition of a stall metric, which is the average number of warps stalled for one
 * reason, per issued instruction. The stall reasons are Nsight Compute's warp states.
 */
const stall = (
  id: string,
  name: string,
  label: string,
  meaning: string,
  better: MetricDefinition['better'] = 'lower',
): MetricDefinition =>
  rate({
    id,
    label: `Stalled: ${label}`,
    unit: 'warps',
    meaning,
    better,
    // A change below 0.05 is less than one stalled warp per twenty issued instructions.
    floor: { least: 0.05 },
    group: 'stalls',
    ncu: [`smsp__average_warps_issue_stalled_${name}_per_issue_active.ratio`],
  })

export const standardMetrics: readonly MetricDefinition[] = [
  count({
    id: 'sharedLoadWavefronts',
    label: 'Wavefronts, shared loads',
    unit: 'wavefronts',
    meaning:
      'Passes through shared memory for loads; divided by the number of loads, it is the number of passes an average load was split into.',
    better: 'lower',
    group: 'shared',
    ncu: ['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum'],
  }),
  count({
    id: 'sharedStoreWavefronts',
    label: 'Wavefronts, shared stores',
    unit: 'wavefronts',
    meaning: 'Passes through shared memory for stores.',
    better: 'lower',
    group: 'shared',
    ncu: ['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum'],
  }),
  count({
    id: 'dramBytes',
    label: 'DRAM traffic',
    unit: 'bytes',
    meaning: 'Bytes read from and written to device memory.',
    better: 'lower',
    group: 'memory',
    ncu: ['dram__bytes.sum'],
  }),
  count({
    id: 'l2Bytes',
    label: 'L2 traffic',
    unit: 'bytes',
    meaning: 'Bytes that requests moved through the L2 cache.',
    better: 'lower',
    group: 'memory',
    ncu: ['lts__t_bytes.sum'],
  }),
  count({
    id: 'l1Bytes',
    label: 'L1 traffic',
    unit: 'bytes',
    meaning:
      'Bytes that loads and stores requested from the L1 cache, in 32-byte sectors; shared memory is not included.',
    better: 'lower',
    group: 'memory',
    ncu: ['l1tex__t_sectors.sum'],
  }),
  rate({
    id: 'l2HitRate',
    label: 'L2 hit rate',
    unit: '%',
    meaning: 'Share of the sectors requested from the L2 cache that hit.',
    better: 'higher',
    floor: pointFloor,
    group: 'memory',
    ncu: ['lts__t_sector_hit_rate.pct'],
  }),
  rate({
    id: 'l1HitRate',
    label: 'L1 hit rate',
    unit: '%',
    meaning: 'Share of the sectors requested from the L1 cache that hit.',
    better: 'higher',
    floor: pointFloor,
    group: 'memory',
    ncu: ['l1tex__t_sector_hit_rate.pct'],
  }),
  busy({
    id: 'dramUtilization',
    label: 'DRAM utilization',
    meaning: 'Device memory traffic, as a share of the peak bandwidth.',
    ncu: [
      'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed',
      'dram__throughput.avg.pct_of_peak_sustained_elapsed',
    ],
  }),
  busy({
    id: 'l2Utilization',
    label: 'L2 utilization',
    meaning: 'Throughput of the busiest part of the L2 cache, as a share of its peak.',
    ncu: ['lts__throughput.avg.pct_of_peak_sustained_elapsed'],
  }),
  busy({
    id: 'lsuDataUtilization',
    label: 'L1 data-stage utilization',
    meaning:
      'Cycles in which the data stage of L1 and shared memory served loads and stores, as a share of all cycles.',
    ncu: ['l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed'],
  }),
  busy({
    id: 'lsuUtilization',
    label: 'Load/store pipe utilization',
    meaning:
      'Load and store instructions issued while an SM was active, as a share of the peak rate of the pipe.',
    ncu: ['sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active'],
  }),
  rate({
    id: 'globalLoadSectorsPerRequest',
    label: 'Sectors per global load',
    unit: 'sectors',
    meaning:
      'Sectors (32 bytes each) touched by a warp-level global load: 4 for a coalesced 32-bit load, 16 for a coalesced 128-bit load, 32 for a fully scattered one.',
    better: 'neither',
    kind: 'structural',
    group: 'memory',
    ncu: ['l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio'],
  }),
  rate({
    id: 'globalStoreSectorsPerRequest',
    label: 'Sectors per global store',
    unit: 'sectors',
    meaning: 'Sectors (32 bytes each) touched by a warp-level global store.',
    better: 'neither',
    kind: 'structural',
    group: 'memory',
    ncu: ['l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio'],
  }),
  rate({
    id: 'issueSlotsBusy',
    label: 'Issue slots busy',
    unit: '%',
    meaning:
      'Cycles in which a scheduler issued an instruction; where FFMAs are the work, every other instruction takes the slot of one.',
    better: 'higher',
    floor: { least: 0.2 },
    group: 'arithmetic',
    ncu: ['smsp__issue_active.avg.pct_of_peak_sustained_active'],
  }),
  count({
    id: 'instructions',
    label: 'Instructions',
    unit: 'inst',
    meaning: 'Warp-level instructions executed.',
    better: 'lower',
    kind: 'structural',
    group: 'arithmetic',
    ncu: ['smsp__inst_executed.sum'],
  }),
  rate({
    id: 'tensorUtilization',
    label: 'Tensor pipe utilization',
    unit: '%',
    meaning:
      'Cycles in which the tensor pipe was busy, as a share of the cycles in which an SM was active.',
    better: 'higher',
    // On an H200, kernels without tensor instructions have a tensor pipe utilization of up to 0.31
    // %.
    floor: pointFloor,
    group: 'arithmetic',
    ncu: ['sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active'],
  }),
  stall(
    'stallLongScoreboard',
    'long_scoreboard',
    'long scoreboard',
    'Warps waiting for global or local memory, per issued instruction.',
  ),
  stall(
    'stallShortScoreboard',
    'short_scoreboard',
    'short scoreboard',
    'Warps waiting for shared memory or the special function unit, per issued instruction.',
  ),
  stall(
    'stallMioThrottle',
    'mio_throttle',
    'MIO throttle',
    'Warps waiting for space in the queue to shared memory, per issued instruction.',
  ),
  stall(
    'stallLgThrottle',
    'lg_throttle',
    'LG throttle',
    'Warps waiting for space in the queue to global memory, per issued instruction.',
  ),
  stall(
    'stallBarrier',
    'barrier',
    'barrier',
    'Warps waiting at a barrier for the other warps of their block, per issued instruction.',
  ),
  stall(
    'stallMathPipe',
    'math_pipe_throttle',
    'math pipe',
    'Warps waiting for a busy math pipe, per issued instruction. A high value usually means that the pipe is well utilized.',
    'neither',
  ),
  stall(
    'stallNotSelected',
    'not_selected',
    'not selected',
    'Warps that were ready to issue while the scheduler picked another warp, per issued instruction.',
    'neither',
  ),
  stall(
    'stallWait',
    'wait',
    'wait',
    'Warps waiting for the fixed latency between two instructions, per issued instruction.',
  ),
  stall(
    'stallDispatch',
    'dispatch_stall',
    'dispatch',
    'Warps stalled by the dispatcher, per issued instruction.',
  ),
]
