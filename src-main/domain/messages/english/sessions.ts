/** Sessions and recordings that are not there, cannot be read, or may not be changed. */
export const sessions = {
  none: 'There is no session named {session}.',
  notSession: '{folder} is not a session: it has no {file}.',
  nameFolder: 'Name a folder that `kernel-ladder run` has written, or recorded:<name>.',
  unreadable: '{file} cannot be read as a session: {why}',
  useBackup: 'The file was left as it was. Use a backup, or run the ladder again.',
  savedIn: 'The session is saved in {folder}.',
  deepUnreadable: '{file} cannot be read as a deep profile: {why}',
  profileAgain:
    'The file was left as it was. The rest of the session can be used; profile again for this part.',
  noRecordings: 'No recording ships with this program.',
  noRecording: 'There is no recording named {recording}.',
  recordings: 'The recordings are: {recordings}.',
  noRunToReplay: '{folder} is no recording: it was imported, and there is no run to replay.',
  nameRun: 'Give a session that `kernel-ladder run` has written.',
  shipped: '{session} ships with the program and cannot be {changed}.',
  mounted: '{session} was opened from a folder of yours and cannot be {changed} here.',
  renamed: 'renamed',
  deleted: 'deleted',
  restored: 'restored',
  changeFolder: 'Change the folder itself.',
  notDeleted: '{session} is not among the deleted sessions.',
  keptDays: 'Deleted sessions are kept for {days} days.',
  nameTaken: '{session} cannot be restored: there is another session of that name.',
  deleteFirst: 'Delete that one first.',
  sourcesDamaged: 'The sources cannot be shown: {file} is damaged.',
  sourcesMissing: 'The sources cannot be shown: {file} does not exist.',
  sourcesUnreadable: 'The sources cannot be shown: {file} cannot be read ({text}).',
  sourceMissing: 'The source {source} cannot be shown: {file} does not hold it.',
  sourceChanged:
    'The source {source} cannot be shown: {file} does not hold what was recorded: its SHA-256 is another.',
  noAttempt: 'it is no attempt at a lab.',
  noRung: 'The session has no rung named {rung}.',
  rungs: 'Its rungs are: {rungs}.',
} as const

/** Reports in HTML that are read back. */
export const pages = {
  unreadable: 'The session in {file} cannot be read: {why}',
  noReport: '{file} is no report of Kernel Ladder.',
  nameReport:
    'Name a file that `kernel-ladder report --format html` has written, as it was written.',
  cutOff: 'the file was cut off.',
  notUnpacked: 'its deep profiles cannot be unpacked ({text}).',
  ofDeep: 'of the deep profile of {rung}, {why}',
  tooLarge: '{file} is larger than {size} MB, more than a report takes.',
} as const
