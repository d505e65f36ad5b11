/**
 * Profiles a user's program.
 *
 * A preview times every launch in one pass. Then ncu profiles the longest launches, in the shortest
 * window that contains them. The measured times are saved even if a later step fails.
 */
import { join } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { draftSession, type SessionDraft } from '../../adapters/sessions/session-store'
import { refuseTaken, takenMeanwhile } from '../../adapters/disk/staging'
import { readReportFile } from '../../adapters/sessions/report-file'
import { ncuVersion } from '../../adapters/tools/ncu'
import {
  asError,
  profileProgram,
  type LaunchFilters,
  type ProgramCall,
} from '../../adapters/tools/ncu-program'
import { askDriver, type NvidiaSmi } from '../../adapters/tools/gpus'
import { type PassOn } from '../../adapters/tools/process'
import { rawRecorder } from '../../adapters/tools/raw-files'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, missingError, type ErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { formatShare } from '../../domain/metrics/units'
import {
  functionOf,
  hottest,
  previewKernels,
  shortestWindow,
  type PreviewKernel,
} from '../../domain/programs/choose'
import type { DeepProfile } from '../../domain/session/deep'
import type { Session } from '../../domain/session/session'
import { Bench } from '../bench/bench'
import { timeLaunches, type TimedLaunches } from './time-launches'
import {
  commandWords,
  keyOfLaunch,
  toRungs,
  toSession,
  type KernelRung,
  type Profiled,
  type ProgramRequest,
} from './program-session'
import { inTurn } from '../bench/gpu-turn'
import { visibleGpu } from '../../adapters/tools/visible-gpu'
import { readDeepPages } from '../../adapters/tools/ncu-pages'
import { startable } from '../../adapters/tools/script-programs'
import { importCode, type ImportedCode } from '../import/imported-code'

export type ProgramEvent =
  | { type: 'preview' }
  /** Reports that another run uses the GPU, or that this run could not reserve the GPU. */
  | { type: 'notice'; notice: Statement }
  /**
   * Reports that a kernel did not finish while it ran alone. The program then runs again with
   * concurrent kernels.
   */
  | { type: 'stuck'; kernel: string }
  | { type: 'previewed'; kernels: number; launches: number; totalMs: number }
  | { type: 'profile'; kernels: number; launches: number }

export interface ProfileProgramOptions extends Setup, ProgramRequest {
  /** Whether to wait while another run uses the GPU. If false, the run fails instead. */
  waitForGpu?: boolean
  /** Time limit for each program run, in seconds. */
  timeoutSeconds: number
  /** Milliseconds that a launch may continue after ncu warns that the launch does not finish. */
  stuckAfterMs?: number
  /** Output folder to use instead of the store. The output folder must not exist yet. */
  out?: string
  /** Receives the program's output during the preview. */
  onOutput: PassOn
  emit: (event: ProgramEvent) => void
}

export interface ProfiledProgram {
  session: Session
  folder: string
  /** Reason that the session is not in the requested folder. */
  misplaced: ErrorShape | null
  /** Reason that ncu could not profile the kernels, although it could time them. */
  trouble: ErrorShape | null
}

/**
 * Maximum number of profiled launches. ncu's replay of a launch takes many times as long as the
 * launch itself.
 */
const mostProfiled = 200
/** Maximum number of rungs in a session. The limit for imports is the same. */
const mostRungs = 500

