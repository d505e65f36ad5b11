/**
 * Reruns a ladder folder after every save, for the CLI and the UI. The watch polls the folder,
 * because file system events depend on how an editor saves files. Polling keeps working if a
 * network mount disappears and reappears.
 */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  ladderFileIn,
  readLadderFolder,
  type LadderFolder,
} from '../../adapters/catalog/ladder-folder'
import type { Catalog } from '../../adapters/catalog/catalog'
import { nothingWatched, watchRound, type WatchedRung } from '../../domain/analysis/watched'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import type { Session } from '../../domain/session/session'
import { fillFiles } from '../../domain/task/task'
import { inLines } from '../../domain/messages/message'
import { distinct, inEnglish } from '../../domain/text/english'

type WatchPhase = 'waiting' | 'running' | 'gone' | 'faulty' | 'failed'

export interface WatchNews {
  phase: WatchPhase
  /** Reason that the state is `faulty` or `failed`. */
  error: ErrorShape | null
  /** Number of completed rounds. */
  rounds: number
  /** Rungs in ladder order. Rungs that ran in the last round are marked as fresh. */
  rungs: readonly WatchedRung[]
}

interface WatchOptions {
  /** The folder's absolute path. */
  folder: string
  shipped: Catalog
  /** Rungs to run (default: all). */
  rungs?: readonly string[] | undefined
  /**
   * Runs the given rungs and the reference. Returns null if no rung finished. If the promise
   * rejects, the watch reports the error and continues.
   */
  run: (rungs: string[]) => Promise<Session | null>
  onNews: (news: WatchNews) => void
  signal: AbortSignal
  /**
   * Polling interval in milliseconds. A save is complete if two consecutive polls see the same
   * state.
   */
  everyMs?: number
}

const entryId = ({ as, id }: { as?: string | undefined; id: string }): string => as ?? id

/**
 * Returns a key for each rung. The key covers all inputs that affect the rung's result, so a rung
 * must run again if its key changes.
 */
async function rungKeys({
  folder,
  ladder,
  task,
  catalog,
}: LadderFolder): Promise<Map<string, string>> {
  const text = (id: string): string =>
    catalog.rungs.get(id)?.text ?? inEnglish(catalog.faults.get(id) ?? '')
  const trusted =
    typeof task.reference === 'string'
      ? catalog.references.get(task.id)?.text
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
  const common = [task, rest, trusted, [...(catalog.headers.get(task.id) ?? [])], filled]
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
 * Returns the rungs to run again, in ladder order. Includes rungs whose earlier round was canceled
 * or failed. If any rung runs, the reference runs too.
 */
function changedRungs(
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

/** Watches the folder until the signal aborts. */
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
  /** The rungs' keys when they last ran. */
  let done = new Map<string, string>()
  /** Rungs that must still run, because their round was canceled or failed. */
  let owed = new Set<string>()
  let rounds = 0
  let lastText = ''
  const tell = (phase: WatchPhase, error: ErrorShape | null = null): void => {
    const news: WatchNews = { phase, error, rounds, rungs: watched.rungs }
    const text = JSON.stringify(news)
    if (text === lastText) return
    lastText = text
    onNews(news)
  }
  /** Error from a failed run, which is shown until the next save. */
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
      // An editor may remove the file briefly while replacing it.
      if (whole && (await ladderFileIn(folder)) === null) tell('gone')
      else if (whole && 'kind' in own) tell('faulty', own)
    } else {
      const changed = changedRungs(done, keys, own.ladder.reference, { wanted, owed })
      const broken = changed.flatMap((id) => {
        const entry = own.ladder.rungs.find((each) => entryId(each) === id)
        return (entry && own.catalog.faults.get(entry.id)) ?? []
      })
      if (whole && broken.length > 0)
        tell('faulty', { kind: 'input', message: inLines(distinct(broken)) })
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
        // Report a stopped round's results immediately.
        tell(failure ? 'failed' : signal.aborted ? 'running' : 'waiting', failure)
        // The folder was saved in the meantime, so check it again immediately.
        seen = ''
        continue
      } else if (whole) tell(failure ? 'failed' : 'waiting', failure)
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
