/** Messages about recording, importing, listing and reporting sessions. */

/** Notes in a session about its run: reasons for missing results or counters, and warnings. */
export const records = {
  notReached: 'The run ended before it reached this rung.',
  writesOutside: 'The rung writes out of bounds of {buffers}.',
  changesInputs: 'The rung writes to {buffers}, which is read-only.',
  mismatches:
    '{count, plural, one{{count} element of {buffers} exceeds} other{{count} elements of {buffers} exceed}} the error bound.',
  mismatchesAt:
    '{count, plural, one{{count} element of {buffers} exceeds} other{{count} elements of {buffers} exceed}} the error bound; the first is {place} = {actual}, expected {expected}.',
  differAt:
    '{count, plural, one{{count} element of {buffers} differs} other{{count} elements of {buffers} differ}} from the reference; the first is {place} = {actual}, expected {expected}.',

  needsArchitecture: 'requires {requires}; {gpu} has compute capability {computeCapability}.',

  notCompiling: 'Does not compile: {what}',
  parameterLeft: '{rung} keeps {name} = {value}: it does not allow {asked}, only {allowed}.',
  verifyingAt: 'Verifying at {at} ({number} of {total}).',
  wrongAt: 'At {at}: {why}',
  trustedFailed: '{rung}, the rung that results are checked against, could not be used.',
  hung: 'Hung during {stage}: no progress for {seconds} s, so its process was terminated.',
  crashed: 'Crashed during {stage} ({signal}).',
  flooded: 'Printed without end during {stage}, so its process was terminated.',
  ended: 'The rung terminated the runner during {stage} (exit code {exitCode}): {text}',

  runnerLost:
    'The rung was not run because the runner could not continue after the previous rungs: {why}',
  halted: 'Not all rungs were run: {why}',
  outOfTurn:
    'While {rung} was running, the output contained lines that the runner cannot send at that point; they were ignored. The rung may be printing text that looks like a result.',
  gpuShared:
    'Another program was using this GPU before or after the timing, so the times may be from a shared GPU. Check `nvidia-smi`, and run again when no other process is using the GPU.',
  untraced:
    'CUPTI is not available on this machine. Work that a rung launches on its own streams could not be detected and may be missing from its time. Install the `extras/CUPTI` folder of the CUDA toolkit, and run again.',

  compiledWhereRun: 'The rung’s kernels are compiled by Python on the GPU that they run on.',
  noTimeNoProfile: 'The rung has no time, so it was not profiled.',
  profilingOff: 'Profiling was turned off (--profile none).',
  profilingSkipped:
    'The rung was excluded from profiling, either on request or because it would have taken too long.',
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
  notCollected: 'The run did not collect this metric.',
  notReportedHere: 'ncu did not report {names}.',
  noFigure: 'ncu reported no value for {metricName} of the kernel {kernel}.',
  notFinite: 'ncu reported {value} for {metricName} of the kernel {kernel}.',
  roundedToZero: 'ncu printed {metricName} with two decimals, so its value was rounded to 0.',
  notPercent: 'ncu reported {metricName} in {unit} instead of percent.',
  noUnit: "ncu's table has no unit for {metricName}.",
  importedWithout: 'Imported from {file}: {why}',

  builtOnly:
    'Built for {gpu} (compute capability {computeCapability}, from the built-in table) without a GPU: nothing was run, verified, or timed.',
  builtNotRun: 'Built for {gpu}; nothing runs without a GPU.',
  nothingRun: 'The rung was only built for {gpu}, not run.',
  launchUnknown: 'The rung’s launches are unknown: {why}',
  cannotLaunch: 'The rung cannot be launched: {why}',
  unsupportedHere: 'The rung is unsupported at this size: {why}',
  noCode: '{rung} has no instruction page. {why}',
  ptxasSilent: 'ptxas reported nothing for the kernel {kernel}.',

  imported:
    "Imported from {file}: nothing was built, verified, or timed here, and the problem is unknown. The report's times are ncu's own, measured while profiling; they are not timings of the program.",
  importedFirst: '{file} contains {total} launches; the first {count} were imported.',
  importedShare: 'The imported launches took {time} of {total} ({share}) under ncu.',
  detailsPage:
    'The details page contains few metrics and rounds them to two digits; the raw page or the report contains more.',
  gpuUnclear: '{file} does not fully describe the GPU.',
  severalGpus: 'The launches ran on {count} GPUs; the GPU shown is that of the first launch.',
} as const

