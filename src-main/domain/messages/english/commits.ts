/** The commits of a repository as rungs. */
export const commits = {
  noGit: 'git is not installed, so the history of {what} cannot be read.',
  installGit: 'Install git.',
  badRange: '{range} is no range of commits: write A..B, as in v1..HEAD.',
  noRepository: '{file} is in no git repository.',
  noCommit: '{name} is no commit of the repository of {file}.',
  unshallow: 'The clone is shallow and lacks older commits: git fetch --unshallow.',
  cutOff: 'The range reaches beyond {hash}, the oldest commit that this clone has.',
  unreadable: 'git could not list {range}.',
  many: '{range} has {count} commits that changed it; the limit is {most}.',
  none: 'No commit in {range} changed {file} or what it includes.',
  latest: 'The last one that did: {commit}.',
  dirty: '{rung} or a header has changes that are in no commit; they were not run.',
} as const