export async function profileACommand(options: ProfileProgramOptions): Promise<ProfiledProgram> {
  const { machine, command, filters, signal, out } = options
  checkPattern(filters.kernels)
  if (out !== undefined) await refuseTaken(out)
  const createdAt = new Date()
  const id = `profile-${slug(command)}-${stamp(createdAt)}`
  const draft = await draftSession(out ?? join(machine.folders.sessions, id))
  try {
    const toolbox = machine.toolbox(
      rawRecorder(draft.path, [{ path: draft.path, alias: '<session>' }, ...machine.aliases]),
    )
    const ncu = await toolbox.locate('ncu')
    if (!ncu)
      throw missingError(
        message('doctor.toolMissing', { tool: 'ncu' }),
        message('programs.installNcu'),
      )
    const version = await ncuVersion(toolbox, ncu, signal)
    const call: ProgramCall = {
      ncu,
      command: await startable(command),
      filters,
      timeoutMs: options.timeoutSeconds * 1000,
      ...(options.stuckAfterMs === undefined ? {} : { stuckAfterMs: options.stuckAfterMs }),
      signal,
      onOutput: options.onOutput,
    }
    const driver = await askDriver(toolbox, signal)
    const { timed, kernels, totalMs, profiled } = await inGpuTurn(
      toolbox,
      driver?.answer?.gpus ?? [],
      options,
      async () => {
        options.emit({ type: 'preview' })
        const seen = await timeLaunches({
          ...{ toolbox, call, onStuck: (kernel) => options.emit({ type: 'stuck', kernel }) },
          bench: () =>
            Bench.open(
              { toolbox, cache: machine.cache },
              { root: options.assets.kernelsDir, references: new Map() },
              signal,
            ),
        })
        const found = previewKernels(seen.launches)
        const sum = seen.launches.reduce((all, { ms }) => all + ms, 0)
        options.emit({
          type: 'previewed',
          kernels: found.length,
          launches: seen.launches.length,
          totalMs: sum,
        })
        const request = { ...options, toolbox, call, timed: seen, kernels: found, draft }
        return {
          ...{ timed: seen, kernels: found, totalMs: sum },
          profiled: await profileHottest(request),
        }
      },
    )
    const kept = keepHottest(kernels)
    const rungs = toRungs(kept, profiled.launches)
    const code = profiled.report
      ? importCode(profiled.report, rungs, 'profile.ncu-rep')
      : { deep: [], sources: new Map(), fileOf: new Map(), counted: false }
    const deep = await withText({ toolbox, call, code, rungs, draft, options })
    for (const profile of deep) await draft.addDeep(profile)
    for (const [path, text] of code.sources) await draft.addSource(path, text)
    const session = toSession({
      options,
      timed,
      profiled,
      rungs,
      code,
      kept,
      identity: { id, createdAt, version },
      driver: driver?.answer ?? null,
      warnings: [
        ...timed.warnings,
        ...(timed.whole
          ? []
          : [message('programs.firstLaunches', { count: timed.launches.length })]),
        ...(timed.gpus.size > 1
          ? [message('records.severalGpus', { count: timed.gpus.size })]
          : []),
        ...(timed.outcome === 'timeout'
          ? [message('programs.timedOut', { program: command[0], seconds: options.timeoutSeconds })]
          : []),
        ...(timed.exitCode !== 0 && timed.exitCode !== null
          ? [message('programs.exited', { program: command[0], exitCode: timed.exitCode })]
          : []),
        ...(kept.length < kernels.length
          ? [message('programs.left', { count: kept.length, total: kernels.length })]
          : []),
        ...unprofiledWarning(kept, profiled),
        ...profiled.warnings,
      ],
      totals: { launches: timed.launches.length, totalMs },
    })
    const folder = await draft.commit(session)
    return {
      session,
      folder,
      misplaced: out === undefined ? null : takenMeanwhile(out, folder),
      trouble: profiled.trouble,
    }
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/**
 * Runs the work while no other run of this program uses the expected GPU, which is CUDA's first
 * GPU. The user's command may select a different GPU.
 */
async function inGpuTurn<T>(
  toolbox: Toolbox,
  gpus: NvidiaSmi['gpus'],
  { machine, signal, emit, waitForGpu = true }: ProfileProgramOptions,
  work: () => Promise<T>,
): Promise<T> {
  const visible = visibleGpu(0, machine.variable('CUDA_VISIBLE_DEVICES'))
  const gpu = gpus[visible === null ? -1 : Number(visible)]
  if (!gpu?.pciBusId) return work()
  const { name, pciBusId } = gpu
  return inTurn(
    {
      ...{ toolbox, gpu: { name, pciBusId }, wait: waitForGpu, signal },
      onNotice: (notice) => emit({ type: 'notice', notice }),
    },
    work,
  )
}

/**
 * Checks a kernel pattern as a JavaScript regular expression. ncu's syntax differs, but most
 * mistakes are errors in both syntaxes.
 */
function checkPattern(kernels: string | null): void {
  if (kernels === null) return
  try {
    new RegExp(kernels)
  } catch (error) {
    throw inputError(
      message('programs.badFilter', {
        filter: JSON.stringify(kernels),
        text:
          error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : '',
      }),
    )
  }
}

/** Returns the hottest kernels, sorted by their first launches. */
function keepHottest(kernels: readonly PreviewKernel[]): PreviewKernel[] {
  const kept = new Set([...kernels].sort((a, b) => b.totalMs - a.totalMs).slice(0, mostRungs))
  return kernels.filter((kernel) => kept.has(kernel))
}

interface ToProfile extends ProfileProgramOptions {
  toolbox: Toolbox
  call: ProgramCall
  timed: TimedLaunches
  kernels: readonly PreviewKernel[]
  draft: SessionDraft
}

/**
 * Returns the filters for the profile, which runs after the preview. If the user requested no
 * filters, returns the shortest window of launches that contains all hot kernels.
 */
function filtersFor({
  call,
  timed: { launches },
  kernels,
}: ToProfile): { filters: LaunchFilters; kernels: number; launches: number } | null {
  const { filters } = call
  const chosen = hottest(kernels)
  const names = new Set(chosen.map(({ name }) => functionOf(name)))
  // With --skip, the kernels of the skipped launches are unknown, so launches can be counted only
  // across all kernels.
  const isCounted = filters.skip === 0
  const candidates = isCounted
    ? launches.filter(({ name }) => names.has(functionOf(name)))
    : launches
  // If the window of launches is too long, drop the least hot kernels first.
  for (let most = chosen.length; most > 0; most -= 1) {
    const window = shortestWindow(candidates, new Set(chosen.slice(0, most).map(({ key }) => key)))
    if (!window || window.count > mostProfiled) continue
    return {
      filters: {
        ...filters,
        kernels: isCounted ? `^(${[...names].map(escaped).join('|')})$` : filters.kernels,
        skip: filters.skip + window.skip,
        count: window.count,
      },
      kernels: most,
      launches: window.count,
    }
  }
  return null
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

async function profileHottest(request: ToProfile): Promise<Profiled> {
  const { toolbox, call, draft, level, signal, emit } = request
  const none = (warnings: Statement[], trouble: ErrorShape | null): Profiled => ({
    ...{ report: null, launches: [] },
    ...{ warnings, trouble },
  })
  if (signal.aborted) return none([message('programs.stopped')], null)
  if (request.timed.by === 'cupti') return none([], null)
  const plan = filtersFor(request)
  if (!plan) return none([], null)
  emit({ type: 'profile', kernels: plan.kernels, launches: plan.launches })
  const without = new Set<string>()
  const again = () =>
    profileProgram(toolbox, {
      ...call,
      level,
      filters: plan.filters,
      without,
      reportPath: draft.reportPath,
      // The program's output was already shown during the preview.
      onOutput: () => undefined,
    })
  let answer = await again()
  // ncu profiles nothing if it rejects a metric as unknown.
  while (answer.unknown.some((name) => !without.has(name)) && !signal.aborted) {
    for (const name of answer.unknown) without.add(name)
    answer = await again()
  }
  if (answer.outcome === 'cancelled') return none([message('programs.stopped')], null)
  const trouble = answer.failure && asError(answer.failure).toShape()
  try {
    const report = await readReportFile(draft.reportPath)
    return { report, launches: report.launches, warnings: report.notes, trouble }
  } catch {
    const why =
      trouble?.message ??
      (answer.outcome === 'timeout'
        ? message('programs.timedOut', {
            program: call.command[0],
            seconds: call.timeoutMs / 1000,
          })
        : message('tools.noKernels'))
    return none([message('programs.profileFailed', { why })], trouble)
  }
}

function unprofiledWarning(kept: readonly PreviewKernel[], { launches }: Profiled): Statement[] {
  if (launches.length === 0) return []
  const profiled = new Set(launches.map(keyOfLaunch))
  const left = kept.filter(({ key }) => !profiled.has(key))
  if (left.length === 0) return []
  const sum = (kernels: readonly PreviewKernel[]): number =>
    kernels.reduce((all, { totalMs }) => all + totalMs, 0)
  const hot = hottest(kept).filter(({ key }) => !profiled.has(key))
  return [
    message('programs.unprofiled', {
      count: left.length,
      share: formatShare(sum(left) / sum(kept)),
    }),
    ...(hot.length > 0 && !kept.some(({ key }) => profiled.has(key))
      ? [message('programs.changed', { count: hot.length })]
      : []),
  ]
}

/** Adds the disassembly that ncu prints, because a report contains only machine code. */
async function withText({
  toolbox,
  call,
  code,
  rungs,
  draft,
  options,
}: {
  toolbox: Toolbox
  call: ProgramCall
  code: ImportedCode
  rungs: readonly KernelRung[]
  draft: SessionDraft
  options: ProfileProgramOptions
}): Promise<DeepProfile[]> {
  if (options.level !== 'deep' || code.deep.length === 0 || options.signal.aborted) return code.deep
  const scratch = await toolbox.scratch()
  try {
    const launches = rungs.flatMap(({ id, launches: own }) =>
      own.map((launch) => ({ ...launch, rung: id })),
    )
    const { byRung } = await readDeepPages(
      toolbox,
      {
        ncu: call.ncu,
        reportPath: draft.reportPath,
        env: { TMPDIR: scratch.path },
        signal: options.signal,
      },
      launches.sort((a, b) => a.id - b.id),
    )
    return code.deep.map((own) => {
      const printed = byRung.get(own.rung)
      return printed?.kernels.some(({ instructions }) => instructions.length > 0) ? printed : own
    })
  } finally {
    await scratch.remove()
  }
}

const slug = (command: readonly string[]): string =>
  commandWords(command)
    .replaceAll(/[^A-Za-z0-9_]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40)
    .replace(/-+$/, '') || 'program'

const stamp = (date: Date): string =>
  date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
