/** Copies of rungs that are being edited. */
export const drafts = {
  noBase: 'The ladder {ladder} has no rung {rung} for the copy to run after.',
  taken: 'The ladder {ladder} has a rung {rung} of its own.',
  gone: 'The draft is not there any more.',
  openAgain: 'Open the rung and edit a copy again.',
  noLadder:
    '{rung} of {ladder} is no rung of a ladder of this program, so a copy of it cannot be run.',
  copySource: 'Copy its source into a file below cuda-kernels, and name it in a ladder.',
  noSource: 'The session has no source of a rung named {rung}.',
  tooMany: 'There are {count} drafts already.',
  discard: 'Discard some, or remove files from {folder}.',
} as const
