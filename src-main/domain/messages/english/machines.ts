/** Messages about remote runs, Slurm, profiled programs and sweeps. */

/** Messages about remote machines. */
export const machines = {
  none: 'There is no machine named {name}.',
  known: 'The machines are: {names}. Other targets: see `kernel-ladder run --help`.',
  add: 'Add it with `kernel-ladder machine add {name} --ssh HOST`.',
  noDraft: 'An edited copy runs on this machine only.',
  clock:
    'The clock of {name} is {seconds} s ahead of the one here; dates in the session are its own.',
  sendsNode: 'Sending Node.js to {name}, which has none that is new enough; that is done once.',
  lost: 'The connection to {name} was lost. The run continues there; trying to connect again.',
  again: 'Connected to {name} again; nothing was lost.',
  ended: 'The run on {name} ended without a result: {text}',
  seeFolder: 'What it left there is in {folder}.',
  stillThere: '{name} could not be asked to stop; the run may continue there.',
  badField: '{field} is not {what}.',
  taken: 'There is a machine named {name} already.',
  otherName: 'Use another name, or --replace.',
  notTrusted: 'The host key of {host} is not trusted, so {name} was not added.',
  trustIt: 'The key that it shows is {key}; ask its administrator whether that is right.',
  tooLarge: '{folder} has more than {most} MiB of files, too many to send.',
  noRun: 'There is no run {run} on {name}.',
  seeRuns: 'List them with `kernel-ladder machine runs {name}`.',
  nothing: 'Nothing finished on {name}, so nothing was saved.',
  // The following entries explain ssh's output when a host cannot be reached.
  hostChanged: 'The host key of {host} is not the one that was trusted before.',
  hostChangedRemedy:
    'Ask its administrator; if the change is known, remove the old key with `ssh-keygen -R` and add the machine again.',
  hostUnknown: 'The host key of {host} is not known yet.',
  hostUnknownRemedy:
    '`kernel-ladder machine add` shows its fingerprint and trusts it if you confirm; so does `ssh {host}`.',
  noHost: 'There is no host {host}.',
  noHostRemedy: 'Check the name and your network (VPN); it is given as after `ssh`.',
  hostDenies: '{host} does not accept your keys, and passwords are not used.',
  hostDeniesRemedy:
    'Have `ssh {host}` work without a password: add your key to the agent (`ssh-add`) or to the host (`ssh-copy-id`).',
  hostRefuses: '{host} refuses the connection.',
  hostRefusesRemedy: 'Check that sshd runs there, and the port.',
  hostSilent: '{host} does not answer.',
  hostSilentRemedy: 'Check your network (VPN), and that the machine is on.',
  noReport: '{folder} has no report of Nsight Compute.',
  noReportDo: 'Only runs that collect counters leave one; a recording has none.',
  reportDamaged: 'The report arrived damaged from {name}, so it was not kept.',
  reportGone: 'The report is no longer on {name}.',
  reportCut: 'The connection to {name} was lost; {done} of {bytes} bytes of the report are here.',
  fetchAgain: 'Fetch it again: it resumes where it stopped.',
  fetchLost: 'The connection to {name} is lost; trying to connect again.',
  fetchStopped: 'Stopped; the part of the report that has arrived is kept for next time.',
  profileAgain: 'Run the ladder there again with the counters that you need.',
  noNsight: 'There is no Nsight Compute (ncu-ui) on this machine.',
  nsightFailed: '{program} ended with {code}.',
  openFile: 'Open {file} in Nsight Compute yourself, here or on another machine.',
} as const

