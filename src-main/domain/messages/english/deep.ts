/** What is missing from a deep profile. */
export const deep = {
  noInstructions: 'ncu showed no instructions for {kernel}.',
  noLines: '{kernel} was built without line information, so its instructions have no source lines.',
  adviceAlone:
    "Imported from {file}, which has ncu's advice but no per-instruction or per-line counters.",
  rowUnreadable: "{count} row of ncu's source page cannot be read and was skipped.",
  rowsUnreadable: "{count} rows of ncu's source page cannot be read and were skipped.",
} as const
