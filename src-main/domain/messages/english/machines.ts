/** Messages about remote runs, Slurm, profiled programs and sweeps. */

/** Messages about remote machines. */
export const machines = {
  none: 'There is no machine named {name}.',
  known: 'The machines are: {names}. Other targets: see `kernel-ladder run --help`.',
  add: 'Add the machine with `kernel-ladder machine add {name} --ssh HOST`.',
  noDraft: 'Edited copies run only on this machine.',
  clock:
    'The clock of {name} is {seconds} s ahead of this machine’s clock. Dates in the session use the clock of {name}.',
  sendsNode: 'Sending Node.js to {name} once, because Node.js there is missing or too old.',
  lost: 'The connection to {name} was lost. The run continues there; reconnecting.',
  again: 'Reconnected to {name}; nothing was lost.',
  ended: 'The run on {name} ended without a result: {text}',
  seeFolder: 'The files of the run are in {folder} on that machine.',
  stillThere: '{name} did not receive the stop request; the run may continue there.',
  badField: '{field} is not {what}.',
  taken: 'A machine named {name} already exists.',
  otherName: 'Use another name, or replace the existing machine with --replace.',
  notTrusted: 'The host key of {host} is not trusted, so {name} was not added.',
  trustIt: 'The key is {key}; ask the host’s administrator whether it is correct.',
  tooLarge: '{folder} has more than {most} MiB of files, which is the upload limit.',
  noRun: 'There is no run {run} on {name}.',
  seeRuns: 'List the runs with `kernel-ladder machine runs {name}`.',
  nothing: 'Nothing finished on {name}, so nothing was saved.',
  // The following entries explain ssh's output when a host cannot be reached.
  hostChanged: 'The host key of {host} has changed since it was trusted.',
  hostChangedRemedy:
    'Ask the host’s administrator whether the change is intended. If so, remove the old key with `ssh-keygen -R` and add the machine again.',
  hostUnknown: 'The host key of {host} is not known yet.',
  hostUnknownRemedy:
    'Run `kernel-ladder machine add` or `ssh {host}`, and confirm the fingerprint that it shows.',
  noHost: 'There is no host {host}.',
  noHostRemedy:
    'Check your network (VPN) and the host name. Use the same name that you pass to `ssh`.',
  hostDenies: '{host} does not accept your keys, and this program does not use passwords.',
  hostDeniesRemedy:
    'Make `ssh {host}` work without a password: add your key to the agent (`ssh-add`) or to the host (`ssh-copy-id`).',
  hostRefuses: '{host} refuses the connection.',
  hostRefusesRemedy: 'Check that sshd runs on the host, and check the port.',
  hostSilent: '{host} does not answer.',
  hostSilentRemedy: 'Check your network (VPN), and that the machine is on.',
  noReport: '{folder} has no Nsight Compute report.',
  noReportDo: 'Only runs that collect counters create a report; recordings have none.',
  reportDamaged: 'The report from {name} was damaged in transit, so it was discarded.',
  reportGone: 'The report is no longer on {name}.',
  reportCut:
    'The connection to {name} was lost after {done} of {bytes} bytes of the report were received.',
  fetchAgain: 'Fetch the report again: the download resumes where it stopped.',
  fetchLost: 'The connection to {name} was lost; reconnecting.',
  fetchStopped:
    'The download was stopped. The downloaded part of the report is kept for next time.',
  profileAgain: 'Run the ladder on that machine again with the counters that you need.',
  noNsight: 'There is no Nsight Compute (ncu-ui) on this machine.',
  nsightFailed: '{program} exited with code {code}.',
  openFile: 'Open {file} in Nsight Compute yourself, here or on another machine.',
} as const

