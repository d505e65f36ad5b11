/** What is missing from a file written by ncu. */
export const imports = {
  formatVersion:
    'The report has format version {version}; this program knows versions up to {known} and ignores what newer ones add.',
  cutOff: 'The report is truncated at byte {at}: {missing}.',
  unreadableFrom: 'The report cannot be read past byte {at} ({text}): {missing}.',
  ranges:
    '{count} results are for ranges rather than kernels (ncu --replay-mode range) and were skipped.',
  launchesUnreadable: 'In total, {count} launches cannot be read.',
  unnamed: '{count} values have no metric name in the report and were skipped.',
  launchUnreadable: 'The launch at byte {at} cannot be read ({text}) and was skipped.',
  rowUnreadable: 'A row cannot be read: {text}.',
  tableRowUnreadable: "A row of ncu's table cannot be read: {text}.",
  lastRow: 'The last row has no line ending and may be truncated; it was skipped.',
  headerCut: "ncu's table ends in the middle of its header.",
  rowCut: "ncu's table ends in the middle of a row: {text}.",
  ncuError: "ncu's error: {text}",
  ncuWarning: "ncu's warning: {text}",
  noPage: 'ncu did not print its {page} page ({text}).',
} as const
