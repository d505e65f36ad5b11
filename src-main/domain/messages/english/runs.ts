/**
 * Messages about a run's requirements and results: the request, the tools, the GPU and the
 * emulator.
 */

/** Invalid requests: a ladder, rung, parameter, problem, target or recording. */
export const requests = {
  and: '{some} and {last}',
  notSize: '{name} = {value} is not a valid size.',
  giveSize: 'Use a whole number from 1 to {most}.',
  notNumber: '{name} = {value} is not a number.',
  notWhole: '{name} = {value} is not a whole number.',
  forExample: 'For example: {name}={value}.',
  noChoice: '{name} = {value} is not a valid {title}.',
  choices: 'The choices are {choices}.',
  sizeBeside: '--size cannot be combined with {names}.',
  oneOrOther: 'Use one or the other.',
  noName: 'The task {task} has no size, scalar or option {name}.',
  names: 'The task has: {names}.',
  missing: '{name} is missing.',
  give: 'Specify {names}.',
  impossible:
    'The task {task} cannot run with these sizes or values because of its {place}. {text}',
  otherValues: 'Choose other values with --at.',
  theLadder: 'The ladder {ladder}',
  meant: 'Did you mean {name}?',
  noLadder: 'There is no ladder named {ladder}.',
  ladders: 'The ladders are: {ladders}.',
  ladderFault: 'The ladder {ladder} cannot be used. {why}',
  noRungFile:
    'The ladder {ladder} lists the rung {rung}, but no file {rung}.cu under cuda-kernels declares it.',
  rungAccepts:
    'The ladder {ladder} runs {rung} with the {option} {choice}, but {file} accepts only {choices}.',
  noTask: 'The ladder {ladder} uses the task {task}, which does not exist.',
  noRung: '{whole} has no rung named {rungs}.',
  rungs: 'The rungs are: {rungs}.',
  noParameter: '{whole} has no parameter named {name}.',
  noRungRun: '{name} is not a rung of this run.',
  rungsRun: 'The rungs are: {rungs}.',
  parameters: 'The parameters are: {names}.',
  noParameters: 'There are no parameters.',
  notAllowed: '{name}={value} is not allowed.',
  allowed: 'Allowed values of {name}: {values}.',
  cannotTake: '{rung} does not support {values}: {rule}.',
  nothingLaunched:
    'Nothing was launched. Use other values; `kernel-ladder ladders --json` lists the values for each rung.',
  notTarget: '{target} is not a target.',
  targets: 'Targets: {targets}.',
  noGpu: 'There is no GPU named {gpu} in the built-in table.',
  gpus: 'Use one of the GPUs {gpus}, or one of the architectures {architectures}.',
  gpuNotListed: 'There is no GPU {gpu}: CUDA_VISIBLE_DEVICES is {listed}.',
  gpuMissing: 'There is no GPU {gpu}: the driver lists {count}.',
  gpuNumbers:
    'GPUs are numbered from 0 in the order of `nvidia-smi`; `--gpu` numbers only visible GPUs.',
  noRecordingOfLadder: 'There is no recording of the ladder {ladder}.',
  otherLadder: '{recording} is not a recording of the ladder {ladder}.',
  otherSize: '{ladder} was not recorded at {sizes}.',
  sizeNeedsGpu: 'The recordings are: {recordings}. Other sizes require a GPU: use --target local.',
  otherValue: '{recording} was recorded with {name} = {recorded}, not {value}.',
  valueNeedsGpu: 'Other values require a GPU: use --target local.',
  noParameterRecorded: 'No rung of {recording} has a parameter named {name}.',
  seeParameters: 'See `kernel-ladder ladders --json` for the parameters of each rung.',
  otherParameter: '{recording} was recorded with {name}={recorded}, not {value}.',
  parametersNeedGpu: 'Other parameters require a GPU: use --target local.',
  sanitizerNotRecorded: 'The output of compute-sanitizer was not recorded.',
  useGpu: 'Run compute-sanitizer on a machine with an NVIDIA GPU.',
  referenceAlone: 'The ladder {ladder} has no rung besides its reference.',
  nameReference: 'To check the reference, request it with --rungs.',
  smaller: 'Choose a smaller size.',
  smallerWith: 'Choose a smaller size with --size or --at.',
  saveAnew: 'Save the file again, or change the task to match it.',
  running: 'A run is already in progress.',
  sanitizing: 'compute-sanitizer is running.',
  wait: 'Wait for the current job to finish, or cancel it.',
  runOver: 'That run is no longer in progress.',
  runFailed: 'The run failed.',
  cancelled: 'The run was canceled.',
} as const