/** Messages about Slurm jobs on remote machines. */
export const slurm = {
  queued: 'Job {number} is waiting in the queue of {name} ({reason}).',
  held: 'Job {number} is held on {name} ({reason}) and will start once it is released.',
  running: 'Job {number} of {name} is running on {node}.',
  requeued:
    'Slurm stopped job {number} and requeued it on {name} ({reason}); the run will start over.',
  requeuedHeld:
    'Slurm stopped job {number} and holds it on {name} ({reason}); the run will start over once it is released.',
  early: 'Job {number} on {name} ended early; its finished results were kept.',
  ended: 'Job {number} on {name} ended without a result.',
  nothing: 'Slurm reports the job as completed, but it produced no result.',
  cancelled: 'The job was canceled.',
  time: 'The job reached its time limit.',
  preempted: 'The job was preempted by another job and not requeued.',
  node: 'The job’s node failed.',
  memory: 'The job ran out of memory.',
  failed: 'The job failed.',
  lost: 'Neither the queue nor the accounting lists the job anymore.',
  array:
    'Array {number} on {name}: {done} of {tasks, plural, one{{tasks} task} other{{tasks} tasks}} done, {running} running ({nodes}), {waiting} waiting ({reasons}).',
  task: 'Task {number} did not finish its part. {why}',
  taskEnded: 'The task exited with code {code}.',
  moreTasks:
    '{count, plural, one{{count} more task did not finish its} other{{count} more tasks did not finish their}} part either.',
  noTask: 'No task of array {number} on {name} finished its part.',
  noArray: 'The machine {name} has no Slurm, so there are no tasks to split the work into.',
  noArrayDo: 'Leave --tasks out, or add {name} with --slurm.',
  noNumber: 'sbatch on {name} accepted the job but printed no job number: {text}',
  noSlurm: 'There is no sbatch on {name}.',
  noSlurmDo:
    'Add the machine without --slurm, or put sbatch on the PATH of commands that run on {name} over ssh.',
  unreachable: 'Slurm on {name} does not answer: {text}',
  unreachableDo: 'Try again later, or ask the machine’s administrator.',
  refused: 'Slurm on {name} rejected the job: {text}',
  refusedDo:
    'Change the partition, account, gres, constraint or time of {name} in machines.yaml, or add the machine again with --replace.',
} as const

/** Reasons why a program was not profiled, and data missing from its profile. */
export const programs = {
  installNcu: 'Install Nsight Compute and put ncu on PATH.',
  noSuchProgram: '{program} does not exist or is not executable.',
  checkPath: 'Check the path, or use a program on PATH: kernel-ladder profile -- python train.py.',
  notBinary: '{program} is a script that ncu cannot start.',
  nameInterpreter: 'Put the script’s interpreter first: kernel-ladder profile -- python {program}.',
  noLaunch: '{program} launched no kernel.',
  launchSomething:
    'The program may have run on the CPU or found no GPU: run it without the profiler to check.',
  failedFirst: '{program} exited with code {exitCode} before it launched a kernel.',
  runAlone: 'Run the program without the profiler to see why.',
  noKernelMatches: 'No kernel of {program} matches {filter}.',
  kernelsAre: 'Its kernels: {names}.',
  noRange: 'No kernel of {program} was launched in the NVTX range {range}.',
  rangesAre: 'Its ranges: {names}.',
  noRanges: 'The program has no NVTX ranges: leave --nvtx out, or mark the range in the program.',
  skippedAll:
    '{program} launched {count, plural, one{{count} kernel that matches} other{{count} kernels that match}}, but --skip {skip} skipped all of them.',
  skipFewer: 'Skip fewer launches.',
  timedOut: '{program} was stopped after {seconds} s.',
  longer: 'Allow more time with --timeout SECONDS, or profile fewer launches with --count N.',
  badFilter: '--kernels {filter} is not a regular expression: {text}.',
  firstLaunches:
    '{count, plural, one{Only the first launch was timed} other{Only the first {count} launches were timed}}; the totals exclude later launches. Use --skip to start later.',
  unprofiled: 'Kernels that were timed but not profiled: {count}, with {share} of the time.',
  changed:
    'The program launched different kernels during profiling than during timing: {count, plural, one{{count} kernel has} other{{count} kernels have}} no counters.',
  neverAlone: '{kernel} did not end while ncu ran it by itself, so it may wait for another kernel.',
  timedTogether: 'CUPTI timed the kernels as the program launched them; there are no counters.',
  noTogether: 'The kernels could not be timed concurrently: {why}',
  cuptiMissing: 'CUPTI, which times concurrent kernels, was not found.',
  needsCupti: 'Install the CUDA toolkit with nvcc and CUPTI.',
  noneTogether: 'In the run without ncu, the program finished no kernel.',
  noRangeTogether: 'NVTX ranges are unknown without ncu.',
  withoutRange: 'Leave out --nvtx, or choose kernels with --kernels.',
  exited: '{program} exited with code {exitCode}.',
  left: 'The session has only the {count} longest-running kernels of {total}.',
  profileFailed: 'The kernels were timed but not profiled: {why}',
  ofPrograms:
    'The ladder in {folder} is a ladder of programs, which this command does not support.',
  runOnly:
    'Run the ladder with `kernel-ladder run --ladder {folder}`, and compare two of its sessions with `kernel-ladder compare A B`.',
  onlyHere: 'Programs run only on this machine, not on {target}.',
  leaveTarget: 'Leave --target out.',
  notForPrograms: '{option} cannot be used with a ladder of programs.',
  endedSaying: '{program} exited with code {exitCode} instead of {expected}: {text}',
  ended: '{program} exited with code {exitCode} instead of {expected}.',
  signalled: '{program} was terminated by {signal}.',
  notWritten: '{program} did not write {file}.',
  outputUnreadable: '{file} cannot be compared: {text}',
  outputSize:
    '{file} has {bytes, plural, one{{bytes} byte} other{{bytes} bytes}} instead of {expected}.',
  outputPart:
    '{file} has {bytes, plural, one{{bytes} byte} other{{bytes} bytes}}, which is not a whole number of {dtype} values.',
  outputBytes:
    '{file} differs from the expected output in {count} bytes. The first difference is byte {index}, which is {actual} instead of {expected}.',
  outputValues:
    '{file} differs from the expected output in {count} of {total} values. The first difference is value {index}, which is {actual} instead of {expected}.',
  noExpected: 'The expected contents of {file} are unknown: {why}',
  noGpuTime: 'The GPU time of {program} is unknown: {why}',
  noGpuTimes: 'GPU times are unknown: {why}',
  stopped: 'The program was stopped before its kernels were profiled.',
} as const

