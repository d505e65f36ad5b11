/** Messages about the outcome of an attempt at a lab. */

/** Requirements of checks, and their results. */
export const checks = {
  rightAt: 'Correct at {sizes}',
  sanitizerTitle: 'No compute-sanitizer findings ({tools})',
  timeTitle: 'At most {factor}× the time of {rung}',
  and: '{part}, {rest}',
  atMostRegisters: 'At most {most} registers',
  atMostBytesFirst: 'At most {most} bytes of shared memory',
  noSpillsFirst: 'No spills',

  notCompiled: 'The code does not compile.',
  failed: 'The run failed.',
  nothingMeasured: 'Nothing was measured.',
  didNotRun: 'The code was not run.',
  cannotTell: 'Undecided, because the predicted range contains the limit. {what}',
  predictedTime:
    'Predicted: {own}, compared with {theirs} for {rung}. The limit is {factor}×, plus a noise margin of {noise} %.',
  fasterPredicted:
    'Fast enough (predicted): {own}, compared with {theirs} for {rung}. The limit is {factor}×, plus a noise margin of {noise} %.',
  slowerPredicted:
    'Too slow (predicted): {own}, compared with {theirs} for {rung}. The limit is {factor}×, plus a noise margin of {noise} %.',
  noTime: 'No time was measured.',
  onlyPredicted: 'The time was predicted, not measured.',
  notCollected: 'The value was not collected.',
  notMeasured: 'The value was not measured.',
  notBuilt: 'The code was not built.',
  useGpu:
    '`--target emulated` needs no GPU and judges every check except times. For a shipped lab, `--target recorded` shows what its starter and solution achieved on a GPU. Measuring requires an NVIDIA GPU of compute capability 7.5 or higher.',
  notTheirs:
    'Only the lab’s own starter and solution were recorded, and this file is neither. To measure the file, use a GPU (--target local).',
  starterNotRecorded:
    'The outcome of this lab’s starter was not recorded, so it cannot be replayed. To measure the starter, use a GPU (--target local).',
  solutionNotRecorded:
    'The outcome of this lab’s solution was not recorded, so it cannot be replayed. To measure the solution, use a GPU (--target local).',
  changedSince: '{file} has changed since it was recorded as {recording}.',
  noKernel: 'The file contains no kernel.',
  wrong: 'the result is wrong.',

  wrongAt: 'At {size}: {why}',
  notRunAt: 'The code was not run at {sizes}.',
  right: 'Correct at {sizes}; the worst relative error is {error}.',

  sanitizerNotRun: 'compute-sanitizer did not run.',
  counts: '{tool} findings: {total}.',
  countsInLine: '{tool} findings: {total}. The first finding is on line {line}: {text}',
  noVerdict: '{tool} returned no result: {why}',
  nothingFound: '{tools}: no findings.',

  noFigure: '{rung} has no value to compare with: {why}',
  otherWithoutTime: '{rung} has no time: {why}',
  metricMissing: '{metric}: {why}',
  metricPassed: '{metric}: {value}, {bound}.',
  metricFailed: '{metric}: {value}; must be {bound}.',
  aboutTime:
    'This lab’s goal depends on times ({checks}), which the emulator does not measure. Check the lab on a GPU. The other checks were performed here.',
  withNoise:
    'The counter includes conflicts that vary from run to run, because per-instruction counters were not collected.',
  time: '{own}, {ratio}× the {theirs} of {rung}; must be at most {factor}×, with a noise margin of {noise} %.',

  faults: 'The kernel has {faults}.',
  resources:
    '{registers} registers per thread, {bytes} bytes of static shared memory, {spills} bytes of spills.',
  staticShared: 'Static shared memory',
  spilled: 'Spills',
} as const

/** Comparisons of predictions and answers with measurements, and explanations of the results. */
export const reflect = {
  moved: '{moved}.',
  ofCycles: '{moved} of the active cycles.',
  waiting: 'Most stalls had one cause: {moved}.',
  waitingNow: 'Most stalls now have another cause: {metric} is at {value}.',
  loads:
    '{what} takes at least {fmas} warp-level FMAs; there were {a} shared loads per FMA, and there are now {b}.',
  block:
    'A block has {threads, plural, one{{threads} thread} other{{threads} threads}} with {registers} registers each; it had {threadsBefore} with {registersBefore} each.',
  fewerWarps: '{moved}, but it is faster: fewer warps, each with more work between two stalls.',

  said: 'You predicted {direction}.',
  saidTimes: 'You predicted {direction}, {factor}×.',
  right: 'That is correct, within {tolerance} %.',
  directionRight: 'The direction is correct, but the factor is off by more than {tolerance} %.',
  wrong: 'Measured: {direction}, within {tolerance} %.',

  depends: 'The answer depends on something that was not measured here.',
  noAnswer: 'No answer was given.',
  answerRight: '{given} is correct: the answer is {answer}.',
  answerRightOn: '{given} is correct on {gpu}: the answer is {answer}.',
  answerWrong: '{given} is incorrect: the answer is {answer}.',
  answerWrongOn: '{given} is incorrect on {gpu}: the answer is {answer}.',
} as const

/** Reasons why a lab cannot be used. */
export const labs = {
  cannotBeUsed: 'The lab {lab} cannot be used. {faults}',
  thisCannotBeUsed: 'The lab cannot be used. {faults}',
  none: 'There is no lab named {lab}.',
  noneShips: 'No labs ship with this program; give a lab folder.',
  list: 'The labs are: {labs}. You can also give a lab folder.',
  untrusted:
    'The lab in {folder} is not built in, and you have not trusted it. The lab’s code would be built and run with your permissions.',
  trust:
    'Run `kernel-ladder lab trust {folder}` to read the folder’s files and approve them. The approval ends when a file changes.',
  gone: 'The third-party lab {lab} no longer exists.',
  taken: 'A lab named {lab} was added from {folder}.',
  renameFolder: 'Give the folder another name.',
  problem: '{folder}: {why}',
  notFolder: '{folder} cannot be read as a folder ({text}).',
  nameFolder: 'Give a lab folder, or a folder that contains lab folders.',
  notLab: '{folder} is not a lab folder: it has no {file}.',
  empty: '{folder} contains no lab folder. A lab folder has a {file}.',
  several: '{folder} contains {count} labs, but one was expected.',
  nameOne: 'Give the folder that contains {file}.',
  noPrediction: 'The lab {lab} has no prediction {id}.',
  noQuestion: 'The lab {lab} has no question {id}.',
  changed: 'A file of the lab has changed in the meantime.',
  lookAgain: 'Review the lab again.',
  noLadder: 'The lab {lab} uses the ladder {ladder}, which does not exist.',
  cancelled: 'The check was canceled.',
  usedMemory: 'The submission was stopped because it used more than {size} GiB.',
  hadProcesses: 'The submission was stopped because it had more than {count} processes.',
  hadTasks: 'The submission was stopped because it had more than {count} processes and threads.',
  tookTime: 'The submission was stopped after {seconds} s.',
  printed: 'The submission was stopped because it printed too much output.',
  notFinished: 'The submission’s check did not finish: {why}',
  exitCode: 'exit code {exitCode}',
  otherExit: 'it printed “{status}” and exited with code {exitCode}',
  notGraded: 'The submission could not be graded: {why}',
  nothingToGrade: 'There is nothing to grade.',
  noSource: 'The folder contains no .cu file.',
  severalSources: 'The folder contains {count} .cu files, none of which is {file}.',
} as const
