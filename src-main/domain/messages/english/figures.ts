/** How a figure was obtained, or why there is none. */

/** The roofline ceilings of a GPU. */
export const ceilings = {
  benchmark: "Measured by the runner's microbenchmark in this session.",
  notMeasured: 'It was not measured in this session, and no figure for this GPU is published.',
  noGpu: 'The session does not name a GPU.',
  noClock: 'The maximum SM clock is unknown.',
  notInTable: 'Compute capability {computeCapability} is not in the built-in table.',
  fp32: '{smCount} SMs at their maximum clock of {clock} MHz, each executing {rate} FP32 operations per cycle (an FMA counts as two).',
  tensor:
    '{smCount} SMs at their maximum clock of {clock} MHz, each executing {rate} dense {bits}-bit tensor operations per cycle.',
  tensorDiffers: 'GPUs of compute capability {computeCapability} differ in their tensor rate.',
  l1: '{smCount} SMs at their maximum clock of {clock} MHz, each moving {rate} bytes per cycle.',
  bus: 'A {bits}-bit bus with two transfers per cycle at {clock} MHz.',
  noBus: 'This session does not record the memory clock and the bus width.',
} as const

/** Where a rung's operation count comes from, or why the rung is not on the roofline. */
export const roofline = {
  noOperations: 'The report has no count of FP32 operations.',
  noDuration: 'The report has no duration.',
  noFp32: 'It executes no FP32 operations.',
  noOperationsOfTask: 'The task does not define an operation count, and ncu counted no operations.',
  noTime: 'It has no time.',
  notCollected: '{metric} was not collected.',
  notAvailable: '{metric} is not available.',
  noByte: 'It moved no bytes at this level, so its arithmetic intensity is undefined.',
  counted: 'FP32 operations counted by ncu: 2 × FFMA + FADD + FMUL.',
  ofProblem: 'Operation count of {what}, {flops}; FP32 operations were not counted.',
  ofProblemTensor:
    'Operation count of {what}, {flops}; the tensor pipe did the work, which the FP32 counters do not see.',
} as const

/** Why a launch is impossible. */
export const occupancy = {
  threads: 'A block can have at most {most} threads; this one has {threads}.',
  registers: 'A thread can have at most {most} registers; this one has {registers}.',
  shared:
    'A block can have at most {most} bytes of shared memory on compute capability {computeCapability}; this one requests {bytes}.',
  registersOfBlock: 'One block needs {held} registers, more than the {most} of an SM.',
} as const

/** Figures derived from a launch and its GPU, and why a metric has no value. */
export const figures = {
  time: 'Time',
  limitsUnknown:
    'The limits of compute capability {computeCapability} are not in the built-in table.',
  resourcesUnknown: 'The register and shared memory usage of the launch is unknown.',
  computed:
    'Computed from {threads} threads per block, {registers} registers per thread, {bytes} bytes of shared memory per block and compute capability {computeCapability}.',
  computedWaves:
    'Computed from {threads} threads per block, {registers} registers per thread, {bytes} bytes of shared memory per block and compute capability {computeCapability}, for a grid of {blocks} blocks on {smCount} SMs.',
  clustersUnknown: 'It is unknown whether the kernel is launched in thread block clusters.',
  clusters:
    'The kernel is launched in thread block clusters; how many of them fit on the GPU at once depends on how its SMs are grouped.',
  smCountUnknown: 'The SM count of the GPU is unknown.',
  noBlockFits: 'Not even one block fits on an SM.',
  registersUnknown: 'The register usage of the launch is unknown.',
  registersHeld: 'Reported by CUDA for the kernel that was launched.',
  noKernel: 'It launches no kernel.',
  kernelsDiffer:
    'It launches {count} kernels that differ in this, and without counters it is unknown which of them runs longest.',
  fp32Operations:
    '2 × FFMA + FADD + FMUL, as ncu counted them per thread. Tensor operations are not included.',
  slotShare:
    'Share of the 32 lanes of every warp instruction executed; lanes disabled by a predicate or a branch count toward the total.',
  fromParts: 'Computed from other counters of the same profile: {names}.',
  follows: 'It is derived from {metric}, which has no value: {why}',
  overInstructions:
    'Summed over {opcodes} by the counters per instruction: wavefronts less the fewest that the accesses need.',
  noInstructions: 'Counters per instruction were not collected; the deep level collects them.',
  noise: 'The counter of bank conflicts less the structural ones.',
  noShare: 'No instructions were executed, so the share is undefined.',
} as const
