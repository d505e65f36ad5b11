/** The commits of a repository as rungs. */
export const commits = {
  noGit: 'git is not installed, so the history of {what} cannot be read.',
  installGit: 'Install git.',
  badRange: '{range} is not a range of commits: write A..B, as in v1..HEAD.',
  noRepository: '{file} is not in a git repository.',
  noCommit: '{name} is not a commit in the repository of {file}.',
  unshallow: 'The clone is shallow and lacks older commits: git fetch --unshallow.',
  cutOff: 'The range reaches beyond {hash}, the oldest commit that this clone has.',
  unreadable: 'git could not list {range}.',
  many: '{range} has {count} commits that changed it; the limit is {most}.',
  none: 'No commit in {range} changed {file} or what it includes.',
  latest: 'The last one that did: {commit}.',
  dirty: '{rung} or a header has uncommitted changes; they were not run.',
} as const