/** Messages of `doctor` about available and missing tools. */
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
  installPackage:
    'Or install the npm package of this program: it has builds of the shipped rungs for `--target emulated`, which the one-file program lacks.',
  buildElsewhere:
    'Or run on a machine that has nvcc: `kernel-ladder machine add NAME --ssh HOST`, then `--target NAME`.',
  tryEmulated:
    '`--target emulated` needs no GPU: exact counters with `run`, race checks with `sanitize`, no times.',
  tryPredicted:
    '`--target predicted:h200` needs no GPU either: predicted times, each with its range.',
  tryRecorded:
    '`--target recorded` replays times and counters that were measured on a GPU earlier.',
  tryStatic:
    '`--target static:h200` compiles for a known GPU: it shows registers, occupancy, and machine code, and runs nothing.',
  useGpu: 'To measure here, use a machine with an NVIDIA GPU of compute capability 7.5 or higher.',
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

/** Missing, unreadable or read-only sessions and recordings. */
export const sessions = {
  none: 'There is no session named {session}.',
  notSession: '{folder} is not a session: it has no {file}.',
  nameFolder: 'Use a folder written by `kernel-ladder run`, or recorded:<name>.',
  importFirst:
    'Import the report with `kernel-ladder import`, and use the folder that the import creates.',
  unreadable: '{file} cannot be read as a session: {why}',
  useBackup: 'The file was not changed. Use a backup, or run the ladder again.',
  update: 'The file was not changed. Update kernel-ladder to open it.',
  savedIn: 'The session is saved in {folder}.',
  deepUnreadable: '{file} cannot be read as a deep profile: {why}',
  profileAgain:
    'The file was not changed. The rest of the session is usable; profile again to get this part.',
  noOwn: 'You have no session to show yet.',
  nameRecording:
    'Use a recording, such as `kernel-ladder show {recording}`; `kernel-ladder sessions` lists them.',
  makeOne: 'Create a session with `kernel-ladder run --ladder ID`.',
  noRecordings: 'No recordings ship with this program.',
  noRecording: 'There is no recording named {recording}.',
  recordings: 'The recordings are: {recordings}.',
  noRunToReplay: '{folder} is not a recording: it was imported, so there is no run to replay.',
  nameRun: 'Use a session written by `kernel-ladder run`.',
  shipped: '{session} ships with the program and cannot be {changed}.',
  mounted: '{session} was opened from your own folder and cannot be {changed} here.',
  renamed: 'renamed',
  deleted: 'deleted',
  restored: 'restored',
  changeFolder: 'Change the folder itself.',
  notDeleted: '{session} is not among the deleted sessions.',
  keptDays: 'Deleted sessions are kept for {days} days.',
  nameTaken: '{session} cannot be restored: another session has that name.',
  deleteFirst: 'Delete that session first.',
  sourcesDamaged: 'The sources cannot be shown: {file} is damaged.',
  sourcesMissing: 'The sources cannot be shown: {file} does not exist.',
  sourcesUnreadable: 'The sources cannot be shown: {file} cannot be read ({text}).',
  sourceMissing: 'The source {source} cannot be shown: {file} does not contain it.',
  sourceChanged:
    'The source {source} cannot be shown: its SHA-256 in {file} differs from the recorded one.',
  noAttempt: 'it is not an attempt at a lab.',
  noRung: 'The session has no rung named {rung}.',
  rungs: 'The rungs are: {rungs}.',
} as const

