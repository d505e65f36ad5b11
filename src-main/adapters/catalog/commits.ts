/**
 * Finds the commits that changed a source file or its includes. Reads the file contents directly
 * from git, without checking them out.
 */
import { basename, dirname, posix } from 'node:path'
import { inputError } from '../../domain/errors'
import { isPythonFile, type RungHeader } from '../../domain/ladder/rung'
import { message, together } from '../../domain/messages/message'
import type { Task } from '../../domain/task/task'
import { parseRungHeader } from '../../parsers/kernels/rung-header'
import { gitIn, type Git } from './git'
import { shownPath } from './ladder-folder'

export interface FileCommit {
  /** The abbreviated hash. */
  hash: string
  subject: string
  /** First paragraph of the commit's body, or an empty string. */
  body: string
  /** Contents of the file and of its includes in the repository, by path. */
  texts: ReadonlyMap<string, string>
  /** The file's path in `texts`. */
  file: string
}

interface FileHistory {
  /** Commits, oldest first. */
  commits: FileCommit[]
  /** Whether the file or one of its includes has uncommitted changes. */
  isDirty: boolean
}

/**
 * Returns a rung's header as of a commit. Headers in old commits may not match the current format.
 * Files from other repositories have no header.
 */
export function headerAt(commit: FileCommit, task: Task): RungHeader {
  const text = commit.texts.get(commit.file)!
  try {
    return parseRungHeader(text, commit.file, task)
  } catch {
    const options = Object.entries(task.options).map(([name, { choices }]): [string, string[]] => [
      name,
      Object.keys(choices),
    ])
    return {
      ...{ id: commit.hash, title: commit.subject, after: null, idea: commit.subject },
      ...{ expect: [], params: [], flags: [], requires: null },
      options: Object.fromEntries(options),
      ...(isPythonFile(commit.file) ? { package: 'torch' as const } : {}),
    }
  }
}

const headerSpecs = ['h', 'hh', 'hpp', 'cuh', 'inl'].map((ending) => `:(top,glob)**/*.${ending}`)

/** Maximum number of commits. More commits would take days to measure. */
const mostCommits = 100

/**
 * Fields in a log entry are separated by U+0000, and entries end with U+0001. Commit messages
 * cannot contain either character.
 */
const logFormat = '%H%x00%h%x00%P%x00%s%x00%b%x00%x01'

interface LogEntry {
  hash: string
  /** The abbreviated hash. */
  short: string
  /** The parent's hash, or undefined if the commit has no parent. */
  parent: string | undefined
  subject: string
  /** First paragraph of the body, joined into one line. */
  paragraph: string
}

/** Parses git's output in the format `logFormat`. */
export const logEntries = (log: string): LogEntry[] =>
  log
    .split('\u0001')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const [hash = '', short = '', parents = '', subject = '', body = ''] = entry
        .trimStart()
        .split('\u0000')
      const [first = ''] = body.trim().split(/\n\s*\n/)
      const [parent] = parents.split(' ').filter(Boolean)
      return { hash, short, parent, subject, paragraph: first.replaceAll(/\s+/g, ' ') }
    })

/**
 * Returns the commits that changed a file. `range` uses git's syntax A..B, where B defaults to
 * HEAD. A merge is treated as a single commit with all its changes.
 */
export async function fileHistory(
  path: string,
  range: string,
  signal: AbortSignal,
): Promise<FileHistory> {
  const shown = shownPath(path)
  const [, from, to = ''] = /^([^.].*?)\.\.(.*)$/.exec(range) ?? []
  if (from === undefined || /\.{3}|(^|\.\.)-/.test(range))
    throw inputError(message('commits.badRange', { range: JSON.stringify(range) }))
  const git = gitIn(dirname(path), shown, signal)
  const inside = await git(['rev-parse', '--show-prefix'])
  if (!inside.ok) throw inputError(message('commits.noRepository', { file: shown }))
  const isShallow = (await git(['rev-parse', '--is-shallow-repository'])).text === 'true'
  const hint = isShallow ? message('commits.unshallow') : undefined
  const commitOf = async (name: string): Promise<string> => {
    const found = await git([
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ])
    if (!found.ok) throw inputError(message('commits.noCommit', { name, file: shown }), hint)
    return found.text
  }
  const [first, last] = [await commitOf(from), await commitOf(to || 'HEAD')]
  const own = inside.text + basename(path)
  const log = await git([
    ...['log', '--first-parent', '--reverse', `--format=${logFormat}`],
    ...[`${first}..${last}`, '--', `:(top,literal)${own}`, ...headerSpecs],
  ])
  if (!log.ok) throw inputError(together(message('commits.unreadable', { range }), log.message))
  const commits: FileCommit[] = []
  for (const { hash, short, parent, subject, paragraph } of logEntries(log.text)) {
    if (parent === undefined && isShallow)
      throw inputError(message('commits.cutOff', { hash: short }), message('commits.unshallow'))
    const texts = await textsAt(git, hash, own)
    const before =
      parent === undefined ? new Map<string, string>() : await textsAt(git, parent, own)
    if (!texts.has(own) || same(texts, before)) continue
    commits.push({ hash: short, subject, body: paragraph, ...placed(texts, own) })
  }
  if (commits.length > mostCommits)
    throw inputError(message('commits.many', { range, count: commits.length, most: mostCommits }))
  if (commits.length === 0) throw await nothingIn(git, { own, shown, range, last })
  const status = await git(['status', '--porcelain', '--', `:(top,literal)${own}`, ...headerSpecs])
  return { commits, isDirty: status.text !== '' }
}

async function nothingIn(
  git: Git,
  { own, shown, range, last }: Record<'own' | 'shown' | 'range' | 'last', string>,
) {
  const latest = await git([
    ...['log', '-1', '--first-parent', '--format=%h %s', last],
    ...['--', `:(top,literal)${own}`],
  ])
  return inputError(
    message('commits.none', { range, file: shown }),
    latest.text === '' ? undefined : message('commits.latest', { commit: latest.text }),
  )
}

const same = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([path, text]) => b.get(path) === text)

/**
 * Returns the file and its includes, by path in the repository. The result is empty if the commit
 * removed the file. Includes that are not in the repository belong to the compiler or to this
 * program.
 */
async function textsAt(git: Git, commit: string, own: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const read = async (path: string): Promise<boolean> => {
    if (texts.has(path)) return true
    const { ok, text } = await git(['show', `${commit}:${path}`])
    if (!ok) return false
    texts.set(path, `${text}\n`)
    for (const [, name] of text.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/gm))
      for (const folder of new Set([posix.dirname(path), posix.dirname(own)])) {
        const beside = posix.join(folder, name!)
        if (!beside.startsWith('..') && (await read(beside))) break
      }
    return true
  }
  await read(own)
  return texts
}

/** Returns the files' contents with paths relative to their deepest common folder. */
function placed(
  texts: ReadonlyMap<string, string>,
  own: string,
): Pick<FileCommit, 'texts' | 'file'> {
  let common = posix.dirname(own)
  while (common !== '.' && ![...texts.keys()].every((path) => path.startsWith(`${common}/`)))
    common = posix.dirname(common)
  const below = (path: string): string => posix.relative(common, path)
  return {
    texts: new Map([...texts].map(([path, text]) => [below(path), text])),
    file: below(own),
  }
}
