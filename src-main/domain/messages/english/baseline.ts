/** A check against a baseline: its headline, and the reason for each rung's verdict. */
export const baseline = {
  pass: 'no rung got more than {threshold} % slower',
  fail: '{worse} of {all} rungs regressed',
  failUnresolved: '{worse} of {all} rungs regressed, and {unresolved} could not be decided',
  unresolved:
    'cannot tell whether any rung got more than {threshold} % slower: {unresolved} of {all} rungs could not be decided',
  nothing:
    'cannot tell whether any rung got more than {threshold} % slower: no rung has a time in both sessions',
  only: 'Only the requested rungs were checked: {rungs}.',
  drift:
    'Every timed rung moved in the same direction as the reference {reference} ({change}): the clocks, power or load of the GPU changed. Times were normalized by the reference, which was timed alternately with each rung.',
  driftFar:
    'Every timed rung moved in the same direction as the reference {reference} ({change}), but too far to normalize by. A rung is decided only where its time and its time relative to the reference give the same verdict.',
  driftPart:
    'The reference {reference} moved ({change}), but not every rung moved in the same direction. A rung is decided only where its time and its time relative to the reference give the same verdict.',
  clocksUnknown: 'Neither session recorded the SM clock.',
  time: '{change} ({low} to {high})',
  normalized: '{change} ({low} to {high}) after normalizing by the reference',
  yardstick:
    '{change} ({low} to {high}); this is the reference by which the other rungs were normalized',
  straddles:
    '{change} ({low} to {high}): the confidence interval contains the threshold of {threshold} %. More samples or a quieter GPU would settle it.',
  disagree:
    'Judged by its time, the rung is {time}; relative to the reference, which moved, it is {relative}: {change} and {relativeChange}.',
  noReferenceTime: 'The reference moved, and the rung was not timed alternately with it.',
  missing: 'The rung is in the baseline but not in the new session.',
  new: 'The rung is not in the baseline.',
  newNotOk: 'The rung is not in the baseline, and its status is {status}.',
  broken: 'The rung was ok and is now {status}: {why}',
  noReason: 'no reason was recorded.',
  refuted: 'it failed verification.',
  notReached: 'The rung was ok in the baseline, and the new session ended before reaching it.',
  mended: 'The rung was {status} in the baseline and is now ok.',
  neither:
    'The rung was {before} in the baseline and is now {now}, so there is nothing to compare.',
  unverified: 'The rung was not verified in {where}.',
  noTime: 'The rung has no time in {where}.',
  fewSamples:
    '{samples} samples in {where} are too few; a confidence interval needs at least {fewest}.',
  samplesDisagree: 'The median or the spread in {where} does not match its samples.',
  inBaseline: 'the baseline',
  inNew: 'the new session',
  inBoth: 'both sessions',
  otherWork: 'The sessions do not share the same ladder, problem and data type.',
  otherConditions: 'The sessions were not timed under the same conditions.',
} as const

/** The verdict on a rung. */
export const rungVerdict = {
  slower: 'slower',
  broken: 'broken',
  unresolved: 'unresolved',
  faster: 'faster',
  same: 'same',
  mended: 'mended',
  new: 'new',
  skipped: 'skipped',
} as const
