/** How a figure was come by, or why there is none. */

/** The roofs of a GPU. */
export const ceilings = {
  benchmark: 'Reached by a micro-benchmark of the runner in this session.',
  notMeasured: 'It was not measured in this session, and is not published for this GPU.',
  noGpu: 'The session names no GPU.',
  noClock: 'The highest SM clock is not known.',
  notInTable: 'Compute capability {computeCapability} is not in the table.',
  fp32: '{smCount} SMs at their highest clock of {clock} MHz, each {rate} FP32 operations a cycle (an FMA is two).',
  tensor:
    '{smCount} SMs at their highest clock of {clock} MHz, each {rate} dense 16-bit tensor operations a cycle.',
  tensorDiffers: 'Products of compute capability {computeCapability} differ in their tensor rate.',
  l1: '{smCount} SMs at their highest clock of {clock} MHz, each {rate} bytes a cycle.',
  bus: 'A bus of {bits} bits, twice a cycle at {clock} MHz.',
  noBus: "The memory's clock and bus width are not in this session.",
} as const

/** Why a rung has no place in a roofline. */
export const roofline = {
  noOperations: 'The report counts no FP32 operations.',
  noDuration: 'The report has no duration.',
  noFp32: 'It executes no FP32 operation.',
  noOperationsOfTask: 'Its task counts no operations, and ncu counted none.',
  noTime: 'It has no time.',
  notCollected: '{metric} was not collected.',
  notAvailable: '{metric} is not available.',
  noByte: 'It moved no byte at this level, so the ratio has no value.',
  counted: 'FP32 operations that ncu counted: twice the FFMA, plus FADD and FMUL.',
  ofProblem: 'Operations of {what}, {flops}: the FP32 operations were not counted.',
  ofProblemTensor:
    'Operations of {what}, {flops}: the tensor pipe computed, and the counters of FP32 operations do not see it.',
} as const

/** Why a launch cannot be. */
export const occupancy = {
  threads: 'A block has at most {most} threads; this one has {threads}.',
  registers: 'A thread has at most {most} registers; this one has {registers}.',
  shared:
    'A block has at most {most} bytes of shared memory on compute capability {computeCapability}; this one asks for {bytes}.',
  registersOfBlock: 'The registers of one block ({held}) are more than the {most} of an SM.',
} as const

/** Figures that follow from a launch and its GPU, and the metrics that a profile did not give. */
export const figures = {
  time: 'Time',
  limitsUnknown: 'The limits of compute capability {computeCapability} are not in the table.',
  resourcesUnknown: 'The registers and shared memory of the launch are not known.',
  computed:
    'Computed from {threads} threads a block, {registers} registers a thread, {bytes} bytes of shared memory a block and compute capability {computeCapability}.',
  computedWaves:
    'Computed from {threads} threads a block, {registers} registers a thread, {bytes} bytes of shared memory a block and compute capability {computeCapability}. A grid of {blocks} blocks over {smCount} SMs.',
  clustersUnknown: 'Whether it is launched in clusters is not known.',
  clusters:
    'It is launched in clusters; how many of them the GPU holds at once depends on how its SMs are grouped.',
  smCountUnknown: 'How many SMs the GPU has is not known.',
  noBlockFits: 'No block of it fits on an SM.',
  registersUnknown: 'The registers of the launch are not known.',
  registersHeld: 'What CUDA holds of the kernel that was launched.',
  noKernel: 'It launches no kernel.',
  kernelsDiffer:
    'It launches {count} kernels that differ in it, and without counters it is not known which runs longest.',
  fp32Operations:
    'Twice the FFMA, plus FADD and FMUL, as ncu counted them by threads. Tensor operations are not among them.',
  slotShare:
    'Of 32 lanes for each warp instruction executed; lanes that a predicate or a branch switched off are part of the whole.',
  follows: 'It follows from {metric}, which has no figure: {why}',
  noShare: 'No instruction was executed, so a share of them has no value.',
} as const
