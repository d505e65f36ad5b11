/**
 * Builds a ladder from the commits that changed one rung. Each commit becomes a rung that is built
 * with the headers from that commit.
 */
import { resolve } from 'node:path'
import { fileHistory, headerAt, type FileCommit } from '../../adapters/catalog/commits'
import { rungFile } from '../../adapters/catalog/ladder-folder'
import { builtWith, type Catalog, type RungSource } from '../../adapters/catalog/catalog'
import { isCompiledFile } from '../../domain/ladder/rung'
import { inputError } from '../../domain/errors'
import type { LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { message } from '../../domain/messages/message'
import type { Task } from '../../domain/task/task'
import type { OpenedLadder } from './open'
import { findLadder, taskOf } from '../catalog/resolve'

export interface CommitsRequest {
  /** Id of a rung in the ladder, or a file path. */
  rung: string
  /** Commit range as `A..B`. */
  range: string
}

/** Matches a full SHA-1 or SHA-256 hash. */
const wholeHash = /\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b/g

const idOf = (entry: LadderEntry): string => entry.as ?? entry.id

/**
 * Returns the path of a rung's file without parsing the file's current header. A name that contains
 * a slash is a path.
 */
async function sourceFile(
  { catalog, id, own }: OpenedLadder,
  rung: string,
): Promise<{ path: string; entry?: LadderEntry }> {
  const ladder = findLadder(catalog, id)
  const entry = ladder.rungs.find((each) => idOf(each) === rung)
  const folder = own?.folder ?? resolve(catalog.root, ladder.task)
  if (entry) {
    const file = await rungFile(folder, entry.id)
    if (isCompiledFile(file)) throw inputError(message('compiled.noCommits', { file }))
    return { path: resolve(folder, file), entry }
  }
  if (/[\\/]/.test(rung)) return { path: resolve(rung) }
  throw inputError(
    message('asked.noRung', {
      whole: message('asked.theLadder', { ladder: ladder.id }),
      rungs: JSON.stringify(rung),
    }),
    message('asked.rungs', { rungs: ladder.rungs.map(idOf).join(', ') }),
  )
}

async function rungOf(
  commit: FileCommit,
  before: FileCommit | undefined,
  task: Task,
  root: string,
): Promise<RungSource> {
  const { hash, subject, body, file, texts } = commit
  const at = (path: string): string => `${task.id}/${hash}/${path}`
  const { headers: program } = await builtWith(root, file)
  const headers = [...texts].flatMap(([path, text]) =>
    path === file ? [] : [[at(path), text] as const],
  )
  return {
    header: {
      ...headerAt(commit, task),
      ...{
        id: hash,
        title: subject,
        idea: body || subject,
        after: before?.hash ?? null,
        expect: [],
      },
    },
    file: at(file),
    text: texts.get(file)!,
    headers: new Map([...headers, ...(program ?? [])]),
  }
}

/**
 * Returns the ladder that was built from the commits, and the ladder's id. The reference and the
 * trusted rung use their current code.
 */
export async function commitLadder(
  opened: OpenedLadder,
  { rung, range }: CommitsRequest,
  signal = new AbortController().signal,
): Promise<{ catalog: Catalog; id: string; rungs: string[] }> {
  const { catalog } = opened
  const ladder = findLadder(catalog, opened.id)
  const task = taskOf(catalog, ladder)
  const { path, entry } = await sourceFile(opened, rung)
  const { commits, isDirty } = await fileHistory(path, range, signal)
  const sources = await Promise.all(
    commits.map((commit, index) => rungOf(commit, commits[index - 1], task, catalog.root)),
  )
  const trusted = typeof task.reference === 'string' ? null : task.reference.rung
  const kept = ladder.rungs.filter((each) => [ladder.reference, trusted].includes(idOf(each)))
  const own: LadderFile = {
    ...ladder,
    id: `${ladder.id}-commits`,
    title: `${ladder.title}: ${rung}, ${range.replaceAll(wholeHash, (hash) => hash.slice(0, 7))}`,
    rungs: [
      ...kept,
      ...sources.map(({ header }): LadderEntry => ({
        id: header.id,
        params: Object.fromEntries(
          Object.entries(entry?.params ?? {}).filter(([name, value]) =>
            header.params.some((param) => param.name === name && param.allowed.includes(value)),
          ),
        ),
        ...(entry?.options ? { options: entry.options } : {}),
      })),
    ],
  }
  return {
    id: own.id,
    rungs: sources.map(({ header }) => header.id),
    catalog: {
      ...catalog,
      ladders: [own],
      rungs: new Map([...catalog.rungs, ...sources.map((one) => [one.header.id, one] as const)]),
      notes: isDirty ? [message('commits.dirty', { rung })] : [],
    },
  }
}
