/** Copies of rungs that are being edited. */
export const drafts = {
  noBase: 'The ladder {ladder} has no rung {rung} for the copy to run after.',
  taken: 'The ladder {ladder} already has a rung {rung}.',
  gone: 'The draft no longer exists.',
  openAgain: 'Open the rung and edit a copy again.',
  noLadder:
    '{rung} of {ladder} is not a rung of any ladder of this program, so a copy of it cannot be run.',
  notShipped: 'The ladder {ladder} did not come with this program, and no folder with it is known.',
  folderGone: 'There is no ladder {ladder} in {folder} any more.',
  noPython: 'A rung in Python is edited in a ladder folder.',
  openFolder: 'Open its folder, where its files are edited.',
  copySource:
    'For a ladder folder, edit the file itself; otherwise copy the source to a folder of your own: `kernel-ladder init`.',
  noSource: 'The session has no source of a rung named {rung}.',
  tooMany: 'There are already {count} drafts.',
  discard: 'Discard some, or delete files from {folder}.',
} as const
