/** Messages that explain why one rung is faster than another. */

/** Names of units that can limit a kernel, for the start of a sentence. */
export const unit = {
  fma: 'The FMA pipe',
  issue: 'Instruction issue',
  tensor: 'The tensor pipe',
  l1Data: 'The L1 data stage',
  lsu: 'The load/store pipe',
  l2: 'The L2 cache',
  dram: 'DRAM',
} as const

/** Names of units that can limit a kernel, for the middle of a sentence. */
export const unitWithin = {
  fma: 'the FMA pipe',
  issue: 'instruction issue',
  tensor: 'the tensor pipe',
  l1Data: 'the L1 data stage',
  lsu: 'the load/store pipe',
  l2: 'the L2 cache',
  dram: 'DRAM',
} as const

/** Phrases for stall reasons, used after "waiting". */
export const wait = {
  stallLongScoreboard: 'for global or local memory (long scoreboard)',
  stallShortScoreboard: 'for shared memory or special functions (short scoreboard)',
  stallMioThrottle: 'for the queue to shared memory (MIO throttle)',
  stallLgThrottle: 'for the queue to global memory (LG throttle)',
  stallBarrier: 'at a barrier',
  stallWait: 'for fixed latencies between instructions',
  stallDispatch: 'at dispatch',
} as const

export const why = {
  lessWork: '{unit}, the limiter at {busy}, has {factor} less work{moves}.',
  lessWorkMoved:
    '{unit}, the limiter at {busy}, has {factor} less work{moves}; the limiter is now {next} at {nextBusy}.',
  lessWorkElsewhere:
    '{unit}, the limiter at {busy}, has {factor} less work{moves}; no unit is near its limit now.',
  lessOwnWork: '{unit}, which does the task’s work, has {factor} less of it{moves}.',
  moreWork: '{unit}, the limiter at {busy}, has {factor} the work{moves}.',
  moreOwnWork: '{unit}, which does the task’s work, has {factor} the work{moves}.',
  fewerInstructions:
    'Fewer instructions for the same work, {a} → {b}{moves}; {unit} is busy for {busyB} of the active cycles instead of {busyA}.',
  moreInstructions:
    'More instructions for the same work, {a} → {b}{moves}; {unit} is busy for {busyB} of the active cycles instead of {busyA}.',
  busier: '{unit} is busy for {b} of the time instead of {a}, {factor}{reasons}.',
  busierActive: '{unit} is busy for {b} of the active cycles instead of {a}, {factor}{reasons}.',
  counted: '{whole}, of which {factor} is not part of another cause',
  lessBusy: '{unit} is busy for only {b} of the time instead of {a}, {factor}{reasons}.',
  lessBusyActive:
    '{unit} is busy for only {b} of the active cycles instead of {a}, {factor}{reasons}.',
  because: ': {reasons}',
  with: ' ({moves})',
  becauseWith: ': {reasons} ({moves})',
  moved: '{metric} {a} → {b}',
  waitLess: 'fewer warps stall per issued instruction, {waits}',
  waitMore: 'more warps stall per issued instruction, {waits}',
  waited: '{what} {a} → {b}',
  oneWave: 'one wave of blocks instead of {a}',
  kernels: 'kernels launched {a} → {b}',
  blocks:
    'The grid has {b, plural, one{{b} block} other{{b} blocks}} instead of {a} for {sms, plural, one{{sms} SM} other{{sms} SMs}}, so an SM has a block {shareB} of the time instead of {shareA}.',
  clock: 'The SM clock went from {a} to {b}.',
  clockAtLimit: 'The SM clock, which the power cap limits, went from {a} to {b}{moves}.',
  launches: 'Kernel launches {a} → {b}, including the time between and around them.',
  active:
    'SMs are active for {b} of the cycles instead of {a}: start and tail of the kernel, or the clock.',
  activeAtLimit:
    'SMs are active for {b} of the cycles instead of {a}: start and tail of the kernel, or the clock, which the power cap limits{moves}.',
  activeRate: 'Active cycles per SM: {a} → {b}; start and tail of the kernel, or the clock.',
  notLimiting: '{metric} {a} → {b}, but {unit} is not the limiter ({busyA} → {busyB} busy).',
  notLimitingItself: '{metric} {a} → {b}, but it is not the limiter.',
  otherWait: '{metric} {a} → {b}, outweighed by other waits.',
  outweighed: '{metric} {a} → {b}, outweighed by the causes.',

  same: 'The times differ by no more than their spread or half a percent.',
  predicted: 'Both times are predicted, and so are the counters behind these causes.',
  predictedOpen:
    'Both times are predicted, and their ranges overlap, so the step may not be real. The causes are from the model.',
  predictedAndMeasured:
    'One time is predicted and the other measured, so their ratio is meaningless.',
  noTime: '{rung} has no time: {why}',
  noTimeUnknown: '{rung} has no time.',
  onlyCounted: 'Counters that changed most: {moves}. Neither rung was timed.',
  onlyCountedSame: 'No counter changed. Neither rung was timed.',
  otherKernel: 'These are two kernels of one program, which do different work.',
  notProfiled: '{rung} was not profiled.',
  notCounted:
    'The profile level of this session does not collect the counters that show the limit.',
  notCommon: 'The counters that show the limit are not available for both rungs.',
  open: 'The counters of this level do not fully explain the step.',
  small: 'The step is smaller than the difference between the timed and the profiled launch.',
  otherCacheState:
    'L2 was {a} for one timing and {b} for the other, so the times are not compared.',
  otherTask: 'The rungs solve different tasks or problems.',
  needsStandard: 'The standard level (--profile standard) collects limits and stall reasons.',
  needsDeep: 'The deep level (--profile deep) shows the source lines.',
} as const
