/** Ladder folders of a reader's own that cannot be opened as they are asked for. */
export const folders = {
  none: 'There is no folder {folder}.',
  giveFolder: 'Give the path of a folder with a ladder.yaml.',
  cannotOpen: '{folder} cannot be opened ({text}).',
  noLadder: '{folder} contains no ladder.yaml.',
  notCounted: '{file} is no rung of the ladder that could be counted.',
  giveLadder:
    'Give the folder that contains the ladder.yaml, or create one with `kernel-ladder init DIR`.',
  create: 'Create one that builds and runs with `kernel-ladder init {folder}`.',
  gone: 'The folder {folder} no longer exists.',
  bringBack: 'The text is still in the editor: restore the folder, or copy the text elsewhere.',
  notOpen: '{folder} is not open.',
  openFirst: 'Open the folder first.',
  untrusted:
    'The ladder in {folder} did not come with this program, and its code would be built and run with your permissions. This folder is not trusted.',
  trust: 'Read its files, then allow it once with --trust; the decision holds for this folder.',
  shipped: '{ladder} ships with the program and does not change.',
  watchFolder: 'Only a ladder folder can be watched.',
  notOfLadder: '{file} is not a file of a ladder.',
  whatIs: 'A ladder folder contains a ladder.yaml, .cu files and headers.',
  notInFolder: '{file} is not in the folder.',
} as const