/** Fragments for the messages in ./labs and ./sessions. */
export const part = {
  /** Separator between list items. */
  separator: '; ',
  metric: '{metric}',
  atMostBytes: 'at most {most} bytes of shared memory',
  noSpills: 'no spills',
  bound: '{sign} {limit}',
  boundFrom: '{sign} {limit} ({from})',
  both: '{bound} and {other}',
  tooManyRegisters: '{registers} registers per thread (at most {most} allowed)',
  tooManyBytes: '{bytes} bytes of static shared memory (at most {most} allowed)',
  spills: 'register spills to local memory ({bytes} bytes of stores and loads)',
  stayed: '{metric} stayed at {value}',
  went: '{metric} went from {a} to {b}',
  wentTimes: '{metric} went from {a} to {b} ({factor}×)',
  up: 'up',
  down: 'down',
  same: 'no change',
  load: 'loading',
  verify: 'verification',
  time: 'timing',
  profile: 'profiling',
  noLaunchReached: 'no launch precedes that point',
  launchesMissing: 'launches after the first {count} are missing',
} as const

/**
 * Failures of ncu, nvcc, compute-sanitizer and the driver, with remedies. The table also contains
 * messages about waiting for the GPU.
 */
export const tools = {
  ncuPermission:
    "This user is not permitted to read the GPU's performance counters (ERR_NVGPUCTRPERM).",
  ncuBusy: "Another tool, usually DCGM, is using the GPU's performance counters.",
  ncuLock: "ncu cannot use its lock file, which belongs to another user's ncu.",
  ncuOldDriver: 'The NVIDIA driver is too old for this version of ncu.',
  ncuLibrary: "ncu cannot load the driver's profiling library.",
  ncuUnknown: 'This version of ncu does not know the metric {metricName} on this GPU.',
  ncuUnknownOne: 'This version of ncu does not know a metric on this GPU.',
  ncuNotExecutable: 'ncu cannot start {file}: it does not exist or is not executable.',
  programFailed: 'The profiled program failed.',
  programFailedWith: 'The profiled program failed with exit code {exitCode}.',
  noKernels: 'ncu ran but profiled no kernel.',
  allowCounters:
    'Put "options nvidia NVreg_RestrictProfilingToAdminUsers=0" into a file in /etc/modprobe.d and reboot, or run as root. If you use a container, start it with --cap-add=SYS_ADMIN.',
  pauseDcgm: 'Run "dcgmi profile --pause", profile again, then run "dcgmi profile --resume".',
  ownTmp: 'Set TMPDIR to a folder that you own.',
  updateDriver:
    "Update the driver, or use the ncu of the CUDA version that nvidia-smi's header shows.",
  sameLibraries:
    'Install the libraries of the same driver version as the kernel module; in a container, set NVIDIA_DRIVER_CAPABILITIES=all.',
  lowerLevel: 'Profile at a lower level, or with the ncu of CUDA 12 or later.',
  buildAgain: 'Rebuild the runner, and check that its folder is not mounted noexec.',
  runWithout: 'Run the same rungs without profiling; the error that they report is the cause.',
  seeLaunch: 'Run the same rungs without profiling and check that they launch a kernel.',
  triedTimes: 'Profiling was tried {count, plural, one{{count} time} other{{count} times}}.',
  ncuIdle: 'ncu did not finish (no progress for {seconds} s).',
  ncuUnfinished: 'ncu did not finish ({signal}).',
  ncuSilent: 'ncu did not finish within two minutes.',
  ncuNoKernel: 'ncu ran without errors but reported no kernel.',
  ncuFailed: 'ncu failed: {text}',
  ncuKilled: 'ncu was terminated by a signal.',
  ncuEnded: 'ncu exited with code {exitCode}.',
  readRaw: "See ncu's output in the session's raw.jsonl.",
  retry: "Another tool is using the GPU's counters; trying again in {seconds} s.",
  askWithout: 'ncu does not know {names} on this GPU; trying again without them.',

  nvccStopped:
    'nvcc was stopped after {minutes, plural, one{{minutes} minute} other{{minutes} minutes}}.',
  notShipped: 'nvcc was not found, and {what} is not among the builds that come with this program.',
  nvccNotStarted: 'nvcc could not be started.',
  nvccKilled: 'nvcc was terminated by {signal}.',
  nvccEnded: 'nvcc exited with code {exitCode}: {text}',
  runnerNotBuilt: 'The runner could not be built with this CUDA toolkit.',
  probeNotBuilt: 'the probe could not be built with this CUDA toolkit.',
  hostCompiler: 'Check that nvcc finds a host compiler that it supports (`kernel-ladder doctor`).',
  probeEnded: 'the probe exited with code {exitCode}: {text}',
  probeLacks:
    'it calls {name}, which requires a GPU: remove the call, or run on a GPU (--target local)',
  probeLibrary: 'it calls {name}, whose library runs only on a GPU: run on a GPU (--target local)',
  hostExited: 'its host code exited with code {exitCode} before it returned{text}',
  hostCrashed: 'its host code crashed with {signal}{text}',
  hostSilent: 'its host code did not return within {seconds} s',
  probeUnfinished: 'the probe did not finish ({signal})',

  sanitizerStopped:
    'compute-sanitizer did not finish within {seconds} s and was stopped. Allow more time with --timeout.',
  sanitizerEnded: 'compute-sanitizer was terminated ({signal}).',
  sanitizerNoEnd: 'compute-sanitizer did not finish: {text}',
  sanitizerCounts:
    'The compute-sanitizer summary counts {total, plural, one{{total} error} other{{total} errors}}, but its report lists {count}.',
  notLaunched: 'The rung was not launched: {text}.',
  noAnswer: 'compute-sanitizer reported no result.',

  driverSilent: 'The NVIDIA driver does not respond: {text}.',
  checkDriver: 'Check that the driver is loaded and its version matches (`nvidia-smi`).',
  noGpuFound: 'No NVIDIA GPU was found.',
  noGpuUsable: 'CUDA reports no usable GPU: {text}',
  checkVisible: 'Check the driver and CUDA_VISIBLE_DEVICES (`nvidia-smi`, `kernel-ladder doctor`).',
  resetGpu:
    'Check whether `nvidia-smi` still lists the GPU, and which processes hold its memory. Reset the GPU (`nvidia-smi --gpu-reset`, as administrator) or reboot, then run the remaining rungs.',
  gpuInUse: '{gpu} is in use by process {pid} of {user}, since {since}.',
  gpuInUseBySilent: '{gpu} is in use by a process that does not identify itself.',
  waitingForGpu: '{why} Waiting for the process to finish.',
  waitYourself: 'Wait until the process has finished, or run without --no-wait.',
  gpuNotReserved:
    '{gpu} could not be reserved ({text}); another run of this program may be timing at the same time.',

  runnerNotStarted: 'The runner could not be started: {text}',
  runnerRejected: 'The runner rejected its arguments: {text}',
  runnerEnded: 'The runner ended before it reached a rung: {text}',
  runnerSilent: 'The runner ended before it reached a rung: no output for {seconds} s',
  seeDoctor: 'Run `kernel-ladder doctor`; the raw output is stored with the session.',
  referenceFailed: 'The reference {file} failed: {text}',
  referenceHangs: 'The reference {file} does not finish.',
  referenceUnusable: 'The reference {file} {why}.',
  referenceNotBuilt: 'The reference of the task {task} could not be built.',
  seeFile: 'See {file}.',
  sanitizerNotStarted: 'compute-sanitizer could not be started: {text}',
  checkWithSmi: 'Check the driver with `nvidia-smi`.',
  smiNoGpu: 'nvidia-smi finds no GPU: {text}',
  checkModule: 'Check that the NVIDIA driver is installed and its kernel module is loaded.',
  smiIncomplete: 'This is not the complete output of nvidia-smi -q -x: {text}.',
  smiEnded: 'nvidia-smi exited with code {exitCode}',
  runnerExited: 'the runner exited with code {exitCode}',
  sanitizerNoReport: 'This is not a compute-sanitizer report: {text}.',
  sanitizerUse: 'Use the output of `compute-sanitizer --xml --save FILE`.',

  knownWith: 'an {gpu} (cc {computeCapability}) with ncu {version}',
} as const

