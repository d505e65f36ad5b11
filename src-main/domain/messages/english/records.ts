/** What a session records about its run: why a rung has no result or no counters, and warnings for the reader. */
export const records = {
  notReached: 'The run ended before it reached this rung.',
  writesOutside: 'It writes out of bounds of {buffers}.',
  changesInputs: 'It writes to {buffers}, which is read-only.',
  mismatches: '{count} elements of {buffers} exceed the error bound.',
  mismatchesAt:
    '{count} elements of {buffers} exceed the error bound; the first is {place} = {actual}, expected {expected}.',

  needsArchitecture: 'requires {requires}; {gpu} has compute capability {computeCapability}.',

  notCompiling: 'Does not compile: {what}',
  parameterLeft: '{rung} keeps {name} = {value}: it does not allow {asked}, only {allowed}.',
  wrongAt: 'At {at}: {why}',
  trustedFailed: '{rung}, which results are checked against, could not be used.',
  hung: 'Hung during {stage}: no progress for {seconds} s, so its process was terminated.',
  crashed: 'Crashed during {stage} ({signal}).',
  flooded: 'Printed without end during {stage}, so its process was terminated.',
  ended: 'Terminated the runner during {stage} (exit code {exitCode}): {text}',

  runnerLost:
    'It was not run because the runner could not continue after the rungs before it: {why}',
  halted: 'Not all rungs were run: {why}',
  outOfTurn:
    'While {rung} was running, lines arrived that the runner could not have sent at that point; they were ignored. The rung may be printing text that looks like a result.',
  gpuShared:
    'Another program was computing on this GPU before or after the timing, so the times may be those of a shared GPU. Check `nvidia-smi`, and run again once nothing else is computing there.',

  compiledWhereRun: 'Its kernels are compiled by Python on the GPU that they run on.',
  noTimeNoProfile: 'The rung has no time, so it was not profiled.',
  profilingOff: 'Profiling was turned off (--profile none).',
  profilingSkipped:
    'It was excluded from profiling, either on request or because it would have taken too long.',
  endedBeforeProfile: 'The run ended before this rung was profiled.',
  noLaunchReported: 'ncu reported no launch for this rung.',
  noCounters: 'No counters: {why}',
  rawLost: 'Raw output is missing, so this session cannot be replayed in full: {calls}. {why}',
  unknownMetrics:
    'ncu {version} does not know {names} on this GPU; the other counters were collected without them.',
  noRatios: 'No ratios: the reference {rung} has no time.',

  noKernelProfiled: 'ncu profiled no kernel for this rung.',
  noDurations:
    'The rung launches {count} kernels, and ncu did not report {metricName} for each of them.',
  notReported: 'ncu did not report {names} on this GPU.',
  notAsked: 'The run did not request {names} from ncu.',
  notReportedHere: 'ncu did not report {names}.',
  noFigure: 'ncu reported no value of {metricName} for the kernel {kernel}.',
  notPercent: 'ncu reported {metricName} in {unit} instead of percent.',
  noUnit: "ncu's table does not give the unit of {metricName}.",
  importedWithout: 'Imported from {file}: {why}',

  builtOnly:
    'Built for {gpu} (compute capability {computeCapability}, from the built-in table) without a GPU: nothing was run, verified or timed.',
  builtNotRun: 'Built for {gpu}; nothing runs without a GPU.',
  nothingRun: 'It was only built for {gpu}, not run.',
  launchUnknown: 'What it launches is unknown: {why}',
  cannotLaunch: 'It cannot be launched: {why}',
  unsupportedHere: 'It is unsupported at this size: {why}',
  noCode: '{rung} has no page of its instructions. {why}',
  ptxasSilent: 'ptxas reported nothing for the kernel {kernel}.',

  imported:
    "Imported from {file}: nothing in it was built, verified or timed here, and the problem is unknown. Its times are ncu's own, taken while profiling; they are not timings of the program.",
  importedFirst: '{file} holds {total} launches; the first {count} were imported.',
  detailsPage:
    'The details page contains few metrics and rounds them to two digits; the raw page or the report itself has more.',
  gpuUnclear: '{file} does not describe the GPU in full.',
  severalGpus: 'The launches ran on {count} GPUs; the GPU shown is that of the first launch.',
} as const

/** What the machine has and what it lacks. */
export const doctor = {
  noGpu: 'No NVIDIA GPU was found: nvidia-smi is not on this machine.',
  noDriver: 'The NVIDIA driver does not respond.',
  toolMissing: '{tool} was not found.',
  noVersion: '{file} does not report its version: {text}',
  countersUnknown: 'The driver does not report who may read performance counters.',
  countersAll: 'All users may read performance counters.',
  countersAdminHere:
    'Only administrators may read performance counters, and this process has that permission.',
  countersAdmin: 'Only administrators may read performance counters (RmProfilingAdminOnly is 1).',
  counterRead: 'ncu read a counter.',
  noCublas: 'libcublas.so was not found in the usual places; ratios to cuBLAS may be unavailable.',

  installNvcc:
    'Install the CUDA toolkit and put nvcc on PATH. Without it, `--target recorded` replays a shipped recording.',
  useGpu:
    'Run this on a machine with an NVIDIA GPU of compute capability 7.5 or higher, replay a recording with `--target recorded`, or build without one with `--target static:<gpu>`.',
  installNcu:
    'Install Nsight Compute and put ncu on PATH, or run without counters: `--profile none`.',
  installSanitizer:
    'Install compute-sanitizer, which comes with the CUDA toolkit, and put it on PATH.',
  installCublas:
    'Install the cuBLAS library of the CUDA toolkit, or add its folder to LD_LIBRARY_PATH.',
  allowCounters:
    'As administrator, set the module option NVreg_RestrictProfilingToAdminUsers=0 (a line "options nvidia NVreg_RestrictProfilingToAdminUsers=0" in /etc/modprobe.d) and reboot; in a container, add the capability SYS_ADMIN.',
  askVersion: 'Run {file} --version yourself to see why.',
} as const