/** Messages about Slurm jobs on remote machines. */
export const slurm = {
  queued: 'Job {number} waits in the queue of {name} ({reason}).',
  held: 'Job {number} is held on {name} ({reason}) and starts once it is released.',
  running: 'Job {number} of {name} runs on {node}.',
  requeued:
    'Job {number} was stopped by Slurm and is in the queue of {name} again ({reason}); the run starts over.',
  requeuedHeld:
    'Job {number} was stopped by Slurm and is held on {name} ({reason}); the run starts over once it is released.',
  early: 'Job {number} on {name} ended early, with what had finished.',
  ended: 'Job {number} on {name} is over without a result.',
  nothing: 'Slurm counts it as completed, but it left no result.',
  cancelled: 'It was cancelled.',
  time: 'It reached its time limit.',
  preempted: 'It was preempted by another job and not queued again.',
  node: 'Its node failed.',
  memory: 'It ran out of memory.',
  failed: 'It failed.',
  lost: 'Neither queue nor accounting knows it any more.',
  array:
    'Array {number} on {name}: {done} of {tasks, plural, one{{tasks} task} other{{tasks} tasks}} done, {running} running ({nodes}), {waiting} waiting ({reasons}).',
  task: 'Task {number} did not do its part. {why}',
  taskEnded: 'It ended with {code}.',
  moreTasks:
    '{count, plural, one{{count} more task did not do its} other{{count} more tasks did not do their}} part either.',
  noTask: 'No task of array {number} on {name} did its part.',
  noArray: 'The machine {name} has no Slurm, so there are no tasks to split the work into.',
  noArrayDo: 'Leave --tasks out, or add {name} with --slurm.',
  noNumber: 'sbatch on {name} took the job but gave no number: {text}',
  noSlurm: 'There is no sbatch on {name}.',
  noSlurmDo:
    'Add the machine without --slurm, or have sbatch on the PATH of commands that run on {name} over ssh.',
  unreachable: 'Slurm on {name} does not answer: {text}',
  unreachableDo: 'Try it again later, or ask its administrator.',
  refused: 'Slurm on {name} refuses the job: {text}',
  refusedDo:
    'Change partition, account, gres, constraint or time of {name} in machines.yaml, or add it again with --replace.',
} as const

/** Reasons why a program was not profiled, and data missing from its profile. */
export const programs = {
  installNcu: 'Install Nsight Compute and put ncu on PATH.',
  noSuchProgram: '{program} does not exist or is not executable.',
  checkPath: 'Check its path, or name a program on PATH: kernel-ladder profile -- python train.py.',
  notBinary: '{program} is a script that ncu cannot start.',
  nameInterpreter: 'Name its interpreter first: kernel-ladder profile -- python {program}.',
  noLaunch: '{program} launched no kernel.',
  launchSomething:
    'It may have run on the CPU, or have found no GPU: run it without the profiler and see.',
  failedFirst: '{program} ended with exit code {exitCode} before it launched a kernel.',
  runAlone: 'Run it without the profiler to see why.',
  noKernelMatches: 'No kernel of {program} matches {filter}.',
  kernelsAre: 'Its kernels: {names}.',
  noRange: 'No kernel of {program} was launched in the NVTX range {range}.',
  rangesAre: 'Its ranges: {names}.',
  noRanges: 'It has no NVTX ranges: leave --nvtx out, or mark the range in the program.',
  skippedAll:
    '{program} launched {count, plural, one{{count} kernel that matches} other{{count} kernels that match}}, and --skip {skip} left none.',
  skipFewer: 'Skip fewer.',
  timedOut: '{program} was stopped after {seconds} s.',
  longer: 'Allow more with --timeout SECONDS, or profile less of it with --count N.',
  badFilter: '--kernels {filter} is not a regular expression: {text}.',
  firstLaunches:
    '{count, plural, one{Only the first launch was timed; what the program launched after it} other{Only the first {count} launches were timed; what the program launched after them}} is not in any total. --skip begins later.',
  unprofiled: 'Kernels that were timed and not profiled: {count}, with {share} of the time.',
  changed:
    'The program launched other kernels when it was profiled than when it was timed: {count, plural, one{{count} kernel has} other{{count} kernels have}} no counters.',
  neverAlone: '{kernel} did not end while ncu ran it by itself, so it may wait for another kernel.',
  timedTogether: 'CUPTI timed the kernels as the program launched them; there are no counters.',
  noTogether: 'Its kernels could not be timed beside each other: {why}',
  cuptiMissing: 'CUPTI, which times kernels beside each other, was not found.',
  needsCupti: 'Install the CUDA toolkit with nvcc and CUPTI.',
  noneTogether: 'Without ncu, the program finished no kernel.',
  noRangeTogether: 'Without ncu, NVTX ranges are not known.',
  withoutRange: 'Leave out --nvtx, or choose kernels with --kernels.',
  exited: '{program} ended with exit code {exitCode}.',
  left: 'The session has the {count} kernels that took longest, of {total}.',
  profileFailed: 'The kernels were timed and not profiled: {why}',
  ofPrograms: 'The ladder in {folder} is one of programs, which this does not take.',
  runOnly:
    'Run it with `kernel-ladder run --ladder {folder}`, and compare two of its sessions with `kernel-ladder compare A B`.',
  onlyHere: 'Programs are run on this machine alone, not on {target}.',
  leaveTarget: 'Leave --target out.',
  notForPrograms: '{option} does not go with a ladder of programs.',
  endedSaying: '{program} ended with exit code {exitCode} in place of {expected}: {text}',
  ended: '{program} ended with exit code {exitCode} in place of {expected}.',
  signalled: '{program} was ended by {signal}.',
  notWritten: '{program} did not write {file}.',
  outputUnreadable: '{file} cannot be compared: {text}',
  outputSize:
    '{file} has {bytes, plural, one{{bytes} byte} other{{bytes} bytes}} in place of {expected}.',
  outputPart:
    '{file} has {bytes, plural, one{{bytes} byte} other{{bytes} bytes}}, which is no whole number of {dtype} values.',
  outputBytes:
    '{file} differs from what is expected in {count} of its bytes. The first is byte {index}, which is {actual} instead of {expected}.',
  outputValues:
    '{file} differs from what is expected in {count} of {total} values. The first is value {index}, which is {actual} instead of {expected}.',
  noExpected: 'What {file} must contain is not known: {why}',
  noGpuTime: 'The GPU time of {program} is not known: {why}',
  noGpuTimes: 'GPU times are not known: {why}',
  stopped: 'It was stopped before its kernels were profiled.',
} as const