/** State of the GPU during timing. */
export const gpuState = {
  figures: 'SM clock {low} to {high} MHz, at most {power} of {limit} W and {temperature} °C',
  free: '{figures}; clocks not limited',
  heldDownIn:
    '{figures}; clocks limited in {count} of {all, plural, one{{all} rung} other{{all} rungs}}: {reasons}',
  heldDown: 'Clocks were limited: {reasons}',
  modes: 'ECC {ecc}, MIG {mig}',
  on: 'on',
  off: 'off',
} as const

/** Reasons for reduced clocks, as reported by NVML. */
export const clockReason = {
  applicationClocks: 'application clocks are set',
  powerCap: 'power cap',
  hardwareSlowdown: 'hardware slowdown',
  syncBoost: 'sync boost with other GPUs',
  softwareThermal: 'temperature (driver)',
  hardwareThermal: 'temperature (hardware)',
  powerBrake: 'external power brake',
  displayClocks: 'display clocks are set',
} as const

/** Errors in the machine code of a build. */
export const machineCode = {
  damaged: 'The machine code is damaged: {part} cannot be read.',
  buildAgain: 'Build the code again.',
  container: 'the list of cubins',
  elfHeader: 'the ELF header',
  sections: 'the section table',
  symbols: 'the symbol table',
  relocations: 'a relocation',
  attributes: 'the attributes of a kernel (.nv.info)',
  code: 'the code of a kernel',
  lines: 'the line table',
  tooLarge: 'The machine code is larger than 256 MiB.',
  buildFewer: 'Build fewer kernels into one file.',
  compressed: 'The machine code is compressed.',
  dontCompress: 'Build the code with nvcc --compress-mode=none.',
  otherArchitecture: 'The machine code is for {architecture}, whose encoding is unknown.',
  buildForKnown: 'Build the code for one of these: {architectures}.',
  unknownInstruction: 'Unknown instruction at {address}: {bits}.',
} as const

