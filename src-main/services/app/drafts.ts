/**
 * Manages drafts, which are the user's edited copies of rungs. Drafts are stored on disk and can be
 * built without a GPU.
 *
 * In a run, a draft follows its original rung.
 */
import { Bench } from '../bench/bench'
import type { Setup } from '../../adapters/machine/machine'
import { faultLine, readCatalog, type Catalog } from '../../adapters/catalog/catalog'
import { draftStore, newDraftId } from '../../adapters/sessions/draft-store'
import type { CallInput, CallOutput } from '../../contract/index'
import { isPythonFile } from '../../domain/ladder/rung'
import { inputError, toErrorShape } from '../../domain/errors'
import { message, together } from '../../domain/messages/message'
import type { LadderEntry } from '../../domain/ladder/ladder'
import { can } from '../../domain/targets/targets'
import type { Task } from '../../domain/task/task'
import { rungOf, type Session } from '../../domain/session/session'
import { withCopy } from '../folders/copies'
import { folderOf } from '../folders/folders'
import { buildRung } from '../bench/build-rung'
import { builtAnswer, createCounting, uncounted } from '../run/live-counters'
import { gpuLike } from '../run/emulated-gpu'
import { planRun } from '../run/plan'
import type { OpenedSession } from '../sessions/open-session'
import type { RunPlan } from '../../domain/run/plan'
import { findLadder, taskOf } from '../catalog/resolve'
import { architectureFor } from '../bench/architecture'
import { draftFile, editedFrom, editId, type Draft } from '../../domain/ladder/draft'
import type { RungBuild } from '../../contract/rung-builds'
import type { EditingPlace } from '../../contract/drafts'
import { copiedSource, draftRung, faultText } from '../../adapters/catalog/draft-rung'

/**
 * Returns the path of a rung's file in its ladder folder. A session stores its source files in a
 * folder named after the task.
 */