/** Messages about importing HTML reports. */
export const pages = {
  unreadable: 'The session in {file} cannot be read: {why}',
  noReport: '{file} is not a Kernel Ladder report.',
  nameReport: 'Use an unmodified file written by `kernel-ladder report --format html`.',
  noSession: 'This report contains no session named {session}.',
  noProgram: 'A report only shows results; it cannot run anything.',
  import: 'Import the report into Kernel Ladder to continue from it.',
  cutOff: 'the file is truncated.',
  notUnpacked: 'its deep profiles cannot be unpacked ({text}).',
  ofDeep: 'deep profile of {rung}: {why}',
  tooLarge: '{file} is larger than {size} MB, which exceeds the size of any report.',
} as const

/** Reasons why a report, chart or printout was not created. */
export const reports = {
  noStep: 'The rung does not build on another rung that has a time.',
  neitherHas: 'Neither session has a rung named {rung}.',
  seeRungs: 'See each session’s rungs with `kernel-ladder show`.',
  nothingToChoose: 'The chart {chart} has no choices.',
  noChoice: '{choice} cannot be shown by the chart {chart} of this session.',
  choices: 'The chart can show: {choices}.',
  noChart: 'The session has no chart named {chart}.',
  charts: 'The charts are: {charts}.',
  captionOfNone: 'A caption was given for the chart {chart}, which is not in the report.',
  nothingToDraw: 'The session has no data for the chart {chart}.',
  notComparable: 'These sessions cannot be compared.',
  nameComparable: 'Choose two sessions of the same ladder, size and data type.',
  nothingInCommon: 'These sessions cannot be compared: they have no rung in common.',
  noTemplate: 'The template of HTML reports cannot be read: {file} ({text}).',
  templateDamaged: 'The template of HTML reports is damaged.',
  build: 'Run `npm run build`.',
  notExecutable: 'KERNEL_LADDER_CHROMIUM is {file}, which is not an executable file.',
  nameBrowser: 'Set the variable to the executable of Chromium or Chrome, or leave it unset.',
  noBrowser: 'A {what} requires Chromium or Chrome, and none was found on this machine.',
  installBrowser:
    'Install Chromium or Chrome, or set KERNEL_LADDER_CHROMIUM to its executable. The desktop app prints without a browser, and an HTML report can be printed from any browser.',
  halfMade:
    '{program} left an incomplete {what} in {folder}: the disk is full, or the browser was stopped.',
  freeTemporary: 'Free some space there, or set TMPDIR to another folder, and try again.',
  browserTimeout: '{program} produced no {what}: it did not finish within {seconds} s.',
  browserKilled: '{program} produced no {what}: {signal} killed it.',
  browserEnded: '{program} produced no {what}: it exited with code {exitCode}.',
  lastWords: 'Its last output: {text}',
  otherBrowser:
    'Try another browser with KERNEL_LADDER_CHROMIUM, or create an HTML report and print it.',
} as const

