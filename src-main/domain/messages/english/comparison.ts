/** Messages about the differences between two sessions. */

const became =
  '{from, plural, one{{from} kernel} other{{from} kernels}} became {to, plural, one{{to} kernel} other{{to} kernels}}' as const

export const comparison = {
  refused: 'The sessions’ figures cannot be compared.',
  fused: `Fused: ${became}, {timeA} → {timeB}, {ratio} of the time: {a} → {b}.`,
  split: `Split: ${became}, {timeA} → {timeB}, {ratio} of the time: {a} → {b}.`,
  fusedUntimed: `Fused: ${became}: {a} → {b}.`,
  splitUntimed: `Split: ${became}: {a} → {b}.`,
  moreFused:
    '{left, plural, one{{left} more fusion or split} other{{left} more fusions and splits}} had a smaller effect on the time.',
  total: 'In total, {a} → {b}, {ratio} of the time.',
  untimed: 'Not everything was timed, so there is no ratio.',
  rungs:
    'Of the {all, plural, one{{all} rung} other{{all} rungs}} in both sessions, {faster} got faster, {slower} slower, {same} stayed the same, and {unresolved} could not be decided.',
  undecided: 'It could not be decided whether any rung in both sessions got faster or slower.',
  errors:
    '{rungs, plural, one{{rungs} rung was} other{{rungs} rungs were}} predicted in one session and measured in the other. The mean prediction error is {mean} (median {median}). Measured times inside the predicted range: {inside}.',
  counted: 'Counters that changed most, in {rung}: {moves}. Nothing was timed.',
  countedSame: 'No counter changed. Nothing was timed.',
} as const