/** Messages about parameter sweeps. */
export const tunings = {
  none: 'There is no sweep {id}.',
  damaged: '{file} is not a sweep of this program, or it is damaged.',
  tuneAgain: 'Start the sweep again with `kernel-ladder tune`; measured configurations are reused.',
  shipped: '{ladder} ships with the program, so no variant can be added to it.',
  ownFolder: '--apply requires a ladder folder of your own, but {ladder} ships with the program.',
  runWithout:
    'Run without --apply and pass the values to `run --param`, or create a folder with `kernel-ladder init`.',
  nothingToApply: 'No configuration was timed, so there is nothing to apply.',
  undeclared: '{file} does not declare {names}, so a variant cannot set them.',
  declare: 'Add a line such as `{line}` to the file’s header.',
  gone: '{file} is no longer in the folder, so nothing was written.',
  changed: '{file} was changed in the meantime, so nothing was written.',
  applyAgain: 'Apply the configuration again.',
} as const

/** Errors in a handwritten file, and the required value formats. */
export const written = {
  fault: '{place}: {fault}',
  lines: '{first}\n{more}',
  repeated: 'The key {key} is repeated; it first appears on line {line}.',
  noSharing: 'Anchors and aliases (&, *) are not supported; repeat the value instead.',
  explicitKeys: 'The file exceeds the limit of {most} explicit keys (?).',
  deep: 'The file has lists nested deeper than the limit of {most}.',
  keys: 'The file exceeds the limit of {most} keys.',
  empty: 'The file is empty.',
  noMap: 'The file is not a map of keys.',
  missing: '{where} is missing.',
  missingWrite: '{where} is missing: write `{line}`.',
  noValue: '{where} has no value.',
  must: '{where} must be {what}.',
  is: '{where}: {what}.',
  noKey: 'There is no key {key}.',
  noKeyIn: 'There is no key {key} in {where}.',
  comma: 'Put quotes around an expression that contains a comma.',
  string: 'a string',
  number: 'a number',
  whole: 'a whole number',
  trueOrFalse: 'true or false',
  map: 'a map of keys',
  list: 'a list',
  oneOf: 'one of {values}',
  either: '{some} or {last}',
  before: '{one}, {some}',
  atLeast: 'at least {least}',
  atMost: 'at most {most}',
  nonEmpty: 'non-empty',
  sshHost: 'a host that `ssh` accepts, such as titan.example.org or user@titan',
  slurmWord: 'one word of letters, digits, and characters that Slurm uses',
  slurmOption: 'an sbatch option in one word, such as --reservation=lab',
  slurmOwnOption: 'an sbatch option that this program does not set itself',
  slurmTime: 'a time in sbatch format: 30, 2:00:00, 1-12',
  machineName: 'a name that is not already a --target',
  sshOrSlurm: 'a machine has `ssh`, `slurm` or both',
} as const
