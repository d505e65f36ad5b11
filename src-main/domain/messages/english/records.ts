/** What a session keeps of a run in words: why a rung has no result or no counter, and what a reader must know. */
export const records = {
  notReached: 'It was not reached.',
  writesOutside: 'It writes outside {buffers}.',
  changesInputs: 'It writes to {buffers}, which it may only read.',
  mismatches: '{count} elements of {buffers} are beyond the error bound.',
  mismatchesAt:
    '{count} elements of {buffers} are beyond the error bound; the first is {place} = {actual}, expected {expected}.',

  needsArchitecture: 'needs {requires}; {gpu} has compute capability {computeCapability}.',

  notCompiling: 'Does not compile: {what}',
  parameterLeft: '{rung} keeps {name} = {value}: it does not allow {asked}, only {allowed}.',
  wrongAt: 'At {at}: {why}',
  trustedFailed: '{rung}, which results are checked against, could not be used.',
  hung: 'Hung: no progress for {seconds} s while {stage}; its process was ended.',
  crashed: 'Crashed while {stage} ({signal}).',
  flooded: 'Printed without end while {stage}; its process was ended.',
  ended: 'Ended the runner while {stage} (exit code {exitCode}): {text}',

  runnerLost: 'It was not run, because the runner could not go on after the rungs before it: {why}',
  halted: 'Not all rungs were run: {why}',
  outOfTurn:
    'While {rung} was running, lines came that the runner cannot have sent then; they were passed over. The rung may print what looks like a result.',
  gpuShared:
    'Another program computed on this GPU before or after it was timed: the times may be those of a GPU that was shared. See `nvidia-smi`, and run again once nothing else computes there.',

  noTimeNoProfile: 'The rung has no time, so it was not profiled.',
  profilingOff: 'Profiling was turned off (--profile none).',
  profilingSkipped: 'It was left out of profiling, on request or for its length.',
  endedBeforeProfile: 'The run ended before it was profiled.',
  noLaunchReported: 'ncu reported no launch of this rung.',
  noCounters: 'No counters: {why}',
  rawLost: 'Raw output is missing, so that this session cannot be replayed in full: {calls}. {why}',
  unknownMetrics:
    'ncu {version} does not know {names} on this GPU; the other counters were read without.',
  noRatios: 'No ratios: the reference {rung} has no time.',

  noKernelProfiled: 'ncu profiled no kernel of this rung.',
  noDurations:
    'The rung launches {count} kernels, and ncu did not report {metricName} for each of them.',
  notReported: 'ncu did not report {names} on this GPU.',
  notAsked: 'The run did not ask ncu for {names}.',
  notReportedHere: 'ncu did not report {names}.',
  noFigure: 'ncu has no figure of {metricName} for the kernel {kernel}.',
  notPercent: 'ncu reported {metricName} in {unit} and not in percent.',
  noUnit: "ncu's table does not say the unit of {metricName}.",
  importedWithout: 'Imported from {file}: {why}',

  builtOnly:
    "Built for {gpu} (compute capability {computeCapability}, from the program's table) without a GPU: nothing was run, verified or timed.",
  builtNotRun: 'Built for {gpu}; nothing is run without a GPU.',
  nothingRun: 'Nothing was run: it was built for {gpu}.',
  launchUnknown: 'What it launches is not known: {why}',
  ptxasSilent: 'ptxas did not tell of the kernel {kernel}.',

  imported:
    "Imported from {file}: nothing of it was built, verified or timed here, and the problem and the sources are not known. gpu__time_duration is ncu's own clock, taken while it profiled; it is kept as a metric and is no timing.",
  importedFirst: '{file} holds {total} launches; the first {count} were imported.',
  detailsPage:
    'The details page names few metrics and rounds to two digits; the raw page or the report itself holds more.',
  gpuUnclear: '{file} does not say enough of the GPU.',
  severalGpus: "The launches ran on {count} GPUs; the GPU named is the first launch's.",
} as const

/** What the machine has, and lacks. */
export const doctor = {
  noGpu: 'No NVIDIA GPU was found: nvidia-smi is not on this machine.',
  noDriver: 'No driver answers.',
  toolMissing: '{tool} was not found.',
  noVersion: '{file} does not say its version: {text}',
  countersUnknown: 'The driver does not say who may read counters.',
  countersAll: 'Every user may read counters.',
  countersAdminHere: 'Only administrators may read counters, and this process may.',
  countersAdmin: 'Only administrators may read counters (RmProfilingAdminOnly is 1).',
  counterRead: 'ncu read one.',
  noCublas: 'libcublas.so was not found where it usually is; ratios to cuBLAS may be unavailable.',

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
  askVersion: 'Run {file} --version by hand.',
} as const
