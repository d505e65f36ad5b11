/** Writes a folder's files as of a git revision. The work tree and the index stay unchanged. */
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { makeFolder } from '../disk/disk'
import { shownPath } from './ladder-folder'
import { gitIn } from './git'

interface Revision {
  /** The commit's full hash. */
  commit: string
  /** Folder that contains the revision's files. */
  folder: string
}

/** Checks out a revision. `into` is an empty folder for the files and git's index. */
export async function checkOutRevision(
  folder: string,
  revision: string,
  into: string,
  signal: AbortSignal,
): Promise<Revision> {
  const git = gitIn(folder, revision, signal)
  const top = await git(['rev-parse', '--show-toplevel'])
  if (!top.ok || top.text === '')
    throw inputError(
      `${revision} is not a session, and ${shownPath(folder)} is not in a git repository that could have such a revision. ${top.message}`.trim(),
      'Use a session folder, or a revision of the ladder’s repository.',
    )
  const found = await git([
    ...['rev-parse', '--verify', '--quiet', '--end-of-options'],
    `${revision}^{commit}`,
  ])
  if (!found.ok)
    throw inputError(
      `${revision} is neither a session nor a revision of ${top.text}.`,
      'A shallow clone lacks older revisions: fetch them, or name a session.',
    )
  const commit = found.text
  const { text: prefix } = await git(['rev-parse', '--show-prefix'])
  const tree = await git(['rev-parse', '--verify', '--quiet', `${commit}:${prefix}`])
  if (!tree.ok)
    throw inputError(
      `${revision} has no folder ${prefix}.`,
      'Use a revision in which the ladder exists.',
    )
  const atTop = { env: { GIT_INDEX_FILE: join(into, 'index') }, cwd: top.text }
  const target = join(into, 'tree')
  await makeFolder(target)
  const read = await git(['read-tree', tree.text], atTop)
  const written = read.ok
    ? await git(['checkout-index', '--all', `--prefix=${target}/`], atTop)
    : read
  if (!written.ok)
    throw inputError(`git could not write the files of ${revision}: ${written.message}`)
  return { commit, folder: target }
}
