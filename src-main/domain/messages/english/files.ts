/** What the disk refuses, and why a file cannot be read. */
export const files = {
  full: 'Could not {doing} {file}: the disk is full.',
  notAllowed: 'Could not {doing} {file}: this user may not write there.',
  inTheWay: 'Could not {doing} {file}: a file is in the way.',
  refused: 'Could not {doing} {file}: {text}',
  freeSpace: 'Free some space, or {elsewhere}.',
  allow: 'Have that changed, or {elsewhere}.',
  remove: 'Remove it, or {elsewhere}.',
  notFile: '{file} is not a file.',
  replace: 'Put a file in its place, or remove it.',
  exists: '{file} exists already.',
  otherFolder: 'Choose a folder that does not exist yet with --out; nothing is overwritten.',
  madeMeanwhile: '{folder} was made by someone else meanwhile.',
  savedElsewhere: 'What was to be in it is saved in {folder}.',
  unreadable: '{file} cannot be read: {why}',
  leftAsItWas: 'The file was left as it was.',
  notJson: 'it is not JSON ({text}).',
  noVersion: 'it does not say its {field} version.',
  newer:
    'it has {word} {version} and this version reads up to {newest}; a newer kernel-ladder wrote it.',
  neverWritten: 'it has {word} {version}, which no kernel-ladder wrote.',
  rawDamaged: '{file} is damaged: {why}',
  rawLeft: 'Nothing was changed. Use another recording, or fetch this one again.',
  rawDeleted: 'It was deleted while the run was under way.',
  rawFull: 'The disk was full.',
  rawNotWritten: 'It could not be written ({text}).',
  notUnpacked: 'it cannot be unpacked.',
  noJson: 'it is not JSON.',
  noKernels: 'The kernels were not found beside the program.',
  useCheckout: 'Run it from a checkout, or use the one-file program that `npm run build` makes.',
} as const

/** What could not be done to a file: set into a sentence of the table above. */
export const doing = {
  read: 'read',
  write: 'write',
  writeTo: 'write to',
  create: 'create',
  save: 'save',
  delete: 'delete',
  restore: 'restore',
  unpack: 'unpack the program’s files into',
} as const

/** How to have it in another place: set into a remedy of the table above. */
export const elsewhere = {
  out: 'choose another folder with --out',
  temporary: 'set TMPDIR to another folder',
  cache: 'move the cache with KERNEL_LADDER_CACHE',
} as const
