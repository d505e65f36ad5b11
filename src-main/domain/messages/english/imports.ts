/** What a file that ncu wrote lacks. */
export const imports = {
  formatVersion:
    'The report has format version {version}; versions up to {known} are known here, and what a newer one adds is left out.',
  cutOff: 'The report is cut off at byte {at}: {missing}.',
  unreadableFrom: 'The report cannot be read from byte {at} on ({text}): {missing}.',
  ranges:
    '{count} results are of ranges and not of kernels (ncu --replay-mode range); they are left out.',
  launchesUnreadable: '{count} launches in all cannot be read.',
  unnamed: '{count} values have no metric name in the report; they are left out.',
  launchUnreadable: 'The launch at byte {at} cannot be read ({text}); it is left out.',
  rowUnreadable: 'A row cannot be read: {text}.',
  tableRowUnreadable: "A row of ncu's table cannot be read: {text}.",
  lastRow: 'The last row has no line end and may be cut off; it is left out.',
  headerCut: "ncu's table ends in the middle of its header.",
  rowCut: "ncu's table ends in the middle of a row: {text}.",
  ncuError: "ncu's error: {text}",
  ncuWarning: "ncu's warning: {text}",
  noPage: 'ncu did not print its {page} page ({text}).',
} as const