const folderFile = (session: Session, rung: string): string =>
  (rungOf(session, rung)?.file ?? '').replace(/^[^/]*\//, '')

const idOf = (entry: LadderEntry): string => entry.as ?? entry.id

export function createDrafts(setup: Setup, open: (ref: string) => Promise<OpenedSession>) {
  const { assets, machine } = setup
  const store = draftStore(machine.folders.drafts)
  const counting = createCounting(setup)

  /**
   * Returns the id of the ladder rung on which a draft of `rung` is based. If `rung` is an edited
   * copy, this is the original rung.
   */
  function baseOf(catalog: Catalog, session: Session, rung: string): string {
    const ladder = catalog.ladders.find(({ id }) => id === session.ladder.id)
    const known = new Set(ladder?.rungs.map(idOf))
    const from = editedFrom(rung)
    if (known.has(rung)) return rung
    if (from !== null && known.has(from)) return from
    throw inputError(
      message('drafts.noLadder', { rung, ladder: session.ladder.title }),
      message('drafts.copySource'),
    )
  }

  return {
    async place({ session: ref, rung: id }: CallInput<'drafts.place'>): Promise<EditingPlace> {
      const { session } = await open(ref)
      const { ladder } = session
      if (!can(session.target).knowsRun)
        return { at: 'nowhere', reason: message('drafts.imported') }
      if (isPythonFile(rungOf(session, id)?.file ?? '') && ladder.folder === undefined)
        return {
          at: 'nowhere',
          reason: together(message('drafts.noPython'), message('drafts.copySource')),
        }
      const catalog = await readCatalog(assets.kernelsDir)
      if (ladder.folder === undefined && catalog.ladders.some((one) => one.id === ladder.id))
        try {
          baseOf(catalog, session, id)
          return { at: 'copy' }
        } catch (error) {
          const { message: why, remedy } = toErrorShape(error)
          return { at: 'nowhere', reason: together(why, remedy) }
        }
      const path = await folderOf(setup, ladder)
      if (path !== null) return { at: 'folder', path, file: folderFile(session, id) }
      return {
        at: 'nowhere',
        reason:
          ladder.folder === undefined
            ? together(
                message('drafts.notShipped', { ladder: ladder.title }),
                message('drafts.openFolder'),
              )
            : together(
                message('drafts.folderGone', { folder: ladder.folder, ladder: ladder.id }),
                message('drafts.openFolder'),
              ),
      }
    },

    async open({ session: ref, rung: id }: CallInput<'drafts.open'>): Promise<Draft> {
      const { session, sources } = await open(ref)
      const rung = rungOf(session, id)
      const source = sources[id]
      if (!rung || source === undefined)
        throw inputError(message('drafts.noSource', { rung: JSON.stringify(id) }))
      const catalog = await readCatalog(assets.kernelsDir)
      const base = baseOf(catalog, session, id)
      const drafts = (await store.list()).filter(({ ladder }) => ladder === session.ladder.id)
      const kept = drafts.find(({ parent }) => parent === id)
      if (kept) return kept
      const taken = new Set([
        ...session.rungs.map((each) => each.id),
        ...drafts.map((each) => each.rung),
      ])
      const copy = editId(base, taken)
      return {
        schema: 1,
        id: newDraftId(),
        ladder: session.ladder.id,
        parent: id,
        base,
        rung: copy,
        params: rung.params,
        source: copiedSource(source, { rung: copy, base, title: rung.title }),
        savedAt: null,
      }
    },

    async list(): Promise<CallOutput<'drafts.list'>> {
      return (await store.list()).map(
        ({ schema: _schema, source: _source, params: _params, ...draft }) => draft,
      )
    },

    async save(draft: CallInput<'drafts.save'>): Promise<CallOutput<'drafts.save'>> {
      const savedAt = new Date().toISOString()
      // If two tabs open a rung that has no saved draft, each tab creates a draft with its own id.
      const other = await store.save({ ...draft, schema: 1, savedAt }, (stored) => {
        const last = stored.find(
          (one) => one.ladder === draft.ladder && one.parent === draft.parent,
        )
        return last && last.savedAt !== draft.savedAt ? last : null
      })
      return other ? { savedAt: other.savedAt, other } : { savedAt, other: null }
    },

    remove: (id: string): Promise<void> => store.remove(id),

    async build({
      session: ref,
      draft,
    }: CallInput<'drafts.build'>): Promise<CallOutput<'drafts.build'>> {
      const { session } = await open(ref)
      const catalog = await readCatalog(assets.kernelsDir)
      const planned = planOf(catalog, session, draft)
      if ('built' in planned) return planned
      const [rung] = planned.rungs
      const requires = rung!.rung.header.requires
      // Compile for the GPU on which the session was measured, because this machine may have no
      // GPU.
      const architecture = session.device
        ? architectureFor(requires, session.device)
        : { sm: requires?.slice('sm_'.length) ?? '80' }
      if ('unsupported' in architecture)
        return refused(inputError(architecture.unsupported), draft, planned.task)
      const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
      const bench = await Bench.open(tools, catalog)
      return builtAnswer(
        await buildRung(await bench.compiler(), planned, rung!, architecture.sm),
        architecture.sm,
      )
    },

    async counters({
      session: ref,
      draft,
    }: CallInput<'drafts.counters'>): Promise<CallOutput<'drafts.counters'>> {
      const count = counting()
      const { session } = await open(ref)
      const catalog = await readCatalog(assets.kernelsDir)
      const gpu = gpuLike(session.device)
      const plan = planOf(catalog, session, draft)
      if ('built' in plan) return uncounted(plan, gpu)
      const original = planFor(catalog, session, draft.ladder, draft.base)
      return count({ catalog, gpu, plan, original })
    },
  }
}

/** Returns the build result for a draft with an invalid header. */
const refused = (error: unknown, { rung }: Pick<Draft, 'rung'>, task: Task): RungBuild => ({
  built: false,
  reason: faultText(error),
  diagnostics: [
    {
      severity: 'error',
      file: draftFile(rung, task.id),
      line: faultLine(error instanceof Error ? error.message : ''),
      message: faultText(error),
    },
  ],
  build: null,
  architecture: null,
})

/** Returns a plan that runs a single rung with the session's problem sizes. */
const planFor = (catalog: Catalog, session: Session, ladder: string, rung: string): RunPlan =>
  planRun(catalog, {
    ladder,
    rungs: [rung],
    ...(session.problem ? { at: session.problem.sizes } : {}),
    params: {},
    profile: 'none',
  })

/** Returns a plan for the draft, or a failed build result if the draft's header is invalid. */
function planOf(
  catalog: Catalog,
  session: Session,
  draft: CallInput<'drafts.build'>['draft'],
): RunPlan | RungBuild {
  const task = taskOf(catalog, findLadder(catalog, draft.ladder))
  try {
    draftRung(draft, task)
  } catch (error) {
    return refused(error, draft, task)
  }
  return planFor(withCopy(catalog, draft), session, draft.ladder, draft.rung)
}
