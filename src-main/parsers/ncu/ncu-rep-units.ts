/**
 * Units of the metrics in a report. ncu's report holds every value in a base unit and does not say
 * which: ncu knows that by the metric's name, and so does this, for names that follow its scheme
 * `<where>__<what>.<rollup>.<rate>`. A name that does not say its unit has none here; none is guessed.
 */

/** What is counted, by the word of the name that says so. */
const counted: Record<string, string> = {
  bytes: 'byte',
  sectors: 'sector',
  cycles: 'cycle',
  inst: 'inst',
  warps: 'warp',
  ctas: 'block',
}

const fixed: Record<string, string> = {
  launch__registers_per_thread: 'register/thread',
  launch__registers_per_thread_allocated: 'register/thread',
  launch__shared_mem_config_size: 'byte',
  launch__sm_count: 'SM',
  launch__thread_count: 'thread',
  profiler__replayer_passes: 'pass',
  sm__maximum_warps_per_active_cycle_pct: '%',
  inst_executed: 'inst',
}

/** Names that ncu computes itself (`derived__`) and those of gcc do not follow it. */
const scheme =
  /^(?:[A-Z_]+\.\w+\.)?(?!derived|gcc)[a-z0-9]+__(\w+)\.(?:avg|sum|min|max)(?:\.(\w+))?$/

function rate(unit: string, how: string | undefined): string {
  if (how === undefined) return unit
  if (how === 'per_second') return unit === 'cycle' ? 'hz' : `${unit}/s`
  if (!/^per_cycle_|^peak_sustained/.test(how) || unit === 'cycle') return ''
  // Warps are resident: an average over cycles is still a number of warps.
  return unit === 'warp' ? unit : `${unit}/cycle`
}

export function unitOf(metric: string): string {
  if (Object.hasOwn(fixed, metric)) return fixed[metric]!
  if (/^launch__(block_dim_|occupancy_limit_)/.test(metric)) return 'block'
  if (metric.startsWith('launch__shared_mem_per_block')) return 'byte/block'
  if (/\.pct(_of_peak_\w+)?$/.test(metric)) return '%'
  const [, what, how] = scheme.exec(metric) ?? []
  if (what === undefined) return ''
  if (what === 'time_duration' && how === undefined) return 'ns'
  const word = what.split('_').find((part) => Object.hasOwn(counted, part))
  return word === undefined ? '' : rate(counted[word]!, how)
}
