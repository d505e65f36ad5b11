/** Sessions and recordings that are not there, cannot be read, or may not be changed. */
export const sessions = {
  none: 'There is no session named {session}.',
  notSession: '{folder} is not a session: it has no {file}.',
  nameFolder: 'Name a folder written by `kernel-ladder run`, or recorded:<name>.',
  unreadable: '{file} cannot be read as a session: {why}',
  useBackup: 'The file was not changed. Use a backup, or run the ladder again.',
  savedIn: 'The session is saved in {folder}.',
  deepUnreadable: '{file} cannot be read as a deep profile: {why}',
  profileAgain:
    'The file was not changed. The rest of the session is usable; profile again to get this part.',
  noRecordings: 'No recordings ship with this program.',
  noRecording: 'There is no recording named {recording}.',
  recordings: 'The recordings are: {recordings}.',
  noRunToReplay: '{folder} is not a recording: it was imported, so there is no run to replay.',
  nameRun: 'Use a session written by `kernel-ladder run`.',
  shipped: '{session} ships with the program and cannot be {changed}.',
  mounted: '{session} was opened from a folder of your own and cannot be {changed} here.',
  renamed: 'renamed',
  deleted: 'deleted',
  restored: 'restored',
  changeFolder: 'Change the folder itself.',
  notDeleted: '{session} is not among the deleted sessions.',
  keptDays: 'Deleted sessions are kept for {days} days.',
  nameTaken: '{session} cannot be restored: another session has that name.',
  deleteFirst: 'Delete that one first.',
  sourcesDamaged: 'The sources cannot be shown: {file} is damaged.',
  sourcesMissing: 'The sources cannot be shown: {file} does not exist.',
  sourcesUnreadable: 'The sources cannot be shown: {file} cannot be read ({text}).',
  sourceMissing: 'The source {source} cannot be shown: {file} does not contain it.',
  sourceChanged:
    'The source {source} cannot be shown: {file} does not contain what was recorded: the SHA-256 differs.',
  noAttempt: 'it is not an attempt at a lab.',
  noRung: 'The session has no rung named {rung}.',
  rungs: 'Its rungs are: {rungs}.',
} as const

/** Reports in HTML that are read back. */
export const pages = {
  unreadable: 'The session in {file} cannot be read: {why}',
  noReport: '{file} is not a Kernel Ladder report.',
  nameReport: 'Name an unmodified file written by `kernel-ladder report --format html`.',
  cutOff: 'the file is truncated.',
  notUnpacked: 'its deep profiles cannot be unpacked ({text}).',
  ofDeep: 'deep profile of {rung}: {why}',
  tooLarge: '{file} is larger than {size} MB, more than any report.',
} as const
