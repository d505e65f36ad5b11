/** Where a session's figures come from. */

/** By the id of the fact, which is a column's name in CSV. */
export const fact = {
  session: 'Session',
  origin: 'Origin',
  date: 'Measured on',
  ladder: 'Ladder',
  problem: 'Problem',
  seed: 'Seed of the inputs',
  gpu: 'GPU',
  driver: 'Driver',
  cuda: 'CUDA of the driver',
  smClock: 'SM clock while timing',
  l2Flush: 'L2 between samples',
  nvcc: 'nvcc',
  nvccFlags: 'nvcc flags',
  ncu: 'ncu',
  appVersion: 'Kernel Ladder',
  completion: 'The run',
  reproduce: 'To reproduce',
} as const

export const origin = {
  live: 'measured live',
  recorded: 'replayed from the recording {name}',
  imported: 'imported from {name}',
  static: 'built for {name} without a GPU, and not run',
} as const

export const provenance = {
  unknown: 'unknown',
  none: 'none',
  notUsed: 'not used',
  flushed: 'flushed',
  kept: 'kept',
  ladder: '{id} ({title})',
  headline: '{ladder} at {problem} {options}',
  headlineAlone: '{ladder} at {problem}',
  problem: '{what}, {problem} ({sizes}), {rest}',
  problemAlone: '{what}, {problem} ({sizes})',
  gpu: '{name}, compute capability {computeCapability}, {smCount} SMs, {memory} memory, {l2} L2',
  clock: '{clock} MHz',
  clockRange: '{low} to {high} MHz',
  clocks: 'before {before}, after {after}',
  clocksAtMost: 'before {before}, after {after}, at most {most} MHz',
  profiler:
    '{ncu}, level {level}, up to {passes} passes a kernel, clock control {clock}, cache control {cache}',
  profilerOnce:
    '{ncu}, level {level}, up to {passes} pass a kernel, clock control {clock}, cache control {cache}',
  complete: 'complete, {seconds} s',
  cancelled: 'cancelled, {seconds} s',
} as const
