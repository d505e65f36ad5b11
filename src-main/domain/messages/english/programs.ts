/** Why a program was not profiled, and what a profile of one leaves out. */
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
  skippedAll: '{program} launched {count} kernels that match, and --skip {skip} left none.',
  skipFewer: 'Skip fewer.',
  timedOut: '{program} was stopped after {seconds} s.',
  longer: 'Allow more with --timeout SECONDS, or profile less of it with --count N.',
  badFilter: '--kernels {filter} is not a regular expression: {text}.',
  firstLaunches:
    'Only the first {count} launches were timed; what the program launched after them is not in any total. --skip begins later.',
  unprofiled: 'The other {count} kernels, {share} of the time, were timed and not profiled.',
  changed:
    'The program launched other kernels when it was profiled than when it was timed: {count} kernels have no counters.',
  exited: '{program} ended with exit code {exitCode}.',
  left: 'The session has the {count} kernels that took longest, of {total}.',
  profileFailed: 'The kernels were timed and not profiled: {why}',
  stopped: 'It was stopped before its kernels were profiled.',
} as const
