/**
 * What the standard level adds to the card: memory traffic by level and how busy each level is, issue
 * slots, and why warps wait. Its instruction mix is in ./mix-metrics.
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

/** How near a unit of memory is to its limit. */
const busy = (definition: Pick<Own, 'id' | 'label' | 'meaning' | 'ncu'>): MetricDefinition =>
  rate({ ...definition, unit: '%', better: 'neither', group: 'memory' })

/** Warps that wait for one reason, on average for each instruction issued. Source: Nsight Compute's warp states. */
const stall = (id: string, name: string, label: string, meaning: string): MetricDefinition =>
  rate({
    id,
    label: `Stalled: ${label}`,
    unit: 'warps',
    meaning,
    better: 'lower',
    group: 'stalls',
    ncu: [`smsp__average_warps_issue_stalled_${name}_per_issue_active.ratio`],
  })

export const standardMetrics: readonly MetricDefinition[] = [
  count({
    id: 'sharedLoadWavefronts',
    label: 'Wavefronts, shared loads',
    unit: 'wavefronts',
    meaning:
      'Passes through shared memory that loads took; divided by the loads it tells how many ways the average load was split.',
    better: 'lower',
    group: 'shared',
    ncu: ['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum'],
  }),
  count({
    id: 'sharedStoreWavefronts',
    label: 'Wavefronts, shared stores',
    unit: 'wavefronts',
    meaning: 'Passes through shared memory that stores took.',
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
      'Bytes that loads and stores asked of the L1 cache, in sectors of 32; shared memory is not among them.',
    better: 'lower',
    group: 'memory',
    ncu: ['l1tex__t_sectors.sum'],
  }),
  rate({
    id: 'l2HitRate',
    label: 'L2 hit rate',
    unit: '%',
    meaning: 'Sectors asked of the L2 cache that were there.',
    better: 'higher',
    group: 'memory',
    ncu: ['lts__t_sector_hit_rate.pct'],
  }),
  rate({
    id: 'l1HitRate',
    label: 'L1 hit rate',
    unit: '%',
    meaning: 'Sectors asked of the L1 cache that were there.',
    better: 'higher',
    group: 'memory',
    ncu: ['l1tex__t_sector_hit_rate.pct'],
  }),
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
  rate({
    id: 'globalLoadSectorsPerRequest',
    label: 'Sectors a global load',
    unit: 'sectors',
    meaning:
      'Sectors of 32 bytes that a warp-level global load touches; 4 is a coalesced 32-bit load, 16 a coalesced 128-bit one, 32 a scattered one.',
    better: 'neither',
    kind: 'structural',
    group: 'memory',
    ncu: ['l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio'],
  }),
  rate({
    id: 'globalStoreSectorsPerRequest',
    label: 'Sectors a global store',
    unit: 'sectors',
    meaning: 'Sectors of 32 bytes that a warp-level global store touches.',
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
      'Cycles in which a scheduler issued an instruction; in a SIMT GEMM every slot that is not an FFMA costs one.',
    better: 'higher',
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
    meaning: 'Cycles in which the tensor pipe was busy, as a share of the cycles an SM was active.',
    better: 'higher',
    group: 'arithmetic',
    ncu: ['sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active'],
  }),
  stall(
    'stallLongScoreboard',
    'long_scoreboard',
    'long scoreboard',
    'Warps waiting for global or local memory.',
  ),
  stall(
    'stallShortScoreboard',
    'short_scoreboard',
    'short scoreboard',
    'Warps waiting for shared memory or the special function unit.',
  ),
  stall(
    'stallMioThrottle',
    'mio_throttle',
    'MIO throttle',
    'Warps waiting for room in the queue to shared memory.',
  ),
  stall(
    'stallLgThrottle',
    'lg_throttle',
    'LG throttle',
    'Warps waiting for room in the queue to global memory.',
  ),
  stall('stallBarrier', 'barrier', 'barrier', 'Warps waiting for the others of their block.'),
  stall(
    'stallMathPipe',
    'math_pipe_throttle',
    'math pipe',
    'Warps waiting for a busy arithmetic pipe; much of it is good news.',
  ),
  stall(
    'stallNotSelected',
    'not_selected',
    'not selected',
    'Warps that could issue while another one did.',
  ),
  stall('stallWait', 'wait', 'wait', 'Warps in the fixed latency between two instructions.'),
  stall('stallDispatch', 'dispatch_stall', 'dispatch', 'Warps that the dispatcher held back.'),
]
