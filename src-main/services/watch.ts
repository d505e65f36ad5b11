/**
 * A ladder folder that is being edited: at each save the rungs that changed are built, verified and timed, and
 * set beside what they were before. It outlives faults, and the folder itself.
 */
import { setTimeout } from 'node:timers/promises'
import { sha256 } from '../adapters/disk/build-cache'
import type { KernelLibrary } from '../adapters/kernels/kernel-library'
import { folderPrint } from '../adapters/kernels/ladder-folder'
import type { Setup } from '../adapters/machine/machine'
import type { RunRequest } from '../contract'
import type { RungChange } from '../contract/watch'
import { compareRungs } from '../domain/analysis/compare'
import { inputError, toErrorShape, type ErrorShape } from '../domain/errors'
import type { RungResult, Session } from '../domain/session/session'
import { libraryFor } from './ladder-library/copies'
import { openTrustedLadder } from './ladder-library/open'
import { planRun, type RunPlan } from './run/plan'
import type { FinishedRun } from './targets/saved-run'

export interface Watching {
  /** Does what changed; the request names its rungs. */
  start: (request: RunRequest) => Promise<FinishedRun>
  /** A round was run to its end. */
  onRound: (finished: FinishedRun, changes: RungChange[]) => void
  /** It cannot be run as it is; the next change may mend that. */
  onFault: (error: ErrorShape) => void
  /** There is nothing to do before the next change. */
  onWaiting: () => void
  signal: AbortSignal
}

/** An editor writes a file in several steps; a folder is looked at again when it has come to rest. */
const lookEveryMs = 250

/** What each rung is made of, and what they share. */
interface Prints {
  shared: string
  rungs: ReadonlyMap<string, string>
}

function printsOf(library: KernelLibrary, plan: RunPlan): Prints {
  const { task, problem, headers, alsoVerify } = plan
  const reference = library.references.get(task.id)?.text ?? null
  return {
    shared: sha256(JSON.stringify([task, problem, [...headers], alsoVerify?.problems, reference])),
    rungs: new Map(
      plan.rungs.map(({ rung, source }) => [rung.id, JSON.stringify([rung, sha256(source)])]),
    ),
  }
}

function changedRungs(before: Prints | null, { shared, rungs }: Prints): string[] {
  const all = [...rungs.keys()]
  return before?.shared === shared
    ? all.filter((id) => before.rungs.get(id) !== rungs.get(id))
    : all
}

async function nextChange(folder: string, before: string, signal: AbortSignal): Promise<void> {
  let seen = before
  while (!signal.aborted) {
    await setTimeout(lookEveryMs, undefined, { signal }).catch(() => undefined)
    const now = await folderPrint(folder)
    if (now !== before && now === seen) return
    seen = now
  }
}

type Known = { session: Session; rung: RungResult }

function changesOf(known: ReadonlyMap<string, Known>, session: Session): RungChange[] {
  return session.rungs.map((rung) => {
    const before = known.get(rung.id)
    return {
      rung: rung.id,
      status: rung.status,
      ...(rung.reason === undefined ? {} : { reason: rung.reason }),
      before: before?.rung.status ?? null,
      time: before ? compareRungs(before, { session, rung }).time : null,
    }
  })
}

/** Ends when the signal does. Throws for a ladder that is no folder. */
export async function watchLadder(
  setup: Setup,
  request: RunRequest,
  { start, onRound, onFault, onWaiting, signal }: Watching,
): Promise<void> {
  const { own } = await openTrustedLadder(setup, request.ladder)
  if (!own)
    throw inputError(
      `${request.ladder} comes with the program, and is not watched.`,
      'Watch a ladder folder of your own: `kernel-ladder init DIR`.',
    )
  const { folder } = own
  let before: Prints | null = null
  const known = new Map<string, Known>()
  while (!signal.aborted) {
    const print = await folderPrint(folder)
    try {
      const found = await libraryFor(setup, { ...request, ladder: folder })
      const prints = printsOf(found.library, planRun(found.library, found.request))
      const rungs = changedRungs(before, prints)
      if (rungs.length > 0) {
        const finished = await start({ ...request, ladder: folder, rungs })
        // One that was cancelled has not shown what there is.
        if (finished.session.completion === 'complete') before = prints
        onRound(finished, changesOf(known, finished.session))
        for (const rung of finished.session.rungs)
          known.set(rung.id, { session: finished.session, rung })
      }
    } catch (error) {
      if (!signal.aborted) onFault(toErrorShape(error))
    }
    if (signal.aborted) return
    onWaiting()
    await nextChange(folder, print, signal)
  }
}
