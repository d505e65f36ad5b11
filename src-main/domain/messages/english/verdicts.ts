/** Messages about measured figures: limits, comparisons, claims and baselines. */

/** Messages about the roofline ceilings of a GPU. */
export const ceilings = {
  benchmark: "Measured by the runner's microbenchmark in this session.",
  notMeasured:
    'The peak was not measured in this session, and there is no published value for this GPU.',
  noGpu: 'The session does not specify a GPU.',
  noClock: 'The maximum SM clock is unknown.',
  notInTable: 'Compute capability {computeCapability} is not in the built-in table.',
  fp32: '{smCount} SMs at their maximum clock of {clock} MHz, each executing {rate} FP32 operations per cycle (an FMA counts as two).',
  tensor:
    '{smCount} SMs at their maximum clock of {clock} MHz, each executing {rate} dense {bits}-bit tensor operations per cycle.',
  tensorDiffers: 'GPUs of compute capability {computeCapability} differ in their tensor rate.',
  l1: '{smCount} SMs at their maximum clock of {clock} MHz, each moving {rate} bytes per cycle.',
  bus: 'A {bits}-bit bus with two transfers per cycle at {clock} MHz.',
  noBus: 'The memory clock or the bus width is missing from this session.',
} as const

/** Origins of a rung's operation count, and reasons for not drawing a rung on the roofline. */
export const roofline = {
  noOperations: 'The report has no count of FP32 operations.',
  noDuration: 'The report has no duration.',
  noFp32: 'The rung executes no FP32 operations.',
  noOperationsOfTask: 'The task does not define an operation count, and ncu counted no operations.',
  noTime: 'The rung has no time.',
  notCollected: '{metric} was not collected.',
  notAvailable: '{metric} is not available.',
  noByte: 'The rung moved no bytes at this level, so its arithmetic intensity is undefined.',
  counted: 'FP32 operations counted by ncu: 2 × FFMA + FADD + FMUL.',
  ofProblem: 'Operation count of {what}, {flops}; FP32 operations were not counted.',
  ofProblemTensor:
    'Operation count of {what}, {flops}; the FP32 counters do not include the work of the tensor pipe.',
} as const

/** Reasons why a launch is impossible. */
export const occupancy = {
  threads: 'A block can have at most {most} threads; this one has {threads}.',
  registers: 'A thread can have at most {most} registers; this one has {registers}.',
  shared:
    'A block can have at most {most} bytes of shared memory on compute capability {computeCapability}; this one requests {bytes}.',
  launchBounds:
    'The __launch_bounds__ of {kernel} allow {most, plural, one{{most} thread} other{{most} threads}} per block; this launch has {threads}.',
  requiredThreads:
    '{kernel} requires blocks of {required, plural, one{{required} thread} other{{required} threads}} (__block_size__); this launch has {block}.',
  cluster:
    'The grid has {grid} blocks along x, but {kernel} requires a multiple of its cluster size, {blocks}.',
  registersOfBlock: 'One block needs {held} registers, but an SM has only {most}.',
} as const

/** Figures derived from a launch and its GPU, and reasons for missing metric values. */
export const figures = {
  time: 'Time',
  limitsUnknown:
    'The limits of compute capability {computeCapability} are not in the built-in table.',
  resourcesUnknown: 'The register and shared memory usage of the launch is unknown.',
  computed:
    'Computed from {threads, plural, one{{threads} thread} other{{threads} threads}} per block, {registers} registers per thread, {bytes} bytes of shared memory per block, and compute capability {computeCapability}.',
  computedWaves:
    'Computed from {threads, plural, one{{threads} thread} other{{threads} threads}} per block, {registers} registers per thread, {bytes} bytes of shared memory per block, and compute capability {computeCapability}, for a grid of {blocks, plural, one{{blocks} block} other{{blocks} blocks}} on {smCount, plural, one{{smCount} SM} other{{smCount} SMs}}.',
  clustersUnknown: 'It is unknown whether the kernel is launched in thread block clusters.',
  clusters:
    'The kernel is launched in thread block clusters; how many of them fit on the GPU at once depends on how its SMs are grouped.',
  smCountUnknown: 'The SM count of the GPU is unknown.',
  noBlockFits: 'Not even one block fits on an SM.',
  registersUnknown: 'The register usage of the launch is unknown.',
  registersHeld: 'Reported by CUDA for the kernel that was launched.',
  noKernel: 'The rung launches no kernel.',
  kernelsDiffer:
    'The rung launches {count} kernels that differ in this value. Without counters, it is unknown which of them runs longest.',
  ofRange: 'The range has {count} different kernels, but this metric is for a single launch.',
  fp32Operations:
    '2 × FFMA + FADD + FMUL, as ncu counted them per thread. Tensor operations are not included.',
  slotShare:
    'Share of the 32 lanes of every warp instruction executed; lanes disabled by a predicate or a branch are included in the total.',
  fromParts: 'Computed from other counters of the same profile: {names}.',
  follows: 'The metric is derived from {metric}, which has no value: {why}',
  overInstructions:
    'Sum over {opcodes} of the per-instruction counters: wavefronts minus the fewest that the accesses need.',
  noInstructions: 'Per-instruction counters were not collected; the deep level collects them.',
  noise: 'Counted bank conflicts minus the structural ones.',
  noShare: 'No instructions were executed, so the share is undefined.',
  rateOfDram: '{rate} ({share} of DRAM)',
  rateWhy: '{rate} ({why})',
  aboveMemory: 'part of the data was in L2',
  abovePeak: 'the limit is lower than the measured rate',
} as const

