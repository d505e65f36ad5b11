/** What a deep profile lacks. */
export const deep = {
  noInstructions: 'ncu showed no instructions of {kernel}.',
  noLines: '{kernel} was built without line information: its instructions have no source line.',
  adviceAlone:
    "Imported from {file}, which has ncu's advice but no per-instruction or per-line counters.",
  rowUnreadable: "{count} row of ncu's source page cannot be read and was skipped.",
  rowsUnreadable: "{count} rows of ncu's source page cannot be read and were skipped.",
} as const
