/**
 * Counted metrics that follow from other counters of the same launch.
 *
 * They serve reports that hold only those counters: ncu's own sets have DRAM reads and writes but not their sum, and
 * operations per cycle but not their number. Each was compared with the counter itself in one report of the H200; L1
 * traffic differs from it by up to 0.04 %, the others not at all.
 */

interface MetricParts {
  /** ncu's names; without one of them, the metric has no value. */
  from: readonly string[]
  /** From their values, in this order, the value in the unit of the first. */
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

/** By registry id. */
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