/** Data missing from a file that ncu wrote. */
export const imports = {
  newerNcu:
    'ncu {version} wrote this report. Its values were checked only with reports from ncu versions up to {known}.',
  formatVersion:
    'The report has format version {version}; this program knows versions up to {known} and ignores newer additions.',
  cutOff: 'The report is truncated at byte {at}: {missing}.',
  unreadableFrom: 'The report cannot be read past byte {at} ({text}): {missing}.',
  ranges:
    '{count, plural, one{{count} result is for a whole range or graph and has no counters per kernel; it was skipped} other{{count} results are for whole ranges or graphs and have no counters per kernel; they were skipped}}.',
  profileKernels:
    'Profile kernel by kernel: ncu --replay-mode kernel (or application) and --graph-profiling node.',
  launchesUnreadable:
    'In total, {count, plural, one{{count} launch} other{{count} launches}} cannot be read.',
  unnamed:
    '{count, plural, one{{count} value has no metric name in the report and was} other{{count} values have no metric name in the report and were}} skipped.',
  launchUnreadable: 'The launch at byte {at} cannot be read ({text}) and was skipped.',
  rowUnreadable: 'A row cannot be read: {text}.',
  tableRowUnreadable: "A row of ncu's table cannot be read: {text}.",
  lastRow: 'The last row has no line ending and may be truncated; it was skipped.',
  headerCut: "ncu's table ends in the middle of its header.",
  rowCut: "ncu's table ends in the middle of a row: {text}.",
  ncuError: "ncu's error: {text}",
  ncuWarning: "ncu's warning: {text}",
  noPage: 'ncu did not print its {page} page ({text}).',
  noFile: 'There is no file {file}.',
  nameFile: 'Use a .ncu-rep or .ncu-repz file or a CSV file from ncu.',
  notAllowed: '{file} cannot be read: permission denied.',
  changePermissions: 'Change the file’s permissions.',
  unreadable: '{file} cannot be read: {text}.',
  noLaunch: '{file} contains no kernel launch.',
  importWhat: 'Import a .ncu-rep file, or the output of `ncu --csv --page raw` (or details).',
  folder: '{file} is a folder.',
  notRegular: '{file} is not a regular file.',
  empty: '{file} is empty.',
  exportAgain: 'Profile again, or export the report again.',
  tooLarge: '{file} unpacks to more than {size} GB.',
  packedDamaged: '{file} is damaged or truncated: it could be unpacked only in part.',
  tooLargePage:
    '{file} is larger than {size} MB, the largest source page that can be read at once.',
  unpackFirst: 'Unpack the file and import the result: zstd -d {file} -o report.ncu-rep',
  neither: '{file} is neither an ncu report nor a text file.',
  twoSessions: '{file} contains two sessions.',
  sayWhich: 'Choose the session to import with --which first or --which second.',
  oneSession: '{file} contains only one session.',
  leaveWhich: 'Omit --which.',
  noReport: 'This is not an ncu report: it does not begin with NVR.',
  nameReport: 'Use a .ncu-rep file written by ncu --export, or the CSV printed by ncu --csv.',
  longLine: 'A line is longer than {size} MB: this is not a table from ncu.',
  printRaw: 'Use a file with the output of `ncu --csv --page raw`.',
  mixedDecimals: '{column} is {value}: the table mixes decimal commas and decimal points.',
  printPlain: "Print the table again with LC_ALL=C in ncu's environment.",
  decimalComma: 'ncu wrote {column} as {value}, with a decimal comma.',
  runPlain: 'Run ncu again with LC_ALL=C in its environment.',
  details: "This is ncu's details page, with one row per metric.",
  exportRaw: 'Export the raw page: ncu --import FILE --csv --page raw.',
  noSpace: 'The file does not fit into {folder}: the disk is full.',
  notKept: 'The file could not be stored in {folder}: {text}',
  useCommand: 'Free some space, or import the file on the command line: kernel-ladder import FILE',
} as const

/** The warp samples that have stall reasons. */
export const stallSamples = {
  all: 'all samples',
  notIssued: 'the samples in cycles without an issued instruction',
} as const

/** Data missing from a deep profile. */
export const deep = {
  noInstructions: 'ncu showed no instructions for {kernel}.',
  noLines: '{kernel} was built without line information, so its instructions have no source lines.',
  notCounted:
    'These instructions are from the build only: nothing was run, so nothing was counted.',
  noCode: '{file} has no machine code for {kernel}, so there are no counters per instruction.',
  codeLeftOut:
    'The session has only the code of the kernels that took longest; the code of {kernel} was left out.',
  adviceAlone:
    "Imported from {file}, which has ncu's advice but no per-instruction or per-line counters.",
  /** Only older sessions contain this message. */
  rowUnreadable: "{count} row of ncu's source page cannot be read and was skipped.",
  otherSamples:
    'Stall reasons are not compared: the first profile uses {a}, the second uses {b}. Profile both with the same version of ncu.',
  rowsUnreadable:
    "{count, plural, one{{count} row of ncu's source page cannot be read and was} other{{count} rows of ncu's source page cannot be read and were}} skipped.",
} as const
