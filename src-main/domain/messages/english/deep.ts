/** What is missing from a deep profile. */
export const deep = {
  noInstructions: 'ncu showed no instructions for {kernel}.',
  noLines: '{kernel} was built without line information, so its instructions have no source lines.',
  notCounted:
    'These instructions are from the build alone: nothing was run, so nothing was counted.',
  noCode: '{file} has no machine code for {kernel}, so there are no counters per instruction.',
  codeLeftOut:
    'The session has the code of the kernels that took longest; that of {kernel} was left out.',
  adviceAlone:
    "Imported from {file}, which has ncu's advice but no per-instruction or per-line counters.",
  rowUnreadable: "{count} row of ncu's source page cannot be read and was skipped.",
  rowsUnreadable: "{count} rows of ncu's source page cannot be read and were skipped.",
} as const
