/** What an attempt at a lab came to. */

/** Checks: what they ask for, and what came of it. */
export const checks = {
  rightAt: 'Right at {sizes}',
  sanitizerTitle: 'compute-sanitizer finds nothing ({tools})',
  timeTitle: 'At most {factor} times the time of {rung}',
  and: '{part}, {rest}',
  atMostRegisters: 'At most {most} registers',
  atMostBytesFirst: 'At most {most} bytes of shared memory',
  noSpillsFirst: 'No spills',

  notCompiled: 'It does not compile.',
  failed: 'It failed.',
  nothingMeasured: 'Nothing was measured.',
  didNotRun: 'It did not run.',
  noTime: 'It has no time.',
  notCollected: 'It was not collected.',
  notMeasured: 'It was not measured.',
  notBuilt: 'It was not built.',
  useGpu:
    'Measuring needs a machine with an NVIDIA GPU of compute capability 7.5 or higher. What starter and solution of a shipped lab came to on one is shown by `--target recorded`.',
  notTheirs:
    'Only the lab’s own starter and solution were recorded, and this file is neither; measuring it needs a GPU (--target local).',
  starterNotRecorded:
    'The outcome of this lab’s starter was not recorded, so there is nothing to replay; measuring it needs a GPU (--target local).',
  solutionNotRecorded:
    'The outcome of this lab’s solution was not recorded, so there is nothing to replay; measuring it needs a GPU (--target local).',
  changedSince: '{file} has changed since it was recorded as {recording}.',
  noKernel: 'The file holds no kernel.',
  wrong: 'the result is wrong.',

  wrongAt: 'At {size}: {why}',
  notRunAt: 'It was not run at {sizes}.',
  right: 'Right at {sizes}; the worst relative error is {error}.',

  sanitizerNotRun: 'compute-sanitizer did not run.',
  counts: '{tool} counts {total}.',
  countsInLine: '{tool} counts {total}. The first is in line {line}: {text}',
  noVerdict: '{tool} came to no verdict: {why}',
  nothingFound: '{tools}: nothing found.',

  noFigure: '{rung} has no figure to compare with: {why}',
  otherWithoutTime: '{rung} has no time: {why}',
  metricMissing: '{metric}: {why}',
  metricPassed: '{metric}: {value}, {bound}.',
  metricFailed: '{metric}: {value}; it has to be {bound}.',
  time: '{own}, {ratio} times the {theirs} of {rung}; asked for is {factor}, with {noise} % for noise.',

  faults: 'It has {faults}.',
  resources:
    '{registers} registers a thread, {bytes} bytes of static shared memory, {spills} bytes of spills.',
  staticShared: 'Static shared memory',
  spilled: 'Spills',
} as const

/** Predictions and questions beside what was measured, and why it came so. */
export const reflect = {
  moved: '{moved}.',
  ofCycles: '{moved} of the active cycles.',
  waiting: 'Most of the waiting was for one thing: {moved} an issued instruction.',
  waitingNow: 'Now they wait most for another: {metric} is at {value}.',
  loads:
    '{what} takes {fmas} multiply-adds of a warp at least, so there were {a} shared loads for each, and there are {b} now.',
  block:
    'A block has {threads} threads of {registers} registers; it had {threadsBefore} of {registersBefore}.',
  fewerWarps:
    '{moved}, and it is faster all the same: fewer warps that each have more to do between two waits.',

  said: 'You said {direction}.',
  saidTimes: 'You said {direction}, {factor} times.',
  right: 'That is right, within {tolerance} %.',
  directionRight: 'The direction is right, the factor is not, within {tolerance} %.',
  wrong: 'It was {direction}, within {tolerance} %.',

  depends: 'The answer depends on what was not measured here.',
  noAnswer: 'No answer was given.',
  answerRight: '{given} is right: it is {answer}.',
  answerRightOn: '{given} is right on {gpu}: it is {answer}.',
  answerWrong: '{given} is not right: it is {answer}.',
  answerWrongOn: '{given} is not right on {gpu}: it is {answer}.',
} as const
