/**
 * Metrics that can be computed from other counters of the same launch if their own counter is
 * missing.
 *
 * Some reports contain only the counters from which a metric is computed. For example, ncu's metric
 * sets contain DRAM reads and writes, but not their sum. ncu's metric sets also contain operations
 * per cycle, but not the number of operations. Each computed metric was compared with its counter
 * in a report from an H200. The computed L1 traffic differed by up to 0.04 %, and all other
 * computed metrics matched exactly.
 */

interface MetricParts {
  /** ncu's names for the counters. If a counter is missing, the metric has no value. */
  from: readonly string[]
  /**
   * Computes the metric from the counters' values, in the order of `from`. The metric has the unit
   * of the first counter.
   */
  of: (values: readonly number[]) => number | null
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

const operations = (op: string): MetricParts => ({
  from: [
    `smsp__sass_thread_inst_executed_op_${op}_pred_on.sum.per_cycle_elapsed`,
    'smsp__cycles_elapsed.avg',
  ],
  of: ([perCycle, cycles]) => Math.round(perCycle! * cycles!),
})

const sectorsPerRequest = (op: string): MetricParts => ({
  from: [
    `l1tex__t_sectors_pipe_lsu_mem_global_op_${op}.sum`,
    `l1tex__t_requests_pipe_lsu_mem_global_op_${op}.sum`,
  ],
  of: ([sectors, requests]) => (requests === 0 ? null : sectors! / requests!),
})

/** Computable metrics, keyed by registry id. */
export const metricParts: Readonly<Record<string, MetricParts>> = {
  dramBytes: { from: ['dram__bytes_read.sum', 'dram__bytes_write.sum'], of: sum },
  l2Bytes: { from: ['lts__t_sectors.sum'], of: sum },
  l1Bytes: {
    from: [
      ...['ld', 'st', 'atom', 'red'].map((op) => `lsu_mem_global_op_${op}`),
      ...['ld', 'st'].map((op) => `lsu_mem_local_op_${op}`),
      ...['ld', 'st', 'atom', 'red'].map((op) => `tex_mem_surface_op_${op}`),
      'tex_mem_texture',
    ].map((access) => `l1tex__t_sectors_pipe_${access}.sum`),
    of: sum,
  },
  globalLoadSectorsPerRequest: sectorsPerRequest('ld'),
  globalStoreSectorsPerRequest: sectorsPerRequest('st'),
  ffmaInstructions: operations('ffma'),
  faddInstructions: operations('fadd'),
  fmulInstructions: operations('fmul'),
}
