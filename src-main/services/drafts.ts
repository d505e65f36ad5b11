/** Copies of rungs that a reader edits: kept between visits, built without a GPU, run after their rung. */
import type { Setup } from '../adapters/machine/machine'
import { copiedSource, draftRung, faultLine, faultText } from '../adapters/kernels/draft-source'
import { draftStore, newDraftId } from '../adapters/sessions/draft-store'
import {
  readKernelLibrary,
  readSharedFiles,
  type KernelLibrary,
} from '../adapters/kernels/kernel-library'
import type { CallInput, CallOutput, RunRequest } from '../contract'
import { draftFile, editedFrom, editId, type Draft } from '../domain/ladder/draft'
import { inputError } from '../domain/errors'
import { message } from '../domain/messages/message'
import type { LadderEntry, LadderFile } from '../domain/ladder/ladder'
import type { Parameters } from '../domain/ladder/rung'
import { rungOf, type Session } from '../domain/session/session'
import { openTrustedLadder } from './ladder-library/open'
import { buildRung } from './run/build'
import { openCompiler } from './run/compiler'
import { architectureFor } from './run/device'
import { findLadder, planRun, taskOf } from './run/plan'
import type { OpenedSession } from './sessions/sessions'

type Copy = Pick<Draft, 'ladder' | 'base' | 'rung' | 'params' | 'source'>

const idOf = (entry: LadderEntry): string => entry.as ?? entry.id

/** The same library with the copy in its ladder, after the rung that it was copied from. */
export function withCopy(library: KernelLibrary, copy: Copy): KernelLibrary {
  const ladder = findLadder(library, copy.ladder)
  const source = draftRung(copy, taskOf(library, ladder))
  const at = ladder.rungs.findIndex((entry) => idOf(entry) === copy.base)
  const base = ladder.rungs[at]
  if (!base) throw inputError(message('drafts.noBase', { ladder: copy.ladder, rung: copy.base }))
  if (ladder.rungs.some((entry) => idOf(entry) === copy.rung))
    throw inputError(message('drafts.taken', { ladder: copy.ladder, rung: copy.rung }))
  const entry: LadderEntry = {
    id: copy.rung,
    params: declared(copy.params, source.header.params),
    ...(base.options === undefined ? {} : { options: base.options }),
  }
  const extended: LadderFile = {
    ...ladder,
    rungs: [...ladder.rungs.slice(0, at + 1), entry, ...ladder.rungs.slice(at + 1)],
  }
  return {
    ...library,
    ladders: library.ladders.map((each) => (each.id === ladder.id ? extended : each)),
    rungs: new Map([...library.rungs, [copy.rung, source]]),
  }
}

/** The parent's values of the parameters that the copy still has. */
const declared = (
  params: Parameters,
  header: readonly { name: string; allowed: readonly number[] }[],
): Parameters =>
  Object.fromEntries(
    Object.entries(params).filter(([name, value]) =>
      header.some((param) => param.name === name && param.allowed.includes(value)),
    ),
  )

/** The library for a request, which may name a folder and a draft, and the request of a ladder in it. */
export async function libraryFor<R extends Pick<RunRequest, 'ladder' | 'draft'>>(
  setup: Setup,
  request: R,
): Promise<{ library: KernelLibrary; request: R }> {
  const { library, id } = await openTrustedLadder(setup, request.ladder)
  const ofLadder = { ...request, ladder: id }
  if (request.draft === undefined) return { library, request: ofLadder }
  const draft = await draftStore(setup.machine.folders.drafts).read(request.draft)
  if (!draft) throw inputError(message('drafts.gone'), message('drafts.openAgain'))
  return { library: withCopy(library, draft), request: ofLadder }
}

export function createDrafts(
  { assets, machine }: Setup,
  open: (ref: string) => Promise<OpenedSession>,
) {
  const store = draftStore(machine.folders.drafts)

  /** The rung of the ladder that a copy of this rung runs after. */
  function baseOf(library: KernelLibrary, session: Session, rung: string): string {
    const ladder = library.ladders.find(({ id }) => id === session.ladder.id)
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
    async open({ session: ref, rung: id }: CallInput<'drafts.open'>): Promise<Draft> {
      const { session, sources } = await open(ref)
      const rung = rungOf(session, id)
      const source = sources[id]
      if (!rung || source === undefined)
        throw inputError(message('drafts.noSource', { rung: JSON.stringify(id) }))
      const library = await readKernelLibrary(assets.kernelsDir)
      const base = baseOf(library, session, id)
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

    async save(draft: CallInput<'drafts.save'>): Promise<{ savedAt: string }> {
      const savedAt = new Date().toISOString()
      await store.save({ ...draft, schema: 1, savedAt })
      return { savedAt }
    },

    remove: (id: string): Promise<void> => store.remove(id),

    async build({
      session: ref,
      draft,
    }: CallInput<'drafts.build'>): Promise<CallOutput<'drafts.build'>> {
      const { session } = await open(ref)
      const library = await readKernelLibrary(assets.kernelsDir)
      const task = taskOf(library, findLadder(library, draft.ladder))
      const refused = (error: unknown): CallOutput<'drafts.build'> => ({
        built: false,
        reason: faultText(error),
        diagnostics: [
          {
            severity: 'error',
            file: draftFile(draft.rung, task.id),
            line: faultLine(error instanceof Error ? error.message : ''),
            message: faultText(error),
          },
        ],
        build: null,
        architecture: null,
      })
      try {
        draftRung(draft, task)
      } catch (error) {
        return refused(error)
      }
      const plan = planRun(withCopy(library, draft), {
        ladder: draft.ladder,
        rungs: [draft.rung],
        params: {},
        profile: 'none',
      })
      const planned = plan.rungs[0]!
      const requires = planned.rung.header.requires
      // Without a GPU of our own: for the GPU that the session was measured on.
      const architecture = session.device
        ? architectureFor(requires, session.device)
        : { sm: requires?.slice('sm_'.length) ?? '80' }
      if ('unsupported' in architecture) return refused(inputError(architecture.unsupported))

      const compiler = await openCompiler(
        { toolbox: machine.toolbox(null), cache: machine.cache },
        await readSharedFiles(library.root, 'include'),
      )
      const built = await buildRung(compiler, plan, planned, architecture.sm)
      return {
        built: built.artefact !== null,
        reason: built.reason ?? null,
        diagnostics: built.diagnostics,
        build: built.build,
        architecture: `sm_${architecture.sm}`,
      }
    },
  }
}
