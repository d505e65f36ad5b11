/**
 * Loads a ladder's old code so that it can be rebuilt. The code comes from a session's stored
 * sources or from a git revision.
 */
import { resolve, sep } from 'node:path'
import {
  builtWith,
  readCatalog,
  readSharedFiles,
  type Catalog,
} from '../../adapters/catalog/catalog'
import { headerName, readLadderFolder } from '../../adapters/catalog/ladder-folder'
import type { Setup } from '../../adapters/machine/machine'
import { isImported } from '../../adapters/sessions/session-store'
import { readAllSources } from '../../adapters/sessions/session-sources'
import { inputError, toErrorShape } from '../../domain/errors'
import { isBinaryFile } from '../../domain/ladder/rung'
import { type OldCode } from '../../domain/regress/report'
import { currentId, findById } from '../../domain/ladder/former-ids'
import type { Session } from '../../domain/session/session'
import { named, problemWord, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/english'
import type { OpenedLadder } from '../folders/open'
import { planRun, type PlanRequest } from '../run/plan'
import { namesSession, openNamed, type OpenedSession } from '../sessions/open-session'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { findLadder } from '../catalog/resolve'
import { otherwiseDefined } from '../../domain/regress/task-compatibility'
import { taskHeaderFile } from '../../domain/task/task-headers'
import { checkOutRevision } from '../../adapters/catalog/check-out-revision'
import { storeOf } from '../sessions/session-places'

export interface OldRungs {
  from: OldCode
  task: Task
  /** Old include/ files and task headers by path. */
  includes: ReadonlyMap<string, string>
  headers: ReadonlyMap<string, string>
  /** Old versions of the plan's rungs, by current id. */
  rungs: ReadonlyMap<string, PlannedRung>
  /** Rungs that were removed from the ladder. Empty if only some rungs were requested. */
  gone: readonly { id: string; title: string }[]
}

interface OldCodeRequest {
  setup: Setup
  opened: OpenedLadder
  request: PlanRequest
  plan: RunPlan
  against: string
  /** An empty folder for a git revision's files. */
  scratch: string
  /** Whether the user allows building and running code from another machine's session. */
  trust: boolean
  signal: AbortSignal
}

export async function openOldCode(request: OldCodeRequest): Promise<OldRungs> {
  const session = (await namesSession(request.setup, request.against))
    ? await openNamed(request.setup, request.against)
    : null
  const old = session ? await ofSession(request, session) : await ofRevision(request)
  const other = otherwiseDefined(old.task, request.plan.task)
  if (other !== null)
    throw inputError(
      `The task ${request.plan.task.id} had different ${other} in ${request.against}, so that code computes something else.`,
      'Use a session or revision with the same task.',
    )
  if (old.rungs.size === 0)
    throw inputError(
      `${request.against} has none of these rungs: ${request.plan.rungs.map(({ rung }) => rung.id).join(', ')}.`,
    )
  return old
}

async function ofSession(
  { setup, request, plan, against, trust }: OldCodeRequest,
  { session, folder, sources }: OpenedSession,
): Promise<OldRungs> {
  const { task } = session.ladder
  if (session.ladder.id !== plan.ladder.id)
    throw inputError(
      `${against} is a session of the ladder ${session.ladder.id}, not of ${plan.ladder.id}.`,
    )
  if (task === null || (await isImported(folder)))
    throw inputError(
      `${against} was imported, so its code cannot be built again.`,
      'Use a session that was run.',
    )
  refuseOtherProblem(against, session, plan.problem)
  const isOurs = [storeOf(setup), setup.assets.recordingsDir].some((known) =>
    resolve(folder).startsWith(resolve(known) + sep),
  )
  if (!isOurs && !trust)
    throw inputError(
      `The code in ${against} would be built and run with your permissions, and the session is not in your session store.`,
      'Review its sources/, then allow it with --trust.',
    )
  const all = await readAllSources(folder)
  const texts = (keep: (path: string) => boolean): Map<string, string> =>
    new Map([...all].filter(([path]) => keep(path)))
  const isInclude = (path: string): boolean => path.startsWith('include/')
  const wanted = plan.rungs.flatMap(({ rung: { id } }) => findById(session.ladder.rungs, id) ?? [])
  const without = wanted.filter(({ id, file }) => sources[id] === undefined || isBinaryFile(file))
  if (without.length > 0)
    throw inputError(
      `${against} has no source of ${without.map(({ id }) => id).join(', ')}.`,
      'Use another session, or leave these rungs out with --rungs.',
    )
  const builtWithAll = new Map(
    await Promise.all(
      wanted.map(
        async ({ file }) => [file, await builtWith(setup.assets.kernelsDir, file)] as const,
      ),
    ),
  )
  return {
    from: { kind: 'session', name: against, createdAt: session.createdAt },
    task,
    includes: texts(isInclude),
    headers: texts((path) => !isInclude(path) && headerName.test(path) && path !== taskHeaderFile),
    rungs: new Map(
      wanted.map((rung) => [
        currentId(rung.id),
        {
          rung,
          source: sources[rung.id]!,
          // Use the current version of the file that runs Python scripts, because it is part of
          // this program.
          ...builtWithAll.get(rung.file),
        },
      ]),
    ),
    gone: goneFrom(session.ladder.rungs, request, plan),
  }
}

const goneFrom = (
  old: readonly { id: string; title: string }[],
  { rungs }: PlanRequest,
  plan: RunPlan,
): { id: string; title: string }[] =>
  rungs
    ? []
    : old
        .filter(({ id }) => plan.rungs.every(({ rung }) => currentId(rung.id) !== currentId(id)))
        .map(({ id, title }) => ({ id, title }))

function refuseOtherProblem(against: string, { problem }: Session, requested: Problem): void {
  const words = (one: Problem): string =>
    [problemWord(one), named(one.scalars)].filter(Boolean).join(', ')
  if (problem && words(problem) === words(requested)) return
  const at = Object.entries(problem?.sizes ?? {}).map(([name, size]) => `--at ${name}=${size}`)
  throw inputError(
    `${against} is of ${problem ? words(problem) : 'an unknown problem'}, and this would measure ${words(requested)}.`,
    at.length > 0 ? `For its sizes add ${at.join(' ')}.` : 'Use another session.',
  )
}

async function ofRevision({
  setup,
  opened,
  request,
  plan,
  against,
  scratch,
  signal,
}: OldCodeRequest): Promise<OldRungs> {
  const shipped = await readCatalog(setup.assets.kernelsDir)
  const folder = opened.own?.folder ?? setup.assets.kernelsDir
  const revision = await checkOutRevision(folder, against, scratch, signal)
  try {
    const catalog: Catalog = opened.own
      ? (await readLadderFolder(revision.folder, shipped)).catalog
      : await readCatalog(revision.folder)
    const { rungs } = findLadder(catalog, opened.id)
    const known = rungs.map(({ as, id }) => ({ id: as ?? id }))
    const wanted = plan.rungs.flatMap(({ rung }) => findById(known, rung.id)?.id ?? [])
    const old =
      wanted.length > 0 ? planRun(catalog, { ...request, ladder: opened.id, rungs: wanted }) : null
    return {
      from: { kind: 'revision', name: against, commit: revision.commit },
      task: old?.task ?? plan.task,
      includes: await readSharedFiles(catalog.root, 'include'),
      headers: old?.headers ?? new Map(),
      rungs: new Map(old?.rungs.map((planned) => [currentId(planned.rung.id), planned])),
      gone: goneFrom(
        rungs.map(({ as, id, title }) => ({
          id: as ?? id,
          title: title ?? catalog.rungs.get(id)?.header.title ?? '',
        })),
        request,
        plan,
      ),
    }
  } catch (error) {
    const { kind, message, remedy } = toErrorShape(error)
    if (kind !== 'input') throw error
    throw inputError(`At ${against}: ${inEnglish(message)}`, remedy)
  }
}
