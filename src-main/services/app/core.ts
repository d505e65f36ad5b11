/** Implements every call in the UI contract. At most one run is active at a time. */
import { randomBytes } from 'node:crypto'
import { basename, dirname, resolve } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { inEnglish } from '../../domain/text/english'
import { drawInPage, printPdf, type PdfPrinter } from '../../adapters/print/chromium'
import { readCatalog } from '../../adapters/catalog/catalog'
import { gpuFolders, listGpus } from '../../adapters/disk/gpu-files'
import { readMachines } from '../../adapters/remote/machines-store'
import { sweepTrash } from '../../adapters/sessions/labels-and-trash'
import type {
  CallInput,
  CallName,
  CallOutput,
  Core,
  RunEvent,
  RunMessage,
  SessionSummary,
} from '../../contract'
import { inputError, KernelLadderError, toErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { rungOf, type Session } from '../../domain/session/session'
import { can, type Target } from '../../domain/targets/targets'
import { startRun } from '../targets/start-run'
import { diagnose } from '../doctor/doctor'
import { createDrafts } from './drafts'
import { createWatchJob } from './watch-job'
import { findHistory } from '../sessions/history'
import { adviseFirst, adviseOn } from '../next/advise'
import { measuredRungs } from '../sessions/measured'
import { answerReport } from '../report/make'
import { createLabCalls } from '../labs/lab-calls'
import { machineCalls } from '../remote/machine-calls'
import { createNcuReports } from '../remote/ncu-report'
import { createSanitizeJob } from '../sanitize/sanitize-job'
import { defaultRecordingRef, openSession, type OpenedSession } from '../sessions/open-session'
import { tuningCalls } from '../tune/kept-tunings'
import { appVersion } from '../version'
import { resolveLadder } from '../catalog/resolve'
import type { SanitizeRequest } from '../../contract/sanitize'
import { recordedRef } from '../../domain/session/session-ref'
import { isOwnRun } from '../../domain/session/session-summary'
import { hasEditor, openInEditor } from './editor'
import { folderCalls } from './folder-calls'
import { createReportProgress } from '../report/report-progress'
import { importFile } from '../sessions/import-file'
import { mountedRef, storeOf, type SessionPlaces } from '../sessions/session-places'
import {
  deletedSessions,
  deleteSession,
  renameSession,
  restoreSession,
} from '../sessions/manage-sessions'
import { listAll } from '../sessions/list-sessions'

export interface CoreOptions {
  host: 'electron' | 'web'
  /** The session folder that the UI shows at startup. */
  session?: string
  /** The host's PDF printer. By default, the core uses a browser installed on this machine. */
  printPdf?: PdfPrinter
}

type Handlers = { [N in CallName]: (input: never) => Promise<CallOutput<N>> }

interface ActiveRun {
  id: string
  abort: AbortController
  finished: Promise<void>
}

type RunEnd = Omit<Extract<RunEvent, { type: 'finished' }>, 'type'>

/**
 * Maximum number of cached sessions. The UI requests a session and its sources in separate calls,
 * so the cache avoids reading the session twice.
 */
const keptSessions = 8

export function createCore(setup: Setup, options: CoreOptions): Core {
  const { assets, machine } = setup
  const store = storeOf(setup)
  const places: SessionPlaces = {
    ...setup,
    ...(options.session === undefined ? {} : { mounted: options.session }),
  }
  // A failure to clean up the trash must not prevent startup.
  void sweepTrash(store).catch(() => undefined)
  const listeners = new Set<(message: RunMessage) => void>()
  const opened = new Map<string, Promise<OpenedSession>>()
  let active: ActiveRun | null = null
  const sanitizer = createSanitizeJob(setup)
  const makingReports = createReportProgress()
  let messages: RunMessage[] = []

  const open = (ref: string): Promise<OpenedSession> => {
    const known = opened.get(ref)
    if (known) return known
    const opening = openSession(places, ref)
    opened.set(ref, opening)
    opening.catch(() => opened.delete(ref))
    const oldest = opened.size > keptSessions ? opened.keys().next().value : undefined
    if (oldest !== undefined) opened.delete(oldest)
    return opening
  }

  const drafts = createDrafts(setup, open)
  const ncuReports = createNcuReports(setup, open)

  const publish = (runId: string, event: RunEvent): void => {
    const message = { runId, seq: messages.length, event }
    messages.push(message)
    for (const listener of listeners) listener(message)
  }

  /**
   * Throws an error while a run or sanitizer job is active. Sharing the GPU would distort the
   * measured times.
   */
  const refuseWhileBusy = (): void => {
    if (active !== null || sanitizer.active)
      throw new KernelLadderError(
        'failed',
        message(active ? 'asked.running' : 'asked.sanitizing'),
        message('asked.wait'),
      )
  }

  /**
   * Starts the work as the active run and sends its events to every listener. `work` returns how
   * the run ended.
   */
  const begin = (
    work: (emit: (event: RunEvent) => void, signal: AbortSignal) => Promise<RunEnd>,
  ): ActiveRun => {
    refuseWhileBusy()
    const id = `run-${randomBytes(8).toString('hex')}`
    const abort = new AbortController()
    messages = []
    const finished = work((event) => {
      publish(id, event)
    }, abort.signal).then(
      (end) => {
        active = null
        publish(id, { type: 'finished', ...end })
      },
      (error: unknown) => {
        active = null
        publish(id, {
          type: 'finished',
          status: abort.signal.aborted ? 'cancelled' : 'failed',
          session: null,
          error: toErrorShape(error),
        })
      },
    )
    active = { id, abort, finished }
    return active
  }

  /** Starts a run. `onEnd` receives the session before the run is marked as ended. */
  const start = (
    request: CallInput<'run.start'> & object,
    onEnd: (session: Session | null, ref: string | null) => void = () => undefined,
  ): ActiveRun =>
    begin(async (emit, signal) => {
      const { session, folder, missing, unsaved } = await startRun(
        { params: {}, profile: 'card', ...request },
        { ...setup, appVersion, emit, signal },
      )
      const ref = folder === null ? null : refOf(session.target, folder, store)
      onEnd(folder === null ? null : session, ref)
      const error = unsaved ?? missing
      return { status: session.completion, session: ref, ...(error ? { error } : {}) }
    })

  const labs = createLabCalls(
    setup,
    (work) =>
      begin(async (emit, signal) => ({ status: 'complete', ...(await work(emit, signal)) })).id,
  )

  const watch = createWatchJob(setup, {
    isBusy: () => active !== null || sanitizer.active,
    start: async (request) => {
      let ended: { session: Session | null; ref: string | null } = { session: null, ref: null }
      await start(request, (session, ref) => (ended = { session, ref })).finished
      const last = messages.at(-1)?.event
      if (ended.session === null && last?.type === 'finished' && last.status === 'failed')
        throw new KernelLadderError(
          last.error?.kind ?? 'failed',
          last.error?.message ?? message('asked.runFailed'),
          last.error?.remedy,
        )
      return ended
    },
  })

  const has = async (tool: 'nvidia-smi' | 'nvcc'): Promise<boolean> =>
    (await machine.toolbox(null).locate(tool)) !== null

  const handlers = {
    'app.info': async () => {
      const gpu = await has('nvidia-smi')
      const own = gpu ? (await listAll(places)).find(isReadableLive) : undefined
      return {
        version: appVersion,
        host: options.host,
        defaultSession:
          places.mounted !== undefined
            ? mountedRef(places.mounted)
            : (own?.ref ?? (await defaultRecordingRef(places))),
        hasGpu: gpu,
        hasCompiler: await has('nvcc'),
        predictedGpus: await listGpus(gpuFolders(setup)),
        hasEditor: hasEditor(machine),
        // Ignore an invalid machines file here. A call that needs a machine from the file reports
        // the error.
        machines: Object.keys(await readMachines(machine.folders.config).catch(() => ({}))),
      }
    },
    'editor.open': async ({ session: ref, rung: id, line }: CallInput<'editor.open'>) => {
      const opened = await open(ref)
      const rung = rungOf(opened.session, id)
      if (!rung) throw inputError(message('sessions.noRung', { rung: JSON.stringify(id) }))
      await openInEditor(setup, opened, rung, line)
      return {}
    },
    'doctor.check': () => diagnose(machine, assets),
    'ladders.list': async () => {
      const catalog = await readCatalog(assets.kernelsDir)
      const problems = [...catalog.faults.values()].map(inEnglish)
      const ladders = catalog.ladders.flatMap((file) => {
        try {
          return [resolveLadder(catalog, file)]
        } catch (error) {
          problems.push(inEnglish(toErrorShape(error).message))
          return []
        }
      })
      return { ladders, problems: [...new Set(problems)] }
    },
    'ladders.measured': async ({ ladder }: CallInput<'ladders.measured'>) => {
      return measuredRungs(setup, await readCatalog(assets.kernelsDir), ladder)
    },
    'sessions.list': () => listAll(places),
    'sessions.history': ({ ladder }: CallInput<'sessions.history'>) => findHistory(places, ladder),
    'sessions.get': async ({ ref }: CallInput<'sessions.get'>) => (await open(ref)).session,
    'sessions.sources': async ({ ref }: CallInput<'sessions.sources'>) => (await open(ref)).sources,
    'sessions.next': async ({ ref, rung: id }: CallInput<'sessions.next'>) => {
      const found = await open(ref)
      const rung = rungOf(found.session, id)
      if (!rung) throw inputError(message('sessions.noRung', { rung: JSON.stringify(id) }))
      return adviseOn(setup, found, rung)
    },
    'sessions.firstSteps': async ({ ref, rungs }: CallInput<'sessions.firstSteps'>) => {
      const found = await open(ref)
      const steps: CallOutput<'sessions.firstSteps'> = {}
      for (const id of rungs) {
        const rung = rungOf(found.session, id)
        if (rung) steps[id] = await adviseFirst(setup, found, rung)
      }
      return steps
    },
    'sessions.deep': async ({ ref, rung }: CallInput<'sessions.deep'>) =>
      (await open(ref)).deep(rung),
    'sessions.rename': async ({ ref, title }: CallInput<'sessions.rename'>) => {
      await renameSession(places, ref, title)
      return {}
    },
    'sessions.delete': async ({ ref }: CallInput<'sessions.delete'>) => {
      await deleteSession(places, ref)
      opened.delete(ref)
      return {}
    },
    'sessions.restore': async ({ ref }: CallInput<'sessions.restore'>) => {
      await restoreSession(places, ref)
      opened.delete(ref)
      return {}
    },
    'sessions.deleted': () => deletedSessions(places),
    'report.make': async ({ ref, compare, ...choice }: CallInput<'report.make'>) => {
      const first = await open(ref)
      const opened =
        compare === undefined ? ([first] as const) : ([first, await open(compare)] as const)
      const tools = { assets, places, drawInPage, printPdf: options.printPdf ?? printPdf }
      return makingReports.make((onStage) => answerReport({ ...tools, onStage }, opened, choice))
    },
    'report.current': () => Promise.resolve({ stage: makingReports.stage }),
    'run.start': (request: CallInput<'run.start'>) => Promise.resolve({ runId: start(request).id }),
    'run.cancel': ({ runId }: CallInput<'run.cancel'>) => {
      if (active?.id !== runId) throw inputError(message('asked.runOver'))
      active.abort.abort()
      return Promise.resolve({})
    },
    'run.current': () => Promise.resolve({ messages, active: active !== null }),
    'sanitize.start': (request: SanitizeRequest) => {
      refuseWhileBusy()
      sanitizer.start(request)
      return Promise.resolve({})
    },
    'sanitize.cancel': () => {
      sanitizer.cancel()
      return Promise.resolve({})
    },
    'sanitize.current': () => Promise.resolve(sanitizer.current()),
    'drafts.place': (request: CallInput<'drafts.place'>) => drafts.place(request),
    'drafts.open': (request: CallInput<'drafts.open'>) => drafts.open(request),
    'drafts.list': () => drafts.list(),
    'drafts.save': (request: CallInput<'drafts.save'>) => drafts.save(request),
    'drafts.delete': async ({ id }: CallInput<'drafts.delete'>) => {
      await drafts.remove(id)
      return {}
    },
    'drafts.counters': (request: CallInput<'drafts.counters'>) => drafts.counters(request),
    'drafts.build': (request: CallInput<'drafts.build'>) => drafts.build(request),
    ...folderCalls(setup),
    ...machineCalls(setup),
    ...ncuReports.calls,
    ...tuningCalls(setup),
    ...watch.calls,
    ...labs,
  } satisfies Handlers

  return {
    call: (name, input) => (handlers[name] as (input: unknown) => Promise<never>)(input),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    importFile: (path) => importFile(path, { store, appVersion }),
    async close() {
      watch.stop()
      ncuReports.close()
      active?.abort.abort()
      await active?.finished
      await sanitizer.close()
    },
  }
}

/**
 * Whether the UI can show this session at startup. A session from a machine without a GPU has no
 * times to show.
 */
const isReadableLive = (summary: SessionSummary): boolean => {
  const { damaged, deviceName } = summary
  return isOwnRun(summary) && damaged === undefined && deviceName !== null
}

/**
 * Returns a session's ref, or null for a folder outside the store. A run is saved outside the store
 * if writing to the store fails.
 */
const refOf = (target: Target, folder: string, store: string): string | null =>
  can(target).replays
    ? recordedRef(target.name)
    : dirname(folder) === resolve(store)
      ? basename(folder)
      : null
