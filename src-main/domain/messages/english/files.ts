/** Disk errors, and reasons why a file cannot be read. */
export const files = {
  full: 'Could not {doing} {file}: the disk is full.',
  notAllowed: 'Could not {doing} {file}: this user is not permitted to write there.',
  inTheWay: 'Could not {doing} {file}: a file with that name exists.',
  refused: 'Could not {doing} {file}: {text}',
  tooManyOpen: 'The system lets this program open no more files ({text}).',
  raiseLimit: 'Raise the limit, for example with “ulimit -n 4096”, and try again.',
  freeSpace: 'Free some space, or {elsewhere}.',
  allow: 'Have the permissions changed, or {elsewhere}.',
  remove: 'Remove it, or {elsewhere}.',
  notFile: '{file} is not a file.',
  replace: 'Replace it with a file, or remove it.',
  exists: '{file} already exists.',
  otherFolder: 'Choose a folder that does not exist yet with --out; nothing is overwritten.',
  madeMeanwhile: '{folder} was created by another program in the meantime.',
  savedElsewhere: 'The contents were saved in {folder} instead.',
  unreadable: '{file} cannot be read: {why}',
  notChanged: 'The file was not changed.',
  notJson: 'it is not JSON ({text}).',
  tooLarge: 'it has {size} MiB, and at most {most} MiB are read.',
  tooMany: 'it contains more than {most} values, which is more than is read.',
  noVersion: 'it does not state its {field} version.',
  newer:
    'it has {word} {version} but this version reads up to {newest}; it was written by a newer kernel-ladder.',
  neverWritten: 'it has {word} {version}, which no version of kernel-ladder writes.',
  rawDamaged: '{file} is damaged: {why}',
  rawLeft: 'Nothing was changed. Use another recording, or download this one again.',
  rawDeleted: 'It was deleted during the run.',
  rawFull: 'The disk was full.',
  rawNotWritten: 'It could not be written ({text}).',
  notUnpacked: 'it cannot be unpacked.',
  noJson: 'it is not JSON.',
  noHome: 'This user has no home folder.',
  setFolders:
    'Set HOME to an absolute path where sessions and the cache can be kept, such as HOME=/tmp/me.',
  noKernels: 'The kernels were not found next to the program.',
  useCheckout: 'Run it from a checkout, or use the single-file program built by `npm run build`.',
} as const

/** Verbs for {doing} in the table above. */
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

/** Alternatives for {elsewhere} in the table above. */
export const elsewhere = {
  out: 'choose another folder with --out',
  temporary: 'set TMPDIR to another folder',
  cache: 'move the cache with KERNEL_LADDER_CACHE',
  data: 'move it with KERNEL_LADDER_DATA',
  other: 'choose another folder',
} as const
