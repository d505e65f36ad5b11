/**
 * A ladder folder that is run again at each save: of the command line and of the UI. It is looked at rather
 * than listened to: editors save in many ways, and a folder may come from a network and go with it.
 */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  ladderFileIn,
  readLadderFolder,
  type LadderFolder,
} from '../../adapters/kernels/ladder-folder'
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { nothingWatched, watchRound, type WatchedRung } from '../../domain/analysis/watched'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import type { Session } from '../../domain/session/session'
import { fillFiles } from '../../domain/task/task'

export type WatchPhase = 'waiting' | 'running' | 'gone' | 'faulty' | 'failed'

export interface WatchNews {
  phase: WatchPhase
  /** Why it is `faulty` or `failed`. */
  error: ErrorShape | null
  /** How often rungs were run. */
  rounds: number
  /** In the ladder's order; what ran in the last round is fresh. */
  rungs: readonly WatchedRung[]
}

export interface WatchOptions {
  /** Absolute. */
  folder: string
  shipped: KernelLibrary
  /** Those to run; all of the ladder where absent. */
  rungs?: readonly string[] | undefined
  /** Runs these rungs, the reference among them; null where nothing finished. Its failing is told, and not the end. */
  run: (rungs: string[]) => Promise<Session | null>
  onNews: (news: WatchNews) => void
  signal: AbortSignal
  /** Milliseconds between looks; a save that two looks see alike is whole. */
  everyMs?: number
}

const entryId = ({ as, id }: { as?: string | undefined; id: string }): string => as ?? id

/** By rung, what its result follows from; another key is a rung to run again. */
export async function rungKeys({
  folder,
  ladder,
  task,
  library,
}: LadderFolder): Promise<Map<string, string>> {
  const text = (id: string): string => library.rungs.get(id)?.text ?? library.faults.get(id) ?? ''
  const trusted =
    typeof task.reference === 'string'
      ? library.references.get(task.id)?.text
      : text(task.reference.rung)
  const filled = await Promise.all(
    fillFiles(task).map(({ path }) =>
      stat(join(folder, path)).then(
        ({ size, mtimeMs }) => [size, mtimeMs],
        () => [],
      ),
    ),
  )
  const { rungs, title: _title, summary: _summary, ...rest } = ladder
  const common = [task, rest, trusted, [...(library.headers.get(task.id) ?? [])], filled]
  return new Map(
    rungs.map((entry) => [
      entryId(entry),
      createHash('sha256')
        .update(JSON.stringify([common, entry, text(entry.id)]))
        .digest('hex'),
    ]),
  )
}

/**
 * The rungs to run again, in the ladder's order: the reference runs along with any other, and so do those
 * that an earlier round still owes.
 */
export function changedRungs(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  reference: string | null,
  { wanted, owed }: { wanted?: readonly string[] | undefined; owed?: ReadonlySet<string> } = {},
): string[] {
  const changed = [...now].flatMap(([id, key]) =>
    before.get(id) !== key && (wanted?.includes(id) ?? true) ? [id] : [],
  )
  if (changed.length === 0) return []
  return [...now.keys()].filter(
    (id) => id === reference || changed.includes(id) || (owed?.has(id) ?? false),
  )
}

/** Until the signal ends it. */
export async function watchFolder({
  folder,
  shipped,
  rungs: wanted,
  run,
  onNews,
  signal,
  everyMs = 400,
}: WatchOptions): Promise<void> {
  let watched = nothingWatched
  /** The keys of what was run last. */
  let done = new Map<string, string>()
  /** A round was to run them, and was cancelled or failed before it did. */
  let owed = new Set<string>()
  let rounds = 0
  let told = ''
  const tell = (phase: WatchPhase, error: ErrorShape | null = null): void => {
    const news: WatchNews = { phase, error, rounds, rungs: watched.rungs }
    const text = JSON.stringify(news)
    if (text === told) return
    told = text
    onNews(news)
  }
  /** After a run that failed, the words stay until the next save. */
  let failure: ErrorShape | null = null
  let seen = ''
  while (!signal.aborted) {
    const own = await readLadderFolder(folder, shipped).catch((error: unknown) =>
      toErrorShape(error),
    )
    const keys = 'kind' in own ? null : await rungKeys(own)
    const look = JSON.stringify(keys ? [...keys] : own)
    const whole = look === seen
    seen = look
    if ('kind' in own || keys === null) {
      // An editor may take the file away for a moment to put another in its place.
      if (whole && (await ladderFileIn(folder)) === null) tell('gone')
      else if (whole && 'kind' in own) tell('faulty', own)
    } else {
      const changed = changedRungs(done, keys, own.ladder.reference, { wanted, owed })
      const broken = changed.flatMap((id) => {
        const entry = own.ladder.rungs.find((each) => entryId(each) === id)
        return (entry && own.library.faults.get(entry.id)) ?? []
      })
      if (whole && broken.length > 0)
        tell('faulty', { kind: 'input', message: [...new Set(broken)].join('\n') })
      else if (whole && changed.length > 0) {
        done = keys
        failure = null
        tell('running')
        owed = new Set(changed)
        try {
          const session = await run(changed)
          rounds += 1
          if (session) watched = watchRound(watched, session, [...keys.keys()])
          const reached = session?.rungs.filter(
            ({ status, build }) => status !== 'not-run' || build,
          )
          for (const { id } of reached ?? []) owed.delete(id)
        } catch (error) {
          failure = toErrorShape(error)
        }
        // Saved meanwhile: it is looked at again at once.
        seen = ''
        continue
      } else if (whole) tell(failure ? 'failed' : 'waiting', failure)
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