/** L2 state when a launch was timed. */
export const cacheState = {
  cold: 'cold',
  warm: 'warm',
  'cold-dirty': 'cold, with lines to write back',
  unknown: 'unknown',
} as const

/** Notes shown next to a time. */
export const timeNote = {
  unsettled: 'did not settle',
  powerCap: 'at the power cap',
  heldDown: 'clocks limited',
  unequalClocks: '{clock} MHz, the reference at {reference} MHz',
  includesHost: 'includes the host: the launch waits for the GPU',
  late: '{count, plural, one{{count} late launch} other{{count} late launches}} left out',
  gpu: 'GPU {time}',
} as const

/** Whether a rung is faster than the reference, for each kind of timing in a session. */
export const claim = {
  faster: '{rung} is faster than {reference} in all three timing modes: {ways}.',
  slower: '{rung} is slower than {reference} in all three timing modes: {ways}.',
  mixed: 'The timing modes disagree on whether {rung} is faster than {reference}: {ways}.',
  incomplete:
    '{rung} against {reference}: {ways}. To tell whether it is faster, run with --timing all.',
  ratios: '{rung} against {reference}: {ways}.',
  single: 'single launches {ratio}',
  burst: 'bursts {ratio}',
  sustained: 'sustained {ratio}',
} as const

/** Reasons why two sessions cannot be compared, and warnings for a comparison. */
export const guard = {
  ladder: 'The ladders differ: {a} and {b}.',
  problem: 'The problems differ: {a} and {b}.',
  task: 'The tasks differ: {a} and {b}.',
  option: 'The sessions differ in the {option}: {a} and {b}.',
  computes:
    '{a} computes {whatA}, and {b} computes {whatB}; that accounts for part of the difference in time.',
  computesOther: 'In one session {rung} computes {a}, in the other {b}.',
  gpu: 'The GPUs differ: {a} and {b}.',
  otherGpu: 'Across GPUs, counters and shares of each GPU’s peak can be compared; times cannot.',
  computeCapability: 'The compute capabilities differ: {a} and {b}.',
  smCount: 'The SM counts differ: {a} and {b}.',
  driver: 'The driver versions differ: {a} and {b}.',
  cudaDriver: 'The CUDA versions of the drivers differ: {a} and {b}.',
  clock: 'The SM clocks differ: {a} MHz and {b} MHz.',
  clockUnknown: 'The SM clock is known for only one session.',
  nvcc: 'The compiler (nvcc) versions differ: {a} and {b}.',
  nvccFlags: 'The compiler flags differ: {a} and {b}.',
  ncu: 'The profiler (ncu) versions differ: {a} and {b}.',
  clockControl: 'The clock control settings of ncu differ: {a} and {b}.',
  cacheControl: 'The cache control settings of ncu differ: {a} and {b}.',
  seed: 'The input seeds differ: {a} and {b}.',
  cacheState:
    'The times are not ranked: L2 was {a} in one session and {b} in the other. To measure again with a cold L2: {command}',
  predictedCold:
    'Predicted times assume a cold L2, but L2 was {state} when the other session was measured. This difference is part of the prediction error.',
  ofProgram:
    'The session {id} is a profile of a program: its kernels are known, but not what it computed.',
  imported: 'The session {id} was imported, so what it computed is unknown.',
  ofFirst: 'The first session: {what}',
  ofSecond: 'The second session: {what}',
  unfinished: 'The session {id} was canceled before it finished.',
  clocks:
    'The times are not compared: the runner timed one session, and ncu timed the other, one launch at a time.',
  profilers:
    'The times are not compared: ncu timed the launches of one session one by one, and CUPTI timed the concurrent launches of the other.',
  noPairs: 'No kernel of one session has a counterpart in the other.',
  noKernels: 'The session {id} has no kernels.',
  onlyFused:
    'No kernel is in both sessions: only the order of the launches suggests which kernels replaced which.',
  problemWords: '{problem}, {scalars}',
  alone: '{what} only',
  more: '{what}, {other}',
  last: '{what} and {other}',
  againstAlone:
    '{rung} computes {what}; its ratio is relative to {reference}, which computes {other}.',
  unknown: 'unknown',
  on: 'on',
  off: 'off',
} as const

