/** What a check against a baseline says: its headline, and why a rung has its verdict. */
export const baseline = {
  pass: 'no rung got more than {threshold} % slower',
  fail: '{worse} of {all} rungs got worse',
  failUnresolved: '{worse} of {all} rungs got worse, and {unresolved} could not be decided',
  unresolved:
    'cannot tell whether a rung got more than {threshold} % slower: {unresolved} of {all} rungs could not be decided',
  nothing:
    'cannot tell whether a rung got more than {threshold} % slower: no rung has a time in both sessions',
  only: 'Checked were only the rungs that were asked for: {rungs}.',
  drift:
    'Every rung that was timed moved in the same direction as the reference {reference} ({change}): clocks, power or load of the GPU changed. Times were normalized by the reference, which was timed in turn with each rung.',
  driftFar:
    'Every rung that was timed moved in the same direction as the reference {reference} ({change}), which is too far to normalize by. A rung is decided only where its time and its time relative to the reference have the same verdict.',
  driftPart:
    'The reference {reference} moved ({change}), and not every rung in the same direction. A rung is decided only where its time and its time relative to the reference have the same verdict.',
  clocksUnknown: 'The SM clock is known of neither session.',
  time: '{change} ({low} to {high})',
  normalized: '{change} ({low} to {high}) after normalization by the reference',
  yardstick: '{change} ({low} to {high}): it is the reference, by which the others were normalized',
  straddles:
    '{change} ({low} to {high}): the threshold of {threshold} % lies inside the interval. More samples or a quieter GPU would decide it.',
  disagree:
    'By its time it is {time}, relative to the reference that moved it is {relative}: {change} and {relativeChange}.',
  noReferenceTime: 'The reference moved, and the rung was not timed in turn with it.',
  missing: 'It is in the baseline and not in the new session.',
  new: 'It is not in the baseline.',
  newNotOk: 'It is not in the baseline, and is {status}.',
  broken: 'It was ok and is {status}: {why}',
  noReason: 'no reason was recorded.',
  refuted: 'its verification did not pass.',
  notReached: 'It was ok in the baseline and was not reached in the new session.',
  mended: 'It was {status} in the baseline and is ok.',
  neither: 'It was {before} in the baseline and is {now}: there is nothing to compare.',
  unverified: 'Its result was not verified in {where}.',
  noTime: 'It has no time in {where}.',
  fewSamples: '{samples} samples in {where} are too few: an interval needs {fewest}.',
  samplesDisagree: 'The median or the spread in {where} does not follow from the samples.',
  inBaseline: 'the baseline',
  inNew: 'the new session',
  inBoth: 'both sessions',
  otherWork: 'The sessions are not of one ladder, problem and data type.',
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
