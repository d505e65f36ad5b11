/** Messages about the origin of a session's figures. */

/** Display names of the facts about a session. Each key is also the fact's CSV column name. */
export const fact = {
  session: 'Session',
  origin: 'Origin',
  date: 'Measured on',
  ladder: 'Ladder',
  problem: 'Problem',
  seed: 'Input seed',
  gpu: 'GPU',
  driver: 'Driver',
  cuda: 'CUDA version of the driver',
  timing: 'Timed as',
  smClock: 'SM clock during timing',
  gpuState: 'GPU during timing',
  gpuModes: 'Modes of the GPU',
  cacheState: 'L2 cache before each launch',
  nvcc: 'nvcc',
  nvccFlags: 'nvcc flags',
  ncu: 'ncu',
  appVersion: 'Kernel Ladder',
  completion: 'Run',
  reproduce: 'To reproduce',
} as const

export const origin = {
  live: 'measured live',
  recorded: 'replayed from the recording {name}',
  imported: 'imported from {name}',
  program: 'profile of {name}',
  emulated: 'emulated on {name}, without a GPU',
  predicted: 'predicted for {name} by a model, without a GPU',
  static: 'built for {name} without a GPU, not run',
  machine: 'measured on {name}',
} as const

export const provenance = {
  unknown: 'unknown',
  none: 'none',
  notUsed: 'not used',
  singleLaunches: 'single launches between CUDA events',
  bursts:
    'bursts of {launches, plural, one{{launches} launch} other{{launches} launches}}, each after {seconds} s of rest',
  sustained: 'each rung alone for {seconds} s',
  processes: 'wall time of whole processes, from start to exit',
  ladder: '{id} ({title})',
  ladderFolder: '{id} ({title}), the ladder folder {folder}',
  headline: '{ladder} at {problem} {options}',
  headlineAlone: '{ladder} at {problem}',
  problem: '{what}, {problem}, {rest}',
  problemAlone: '{what}, {problem}',
  sizes: '{label} ({sizes})',
  gpu: '{name}, compute capability {computeCapability}, {smCount} SMs, {memory} memory, {l2} L2',
  clock: '{clock} MHz',
  clockRange: '{low} to {high} MHz',
  clocks: 'before {before}, after {after}',
  clocksAtMost: 'before {before}, after {after}, at most {most} MHz',
  profiler:
    '{ncu}, level {level}, up to {passes, plural, one{{passes} pass} other{{passes} passes}} per kernel, clock control {clock}, cache control {cache}',
  complete: 'complete, {seconds} s',
  cancelled: 'canceled, {seconds} s',
} as const