/** Results of a baseline check: the headline, and the reason for each rung's verdict. */
export const baseline = {
  pass: 'no rung got more than {threshold} % slower',
  fail: '{worse} of {all, plural, one{{all} rung} other{{all} rungs}} regressed',
  failUnresolved:
    '{worse} of {all, plural, one{{all} rung} other{{all} rungs}} regressed, and {unresolved} could not be decided',
  unresolved:
    'cannot tell whether any rung got more than {threshold} % slower: {unresolved} of {all, plural, one{{all} rung} other{{all} rungs}} could not be decided',
  nothing:
    'cannot tell whether any rung got more than {threshold} % slower: no rung has a time in both sessions',
  only: 'Only the requested rungs were checked: {rungs}.',
  drift:
    'Every timed rung moved in the same direction as the reference {reference} ({change}): the clocks, power or load of the GPU changed. Times were normalized by the reference, which was timed alternately with each rung.',
  driftFar:
    'Every timed rung moved in the same direction as the reference {reference} ({change}), but too far to normalize. A rung is decided only if its time and its time relative to the reference give the same verdict.',
  driftPart:
    'The reference {reference} moved ({change}), but not every rung moved in the same direction. A rung is decided only if its time and its time relative to the reference give the same verdict.',
  clocksUnknown: 'Neither session recorded the SM clock.',
  time: '{change} ({low} to {high})',
  normalized: '{change} ({low} to {high}) after normalizing by the reference',
  yardstick:
    '{change} ({low} to {high}); this is the reference by which the other rungs were normalized',
  straddles:
    '{change} ({low} to {high}): the confidence interval contains the threshold of {threshold} %. More samples or a quieter GPU would settle it.',
  disagree:
    'Judged by its time, the rung is {time}; relative to the reference, which moved, it is {relative}: {change} and {relativeChange}.',
  noReferenceTime: 'The reference moved, and the rung was not timed alternately with it.',
  missing: 'The rung is in the baseline but not in the new session.',
  new: 'The rung is not in the baseline.',
  newNotOk: 'The rung is not in the baseline, and its status is {status}.',
  broken: 'The rung passed in the baseline but is now {status}: {why}',
  noReason: 'no reason was recorded.',
  refuted: 'it failed verification.',
  notReached: 'The rung passed in the baseline, but the new session ended before reaching it.',
  mended: 'The rung was {status} in the baseline and is now ok.',
  neither:
    'The rung was {before} in the baseline and is now {now}, so there is nothing to compare.',
  unverified: 'The rung was not verified in {where}.',
  noTime: 'The rung has no time in {where}.',
  fewSamples:
    '{samples, plural, one{{samples} sample in {where} is} other{{samples} samples in {where} are}} too few; a confidence interval needs at least {fewest}.',
  samplesDisagree: 'The median or the spread in {where} does not match its samples.',
  inBaseline: 'the baseline',
  inNew: 'the new session',
  inBoth: 'both sessions',
  otherWork: 'The sessions do not have the same ladder, problem, and data type.',
  otherConditions: 'The sessions were not timed under the same conditions.',
} as const

/** Verdicts on a rung in a baseline check. */
export const rungVerdict = {
  slower: 'slower',
  broken: 'broken',
  unresolved: 'unresolved',
  faster: 'faster',
  same: 'same',
  mended: 'mended',
  new: 'new',
  skipped: 'skipped',
} as const

/** Highlights of a session: the best rung, the largest steps, and the slower rungs. */
const best = 'Best rung: {rung} ({title}), {time} ± {spread}, {throughput}'
const reached =
  `${best}; it reaches {ratio} (± {both}) of the throughput of the reference {reference}` as const

export const summary = {
  none: 'No rung was verified and timed, so there is no best rung.',
  kernelsBeside:
    'Sum of the kernel times by CUPTI: {time} (kernels: {kernels}, launches: {launches}). The hottest kernel is {title}: {own}, {share} of the sum.',
  predicted:
    'The model predicts {rung} ({title}) to be the fastest on {gpu}: {time}, limited by {limiter}. Nothing was measured.',
  emulated:
    '{ok} of {total, plural, one{{total} rung is} other{{total} rungs are}} correct on an emulated {gpu}. Nothing was timed, so there is no fastest rung.',
  kernels:
    'GPU time under ncu: {time} (kernels: {kernels}, launches: {launches}). The hottest kernel is {title}: {own}, {share} of the GPU time.',
  best: `${best}.`,
  bestBeside: `${reached}.`,
  bestLevel: `${reached}. The difference is within the spread.`,
  stepFrom: '{factor} from {from}',
  climb: 'The total speedup from {from} to {to} is {factor} (steps: {steps}).',
  jump: '{to} is {factor} (± {spread}) as fast as {from}.',
  unexplained: 'None of the collected counters explains the step.',
  announced: '{metric}: {a} → {b}, as the rung’s header predicted.',
  slower: '{to} is slower than {from}: {a} → {b} ({factor} as fast).',
  meant: 'The slowdown is intentional.',
  level: 'The times of {to} and {from} differ by no more than their spread or half a percent.',
  trouble: '{rung}: {status}; the reason is below.',
} as const

/** Rung outcomes, keyed by the status names in sessions. */
export const status = {
  ok: 'ok',
  wrong: 'wrong',
  failed: 'failed',
  unsupported: 'unsupported',
  'not-run': 'not-run',
} as const
