/** The names in stored predictions: limiters, stall reasons and prediction classes. */

/** Units and effects that can limit the speed of a launch. */
export const limiters = [
  'dram',
  'l2',
  'l1',
  'lsu',
  'fma',
  'alu',
  'fp16',
  'fp64',
  'xu',
  'tensor',
  'issue',
  'latency',
  'barrier',
  'atomics',
  'launch',
] as const
export type Limiter = (typeof limiters)[number]

/**
 * Classes of predictions. A prediction's class does not depend on any measurement. The class
 * determines the width of the range.
 */
export const predictionClasses = [
  'compute',
  'memory',
  'latency',
  'tensor',
  'pipeline',
  'atomics',
  'tiny',
] as const
export type PredictionClass = (typeof predictionClasses)[number]

/** Reasons why a warp could not issue an instruction. The names match ncu's stall reasons. */
export const stallReasons = [
  'barrier',
  'branch_resolving',
  'dispatch_stall',
  'gmma',
  'lg_throttle',
  'long_scoreboard',
  'math_pipe_throttle',
  'membar',
  'mio_throttle',
  'no_instruction',
  'not_selected',
  'short_scoreboard',
  'sleeping',
  'wait',
] as const
export type StallReason = (typeof stallReasons)[number]

/**
 * Causes of stalls that the model can remove in a second simulation. The ratio of the two simulated
 * times is an upper bound on the possible speedup.
 */
export const removals = ['conflicts', 'sectors', 'latency', 'barriers'] as const
export type Removal = (typeof removals)[number]

export const predictionWarnings = [
  'uneven-blocks',
  'data-dependent',
  'near-cache-size',
  'atomics',
  'not-validated',
] as const
export type PredictionWarning = (typeof predictionWarnings)[number]

/** Reasons why the model cannot predict a rung. */
export const refusals = ['spins', 'uneven', 'distributed-shared', 'too-long', 'halted'] as const
export type Refusal = (typeof refusals)[number]