/** Messages about sweeps over the parameters of a rung. */
export const tunings = {
  none: 'There is no sweep {id}.',
  damaged: '{file} is no sweep of this program, or is damaged.',
  tuneAgain:
    'Start it again with `kernel-ladder tune`: the points that are known are not measured again.',
  shipped: '{ladder} ships with the program, so no variant is added to it.',
  ownFolder:
    '--apply writes into a ladder folder of your own, and {ladder} ships with the program.',
  runWithout:
    'Run without it and give the values to `run --param`, or begin a folder with `kernel-ladder init`.',
  nothingToApply: 'No point has a time, so there is nothing to apply.',
  undeclared: '{file} does not declare {names}, so a variant cannot set it.',
  declare: 'Add a line such as `{line}` to its header.',
  gone: '{file} is no longer in the folder, so nothing was written.',
  changed: '{file} was changed meanwhile, so nothing was written.',
  applyAgain: 'Apply it again.',
} as const

/** Faults in a handwritten file, and the required value formats. */
export const written = {
  fault: '{place}: {fault}',
  lines: '{first}\n{more}',
  repeated: 'The key {key} is repeated; it first appears on line {line}.',
  noSharing: 'Anchors and aliases (&, *) are not supported; write the value out.',
  explicitKeys: 'It has more than {most} explicit keys (?), which is more than is read.',
  deep: 'It has lists in lists deeper than {most}, which is more than is read.',
  keys: 'It has more than {most} keys, which is more than is read.',
  empty: 'The file is empty.',
  noMap: 'The file is not a map of keys.',
  missing: '{where} is missing.',
  missingWrite: '{where} is missing: write `{line}`.',
  noValue: '{where} has no value.',
  must: '{where} must be {what}.',
  is: '{where}: {what}.',
  noKey: 'There is no key {key}.',
  noKeyIn: 'There is no key {key} in {where}.',
  comma: 'An expression with a comma in it is written in quotes.',
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
  sshHost: 'a host as after `ssh`, such as titan.example.org or user@titan',
  slurmWord: 'one word of letters, digits and the signs that Slurm uses',
  slurmOption: 'an option of sbatch in one word, such as --reservation=lab',
  slurmOwnOption: 'an option of sbatch that this program does not set itself',
  slurmTime: 'a time as sbatch takes it: 30, 2:00:00, 1-12',
  machineName: 'a name that --target has no other meaning for',
  sshOrSlurm: 'a machine has `ssh`, `slurm` or both',
} as const
