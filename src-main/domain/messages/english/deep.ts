/** What a deep profile lacks. */
export const deep = {
  noInstructions: 'ncu showed no instructions of {kernel}.',
  noLines: '{kernel} was built without line information: its instructions have no source line.',
  adviceAlone:
    "Imported from {file}, which has ncu's advice and no counters of instructions or lines.",
  rowUnreadable: "{count} row of ncu's source page cannot be read and is left out.",
  rowsUnreadable: "{count} rows of ncu's source page cannot be read and are left out.",
} as const
