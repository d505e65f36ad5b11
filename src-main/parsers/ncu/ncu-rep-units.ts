/**
 * Determines the metrics' units in an ncu report.
 *
 * The report stores every value in a base unit but does not name the unit. Like ncu, this module
 * derives the unit from the metric's name. Most names follow the scheme
 * `<where>__<what>.<rollup>.<rate>`. A table, verified against ncu's output, lists the names
 * outside this scheme. Unknown names get no unit, because units are never guessed.
 */

/** Counted unit, by the part of the metric name that implies this unit. */
const counted: Record<string, string> = {
  bytes: 'byte',
  sectors: 'sector',
  cycles: 'cycle',
  inst: 'inst',
  warps: 'warp',
  ctas: 'block',
}

/**
 * Units of metrics whose names do not follow the scheme. The first matching pattern applies. Some
 * units look wrong but match ncu's output, such as instruction cache requests in cycles and branch
 * stalls in branches.
 */
const others: readonly (readonly [RegExp, string])[] = [
  [/^launch__registers_per_thread(_allocated)?$/, 'register/thread'],
  [/^launch__(shared_mem_config|persisting_l2_cache)_size$/, 'byte'],
  [/^launch__shared_mem_per_block/, 'byte/block'],
  [/^launch__sm_count$/, 'SM'],
  [/^launch__thread_count$/, 'thread'],
  [/^launch__cluster_max_active$/, 'cluster'],
  [/^launch__(block_dim_|occupancy_limit_|cluster_max_potential_size$)/, 'block'],
  [/^launch__occupancy_cluster_(gpu_)?pct$/, '%'],
  [/^(profiler__|smsp__pcsamp_).*_bytes$/, 'byte'],
  [/^(profiler__|smsp__pcsamp_).*_passes(_type_\w+)?$/, 'pass'],
  [/^profiler__pmsampler_interval_time$/, 'ns'],
  [/^profiler__pmsampler_\w+_samples$/, 'sample'],
  [/^smsp__pcsamp_interval_cycles$/, 'cycle'],
  [/^smsp__pcsamp_warps_issue_stalled_branch_resolving/, 'branches'],
  [/^smsp__pcsamp_warps_issue_stalled_no_instructions/, 'inst'],
  [/^smsp__pcsamp_warps_issue_stalled_/, 'warp'],
  [/^smsp__(sass_)?branch_targets_/, 'branches'],
  [/^smsp__sass_inst_executed_memdesc_explicit_(hit|miss)prop_\w+$/, 'inst'],
  [/^smsp__average_warps_issue_stalled_\w+_per_issue_active\.ratio$/, 'inst'],
  [/^smsp__average_warps?_(latency|active)_per_inst_\w+\.ratio$/, 'cycle'],
  [/^smsp__sass_average_data_bytes_per_sector_\w+\.(max_rate|ratio)$/, 'byte/sector'],
  [/^l1tex__average_t_sectors_per_request_\w+\.ratio$/, 'sector'],
  [/^(sm|smsp)__maximum_warps_avg_per_active_cycle$/, 'warp'],
  [/^sm__maximum_warps_per_active_cycle_pct$/, '%'],
  [/^(gcc__cache|lts__t)_requests\w*\.(avg|sum|min|max)$/, 'request'],
  [/^(sm__icc|smsp__imc)_requests\.(avg|sum|min|max)$/, 'cycle'],
  [/^(thread_)?inst_executed(_true)?$/, 'inst'],
  [/^sass__inst_executed_(global|local|shared|register)_/, 'inst'],
  [/^memory_l1_(tag_requests|wavefronts)_/, 'sectors'],
  [/^memory_l2_theoretical_sectors_/, 'sectors'],
  [/^derived__memory_l2_theoretical_sectors_/, 'sector'],
  [/^derived__(sm__|smsp__)?\w*thread_/, 'thread'],
  [/^derived__lts__lts2xbar_bytes\./, 'byte'],
  [/^derived__pct_occupancy_per_block_size$/, '%'],
  [/^derived__pct_occupancy_per_register_count$/, '%/register'],
  [/^derived__pct_occupancy_per_shared_mem_size$/, '%/byte'],
  [/^derived__\w+_pct$/, '%'],
]

/**
 * Matches metric names that follow the scheme. Metrics that ncu derives itself (`derived__`) and
 * gcc metrics do not follow the scheme.
 */
const scheme =
  /^(?:[A-Z_]+\.\w+\.)?(?!derived|gcc)[a-z0-9]+__(\w+)\.(?:avg|sum|min|max)(?:\.(\w+))?$/

function rate(unit: string, how: string | undefined): string {
  if (how === undefined) return unit
  if (how === 'per_second') return unit === 'cycle' ? 'hz' : `${unit}/s`
  if (!/^per_cycle_|^peak_sustained/.test(how) || unit === 'cycle') return ''
  // Averaging the resident warps over cycles still yields a number of warps.
  return unit === 'warp' ? unit : `${unit}/cycle`
}

export function unitOf(metric: string): string {
  const other = others.find(([pattern]) => pattern.test(metric))
  if (other) return other[1]
  if (/\.pct(_of_peak_\w+)?$/.test(metric)) return '%'
  const [, what, how] = scheme.exec(metric) ?? []
  if (what === undefined) return ''
  if (what === 'time_duration' && how === undefined) return 'ns'
  if (/_writeback_active/.test(what)) return rate('cycle', how)
  const word = what.split('_').find((part) => Object.hasOwn(counted, part))
  return word === undefined ? '' : rate(counted[word]!, how)
}
