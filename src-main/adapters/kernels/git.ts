/** git, as far as old code needs it: it only reads, and runs nothing that a repository may bring along; and a folder as it was at a revision. */
import { join } from 'node:path'
import { missingError, inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { runProcess } from '../tools/process'
import { makeFolder } from '../disk/disk'
import { shownPath } from './ladder-folder'

// git, as far as old code needs it: it only reads, and runs nothing that a repository may bring along.

const settings = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false'],
  // Fetches what a partial clone lacks, through a program that its configuration names.
  'protocol.allow=never',
].flatMap((setting) => ['-c', setting])

/** Programs that a repository's configuration has git run on the content of files, each emptied. */
function withoutFilters(keys: readonly string[]): Record<string, string> {
  const names = new Set(keys.flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []))
  const emptied = [...names].flatMap((name): [string, string][] => [
    ...['smudge', 'clean', 'process'].map((use): [string, string] => [`filter.${name}.${use}`, '']),
    [`filter.${name}.required`, 'false'],
  ])
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(emptied.length)],
    ...emptied.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
    ['GIT_NO_LAZY_FETCH', '1'],
  ]) as Record<string, string>
}

const timeoutMs = 120_000

export interface GitAnswer {
  ok: boolean
  /** Without its last line break. */
  text: string
  /** The last line of what it said. */
  said: string
}

export type Git = (
  args: readonly string[],
  more?: { env?: Record<string, string>; cwd?: string },
) => Promise<GitAnswer>

/** git in a folder; `what` could not be read where there is no git. */
export function gitIn(folder: string, what: string, signal: AbortSignal): Git {
  let filters: Promise<Record<string, string>> | null = null
  const call = async (args: readonly string[], cwd: string, env: Record<string, string>) => {
    const result = await runProcess({
      file: 'git',
      args: [...settings, ...args],
      ...{ cwd, env, timeoutMs, signal },
    })
    if (result.outcome === 'not-found')
      throw missingError(message('commits.noGit', { what }), message('commits.installGit'))
    return result
  }
  const findFilters = async (): Promise<Record<string, string>> => {
    const asked = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.']
    return withoutFilters((await call(asked, folder, {})).stdout.split('\0'))
  }
  return async (args, { env = {}, cwd = folder } = {}) => {
    const result = await call(args, cwd, { ...(await (filters ??= findFilters())), ...env })
    const ok = result.outcome === 'exited' && result.exitCode === 0
    const said = result.stderr.trim().split('\n').pop() ?? ''
    return { ok, text: result.stdout.replace(/\n$/, ''), said }
  }
}

// A folder as it was at a git revision, written elsewhere: neither the work tree nor the index is touched.

export interface Revision {
  /** The full hash of the commit. */
  commit: string
  /** The folder's files as of then. */
  folder: string
}

/** `into`: an empty folder for the files and git's index of them. */
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
      `${revision} is not a session, and ${shownPath(folder)} is not in a git repository that could have such a revision. ${top.said}`.trim(),
      'Name a session folder, or a revision of the repository of the ladder.',
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
      'Name a revision in which the ladder exists.',
    )
  const atTop = { env: { GIT_INDEX_FILE: join(into, 'index') }, cwd: top.text }
  const target = join(into, 'tree')
  await makeFolder(target)
  const read = await git(['read-tree', tree.text], atTop)
  const written = read.ok
    ? await git(['checkout-index', '--all', `--prefix=${target}/`], atTop)
    : read
  if (!written.ok) throw inputError(`git could not write the files of ${revision}: ${written.said}`)
  return { commit, folder: target }
}