/** Messages about the emulator: its limits, the reasons why a rung stopped, and estimates. */
export const emulation = {
  counted: 'The counters come from the emulator, without a GPU. Samples and stalls require a GPU.',
  notEmulated:
    'The emulator counts only what the code and the launch determine; this metric depends on GPU timing.',
  noKind:
    'The rung executes {opcode}, and it is unknown which ncu counters include this instruction.',
  copiesPastL1:
    'The rung’s copies bypass L1, and it is unknown how many sectors L1 counts for them.',
  announced:
    'The emulator executes about {instructions} million warp instructions for {rungs, plural, one{{rungs} rung} other{{rungs} rungs}}. The emulation takes about {seconds} s on {threads, plural, one{{threads} thread} other{{threads} threads}}.',
  progress: '{rung}: {done} of about {total} million warp instructions executed.',
  progressOpen: '{rung}: {done} million warp instructions executed.',
  tooLarge:
    'At {at}, {rung} would execute about {instructions} million warp instructions; the limit is {most} million.',
  trySizes: 'The largest similar size that fits is {at}.',
  tooMuchMemory: '{rung} needs {gib} GiB of GPU memory; the emulator has {most} GiB.',
  noArchitecture:
    'The emulator does not support compute capability {computeCapability}, which {gpu} has.',
  architectures: 'The emulator supports compute capability 7.5 to 9.0: {gpus}.',
  otherArchitecture:
    'The memory access rules were measured on compute capability 9.0. How the rules differ on compute capability {computeCapability} is unknown.',
  notVerifiedAt:
    '{rung} was not verified at {at}, which would take about {instructions} million warp instructions.',
  about:
    'Emulated for {gpu} at {at}, every block of every launch. Times are not known. Expected results are from {reference}.',
  launchesAt: 'The value was counted for the launches at {at}.',
  shrunk:
    'Emulated at {at} instead of {from}, so that the emulation takes only seconds. Waves per SM are for the smaller size.',
  unsettled:
    'Each launch changes state that the rung keeps in device memory, so later launches may be wrong. Reset the state at the start of kl_launch, for example with cudaMemsetAsync.',
  maskedAll: 'its mask excludes every element of {name}',
  shipped:
    'This machine has no nvcc, so the builds that come with this program were used; nvcc {version} compiled them.',
  fromHost: 'the reference on this machine',
  fromEmulated: 'the reference, also emulated',
  fromRung: 'the rung {rung}, emulated as well',
  unknownInstruction: 'The emulator stopped at {instruction}{where}, which it does not support.',
  callsOut:
    'The rung calls a function outside its kernel{where}, such as malloc or a function in another file. The emulator does not support such calls.',
  illegalAddress: 'The rung accesses memory outside its buffers{where}.',
  clock:
    '{rung} reads a clock. The emulator does not model time: its clocks count the instructions that a block has executed.',
  tooLong:
    'The rung was stopped after {limit} million warp instructions{where}; it may never finish.',
  deadlock:
    'Block {block} waits forever{where}, because some of its threads never reach a barrier.',
  memory: 'The rung needs more memory than the emulator has: {detail}.',
  assert: 'Assertion `{what}` failed{where}, thread {thread} of block {block}.',
  stack:
    'The rung’s calls need more than a thread’s {bytes} bytes of stack{where}, thread {thread} of block {block}. Reduce the recursion depth, or raise the limit (cudaDeviceSetLimit, cudaLimitStackSize).',
  printed: '{rung}, thread {thread} of block {block}: {text}',
  printedMore: '{rung} printed {count, plural, one{{count} time} other{{count} times}} more.',
  trap: 'The rung stopped itself{where}: {detail}.',
  fault: '{what}{where}, thread {thread} of block {block}.',
  faults: '{count} faults. The first: {first}',
  place: ' ({file}:{line})',
  placeAt: ' (at {address} of {kernel})',
  notLaunched: 'The rung’s launches are unknown: {why}',
  noMachineCode: 'The rung’s library has no machine code for the emulator.',
  noSuchKernel: 'The rung’s host code launches {name}, which its machine code does not contain.',
  wrongArguments:
    'The rung’s host code passes {bytes} bytes of arguments to {name}, which expects {expected}.',
  noSuchVariable:
    'The rung’s host code uses the variable {name}, which its machine code does not contain.',
  referenceUnusable: 'The reference is unusable: {why}',
  referenceNaN: 'The reference sets {place} to NaN or does not write it.',
  noFile: '{path} is not a .npy file with {bytes} bytes of data.',
  unknownType: 'The emulator cannot fill a buffer of the type {dtype}.',
} as const
