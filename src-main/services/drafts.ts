/** Editing rungs: copies that are saved between visits and built without a GPU, and a source line in the user's own editor. */
import { Bench } from './bench/bench'
import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Setup } from '../adapters/machine/machine'
import {
  copiedSource,
  draftRung,
  faultLine,
  faultText,
  readKernelLibrary,
  type KernelLibrary,
} from '../adapters/kernels/kernel-library'
import { draftStore, newDraftId } from '../adapters/sessions/draft-store'
import type { CallInput, CallOutput } from '../contract/index'
import type { RungBuild, EditingPlace } from '../contract/folders'
import { draftFile, editedFrom, editId, type Draft, isPythonFile } from '../domain/ladder/rung'
import { inputError, toErrorShape, missingError } from '../domain/errors'
import { message, together } from '../domain/messages/message'
import type { LadderEntry } from '../domain/ladder/ladder'
import type { Task } from '../domain/task/task'
import { rungOf, type Session, type RungResult } from '../domain/session/session'
import { withCopy } from './ladder-library/copies'
import { folderOf } from './ladder-library/folders'
import { buildRung } from './bench/build-rung'
import { builtAnswer, createCounting, gpuLike, uncounted } from './run/counters'
import { planRun } from './run/plan'
import type { OpenedSession } from './sessions/sessions'
import { letGo } from '../adapters/tools/process'
import { sourcesFolder } from '../adapters/sessions/session-sources'
import type { RunPlan } from '../domain/run/plan'
import { findLadder, taskOf } from './catalog/resolve'
import { architectureFor } from './bench/architecture'

// User-edited copies of rungs: saved between visits, built without a GPU, run after their original rung.

/** The rung's file in its ladder folder; in a session, files are under a folder named after the task. */
const folderFile = (session: Session, rung: string): string =>
  (rungOf(session, rung)?.file ?? '').replace(/^[^/]*\//, '')

const idOf = (entry: LadderEntry): string => entry.as ?? entry.id

export function createDrafts(setup: Setup, open: (ref: string) => Promise<OpenedSession>) {
  const { assets, machine } = setup
  const store = draftStore(machine.folders.drafts)
  const counting = createCounting(machine)

  /** The ladder's rung that a copy of this rung runs after. */
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
    async place({ session: ref, rung: id }: CallInput<'drafts.place'>): Promise<EditingPlace> {
      const { session } = await open(ref)
      const { ladder } = session
      if (isPythonFile(rungOf(session, id)?.file ?? '') && ladder.folder === undefined)
        return {
          at: 'nowhere',
          reason: together(message('drafts.noPython'), message('drafts.copySource')),
        }
      const library = await readKernelLibrary(assets.kernelsDir)
      if (ladder.folder === undefined && library.ladders.some((one) => one.id === ladder.id))
        try {
          baseOf(library, session, id)
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
      const planned = planOf(library, session, draft)
      if ('built' in planned) return planned
      const [rung] = planned.rungs
      const requires = rung!.rung.header.requires
      // Builds for the GPU that the session was measured on, since there may be none here.
      const architecture = session.device
        ? architectureFor(requires, session.device)
        : { sm: requires?.slice('sm_'.length) ?? '80' }
      if ('unsupported' in architecture)
        return refused(inputError(architecture.unsupported), draft, planned.task)
      const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
      const bench = await Bench.open(tools, library)
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
      const library = await readKernelLibrary(assets.kernelsDir)
      const gpu = gpuLike(session.device)
      const plan = planOf(library, session, draft)
      if ('built' in plan) return uncounted(plan, gpu)
      const original = planFor(library, session, draft.ladder, draft.base)
      return count({ library, gpu, plan, original })
    },
  }
}

/** The answer about a copy whose header is not one. */
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

/** At the session's problem, a rung of the library alone. */
const planFor = (library: KernelLibrary, session: Session, ladder: string, rung: string): RunPlan =>
  planRun(library, {
    ladder,
    rungs: [rung],
    ...(session.problem ? { at: session.problem.sizes } : {}),
    params: {},
    profile: 'none',
  })

/** A plan of the copy; what is wrong with its header where that is no header of a rung. */
function planOf(
  library: KernelLibrary,
  session: Session,
  draft: CallInput<'drafts.build'>['draft'],
): RunPlan | RungBuild {
  const task = taskOf(library, findLadder(library, draft.ladder))
  try {
    draftRung(draft, task)
  } catch (error) {
    return refused(error, draft, task)
  }
  return planFor(withCopy(library, draft), session, draft.ladder, draft.rung)
}

// Opens a source line in the user's editor. The command is the user's own setting, KERNEL_LADDER_EDITOR; nothing that a
// page or a session says is part of it, and only a file of the ladder's folder, of this program or of the session is opened.

const editorVariable = 'KERNEL_LADDER_EDITOR'

const remedy = () => message('editor.set', { example: 'code -g {file}:{line}' })

export const hasEditor = ({ variable }: Pick<Setup['machine'], 'variable'>): boolean =>
  Boolean(variable(editorVariable)?.trim())

/** `code -g {file}:{line}`; words as in a shell, without anything else of a shell. */
export function editorCommand(setting: string, file: string, line: number): string[] {
  const words = [...setting.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
  const named = words.some((word) => word.includes('{file}')) ? words : [...words, '{file}']
  return named.map((word) => word.replaceAll('{line}', `${line}`).replaceAll('{file}', file))
}

/** The file without links; null if there is none inside of the folder. */
async function inside(folder: string, file: string): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const path = await realpath(join(root, file))
    return path.startsWith(root + sep) ? path : null
  } catch {
    return null
  }
}

/** Where the source of a rung can be edited, else what the session kept of it; null if it has none. */
async function sourceFile(
  setup: Setup,
  { session, folder }: Pick<OpenedSession, 'session' | 'folder'>,
  { file }: RungResult,
): Promise<string | null> {
  const own = await folderOf(setup, session.ladder)
  if (own !== null) return inside(own, file.replace(/^[^/]*\//, ''))
  const shipped = session.ladder.folder === undefined ? setup.assets.kernelsDir : null
  return (
    (shipped && (await inside(shipped, file))) ?? (await inside(join(folder, sourcesFolder), file))
  )
}

/** How long an editor may take to say that it cannot start; many stay until their window is closed. */
const patienceMs = 1500

export async function openInEditor(
  setup: Setup,
  opened: Pick<OpenedSession, 'session' | 'folder'>,
  rung: RungResult,
  line: number,
): Promise<string> {
  const setting = setup.machine.variable(editorVariable)?.trim()
  if (!setting) throw missingError(message('editor.unset'), remedy())
  const file = await sourceFile(setup, opened, rung)
  if (file === null)
    throw inputError(message('editor.noFile', { rung: rung.id }), message('editor.noFileThen'))
  const [program = '', ...args] = editorCommand(setting, file, line)
  const { outcome, exitCode } = await letGo(program, args, patienceMs)
  if (outcome === 'not-found') throw missingError(message('editor.notFound', { program }), remedy())
  if (outcome === 'exited' && exitCode !== 0)
    throw missingError(message('editor.failed', { program, code: String(exitCode) }), remedy())
  return file
}
