/**
 * Units of the metrics in a report. ncu's report stores every value in a base unit without naming it: ncu derives
 * the unit from the metric's name, and so does this, for names that follow the scheme
 * `<where>__<what>.<rollup>.<rate>`. Other names get no unit; units are never guessed.
 */

/** The counted unit, by the word of the name that implies it. */
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

/** Metrics that ncu computes itself (`derived__`) and the gcc metrics do not follow it. */
const scheme =
  /^(?:[A-Z_]+\.\w+\.)?(?!derived|gcc)[a-z0-9]+__(\w+)\.(?:avg|sum|min|max)(?:\.(\w+))?$/

function rate(unit: string, how: string | undefined): string {
  if (how === undefined) return unit
  if (how === 'per_second') return unit === 'cycle' ? 'hz' : `${unit}/s`
  if (!/^per_cycle_|^peak_sustained/.test(how) || unit === 'cycle') return ''
  // An average number of resident warps over cycles is still a number of warps.
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
