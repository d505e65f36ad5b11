/** What two sessions differ in, the answer of every surface that compares them. */

const became =
  '{from, plural, one{{from} kernel} other{{from} kernels}} became {to, plural, one{{to} kernel} other{{to} kernels}}' as const

export const comparison = {
  refused: 'Their figures cannot be compared.',
  fused: `Fused: ${became}, {timeA} → {timeB}, {ratio} of the time: {a} → {b}.`,
  split: `Split: ${became}, {timeA} → {timeB}, {ratio} of the time: {a} → {b}.`,
  fusedUntimed: `Fused: ${became}: {a} → {b}.`,
  splitUntimed: `Split: ${became}: {a} → {b}.`,
  total: 'In all {a} → {b}, {ratio} of the time.',
  untimed: 'Not all of it was timed, so there is no ratio.',
  rungs:
    'Of the {all, plural, one{{all} rung} other{{all} rungs}} in both sessions, {faster} got faster, {slower} slower, {same} stayed the same, and {unresolved} could not be decided.',
  undecided: 'Of the rungs in both sessions, none could be decided.',
  counted: 'Nothing was timed. What moved most, in {rung}: {moves}.',
  countedSame: 'Nothing was timed, and no counter moved.',
} as const
