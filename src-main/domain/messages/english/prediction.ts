/** Messages about the timing model, its unsupported cases, and the causes of a wide error range. */

export const prediction = {
  about:
    'Times are predicted for {gpu} at {at} by the model {model} and the parameters {parameters}, with a cold L2. None was measured.',
  notValidated:
    'The timing model’s parameters for {gpu} come from published values. Predictions with these parameters were never compared with measured times, so the ranges are wider.',
  checkedAt: 'Results were checked at {at}, not at {of}.',
  counted:
    'The timing model predicts stalls and cycles. Counters come from the emulator; no GPU was used.',
  at: 'Predicted at {at}.',
  sampled: 'The value is extrapolated from eight blocks of each launch.',
  noGpuParameters: 'The timing model has no parameters for {gpu}.',
  gpusWithParameters:
    'The model has parameters for: {gpus}. To add a GPU, run `kernel-ladder machine calibrate`.',
  spins:
    'Not predicted: the kernel’s blocks wait for each other, so the kernel’s time depends on the order of blocks.',
  uneven:
    'Not predicted: the kernel’s blocks do different amounts of work, and too many of them would have to be simulated.',
  distributedShared:
    'Not predicted: a block reads the shared memory of other blocks in its cluster.',
  tooLong: 'Not predicted: one of the kernel’s blocks executes too many instructions.',
  halted: 'Not predicted: the emulated launch stopped ({detail}).',
} as const

/** Names of a launch's possible limits, used after "limited by". */
export const limiter = {
  dram: 'DRAM bandwidth',
  l2: 'L2 bandwidth',
  l1: 'L1 and shared memory',
  lsu: 'the load/store unit',
  fma: 'the FMA pipe',
  alu: 'the integer pipe',
  fp16: 'the FP16 pipe',
  fp64: 'the FP64 pipe',
  xu: 'the special-function pipe',
  tensor: 'tensor cores',
  issue: 'instruction issue',
  latency: 'latency',
  barrier: 'barriers',
  atomics: 'atomics',
  launch: 'launch overhead',
} as const

/** Reasons for a wider error range. */
export const widened = {
  'uneven-blocks': 'blocks do different amounts of work',
  'data-dependent': 'addresses or branches depend on data',
  'near-cache-size': 'the working set is near the size of a cache',
  atomics: 'atomics contend',
  'not-validated': 'the GPU’s parameters are not validated',
} as const
