/**
 * Checks a submission. The submission is built as a rung together with the rungs that its lab
 * names. The submission is measured and profiled like any run, and then judged. Checks that this
 * machine cannot perform are reported and never count as passed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Machine, Setup } from '../../adapters/machine/machine'
import { sha256 } from '../../adapters/disk/build-cache'
import { stageFolder } from '../../adapters/disk/staging'
import {
  sessionFolder,
  writeAttempt,
  type LabAttempt,
  type SanitizerVerdicts,
} from '../../adapters/labs/attempt'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import type { RunEvent } from '../../contract'
import { message, says, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError, toErrorShape, type ErrorShape } from '../../domain/errors'
import { judgeChecks } from '../../domain/labs/judge/judge'
import { submissionId, type LabEvidence } from '../../domain/labs/judge/evidence'
import { judgePredictions, judgeQuestions } from '../../domain/labs/reflect'
import {
  labOutcomeVersion,
  outcomeStatus,
  type LabAnswers,
  type LabOutcome,
} from '../../domain/labs/outcome'
import { emulatedLab } from '../../domain/labs/emulated-lab'
import type { Lab } from '../../domain/labs/lab'
import { rungOf, type Session } from '../../domain/session/session'
import {
  can,
  gpuOfTarget,
  parseTarget,
  type LabTarget,
  type Target,
} from '../../domain/targets/targets'
import { occupancyTable, tryBuild } from './build-submission'
import { planLab, type LabPlan } from './plan-lab'
import { emulatedGpu } from '../run/emulated-gpu'
import { codeOf, recordedAttempt, sourceHash } from './recorded'
import { sanitizeSubmission } from './sanitize'
import { asRecording } from '../sessions/recordings'
import type { RunSettings } from '../run/run-settings'
import { smOf } from '../bench/architecture'
import { recordedEvidence } from '../../adapters/labs/recorded-attempts'
import { replay } from '../sessions/replay-recording'
import { runLive } from '../targets/run-local'
import { emulatePlan } from '../targets/run-emulated'
import { predictPlan } from '../targets/run-predicted'

interface LabCheckRequest {
  lab: LabFolder
  source: string
  answers: LabAnswers
  target: LabTarget
}

interface LabCheckOptions extends Setup {
  appVersion: string
  /** The attempt's output folder, which must not exist. */
  out: string
  settings?: Partial<RunSettings>
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

type BuildReport = LabOutcome['build']

/** Evidence that the tools collected for the checks. */
interface Gathered {
  evidence: LabEvidence
  build: BuildReport
  target: Target
  remedy: Statement | null
  /** The lab version that was checked. Absent if the checked version is the author's version. */
  lab?: Lab
}

const notBuilt = (reason: Statement): BuildReport => ({
  ok: false,
  architecture: null,
  reason,
  resources: null,
  diagnostics: [],
  occupancy: [],
})

/** Returns the build result and the reason that the submission did not run. */
async function gatherBuild(
  machine: Machine,
  lab: LabPlan,
  why: Pick<ErrorShape, 'message' | 'remedy'>,
  target: Target,
  signal: AbortSignal,
): Promise<Gathered> {
  const reason = why.message
  const remedy = why.remedy ?? null
  const built = await tryBuild(machine, lab, signal)
  if ('missing' in built)
    return {
      target,
      remedy,
      build: notBuilt(built.missing),
      evidence: {
        session: null,
        reason: isDeepStrictEqual(reason, built.missing) ? reason : together(reason, built.missing),
        build: null,
        sanitized: {},
      },
    }
  const { architecture, outcome } = built
  const ok = outcome.artifact !== null
  return {
    target,
    remedy,
    build: {
      ok,
      architecture,
      reason: outcome.reason ?? null,
      resources: outcome.build,
      diagnostics: outcome.diagnostics,
      occupancy: occupancyTable(architecture.slice('sm_'.length), outcome.build),
    },
    evidence: {
      session: null,
      reason,
      build: { ok, resources: outcome.build, reason: outcome.reason ?? null },
      sanitized: {},
    },
  }
}

function gatherSession(
  session: Session,
  sanitized: SanitizerVerdicts,
  missing: ErrorShape | null,
  sm = session.device ? smOf(session.device) : null,
): Gathered {
  const own = rungOf(session, submissionId)
  const ok = own?.build != null
  const failure = ok ? null : (own?.reason ?? message('checks.notBuilt'))
  return {
    target: session.target,
    remedy: missing?.remedy ?? null,
    build: {
      ok,
      architecture: sm === null ? null : `sm_${sm}`,
      reason: failure,
      resources: own?.build ?? null,
      diagnostics: own?.diagnostics ?? [],
      occupancy: sm === null ? [] : occupancyTable(sm, own?.build ?? null),
    },
    evidence: {
      session,
      reason: missing?.message ?? null,
      build: { ok, resources: own?.build ?? null, reason: failure },
      sanitized,
    },
  }
}

async function gatherLocal(
  request: LabCheckRequest,
  lab: LabPlan,
  folder: string,
  options: LabCheckOptions,
): Promise<Gathered> {
  const { signal } = options
  try {
    const { session, missing, unsaved } = await runLive(lab.catalog, lab.plan, {
      assets: options.assets,
      machine: options.machine,
      out: sessionFolder(folder),
      appVersion: options.appVersion,
      ...(options.settings ? { settings: options.settings } : {}),
      emit: options.emit,
      signal,
    })
    if (signal.aborted) throw new KernelLadderError('cancelled', message('labs.cancelled'))
    if (unsaved) throw new KernelLadderError(unsaved.kind, unsaved.message, unsaved.remedy)
    const own = rungOf(session, submissionId)
    const hung = own?.status === 'failed' && says(own.reason, 'records.hung')
    const sanitized =
      own?.build && !hung ? await sanitizeSubmission(request.lab.lab, lab.catalog, options) : {}
    const gathered = gatherSession(session, sanitized, missing)
    if (own?.status !== 'unsupported') return gathered
    // The compiler supports the code, but the GPU is too old to run it.
    const { build, evidence } = await gatherBuild(
      options.machine,
      lab,
      { message: own.reason ?? '' },
      session.target,
      signal,
    )
    return { ...gathered, build, evidence: { ...gathered.evidence, build: evidence.build } }
  } catch (error) {
    const why = toErrorShape(error)
    if (why.kind !== 'missing') throw error
    // Advice about targets without a GPU applies to ladders but not to labs.
    const remedy = says(why.remedy, 'doctor.useGpu') ? message('checks.useGpu') : why.remedy
    return gatherBuild(
      options.machine,
      lab,
      { message: why.message, ...(remedy ? { remedy } : {}) },
      { kind: 'live', name: 'local' },
      signal,
    )
  }
}

const launchMetrics = new Set(['wavesPerSm', 'theoreticalOccupancy'])

/**
 * Whether a check depends on how well launches fill the GPU and must therefore be evaluated at the
 * lab's full size.
 */
const judgesLaunches = ({ checks }: Lab): boolean =>
  checks.some((check) => check.kind === 'metric' && launchMetrics.has(check.metric))

/**
 * Collects evidence without a GPU. The evidence includes times only if the target predicts them
 * with the timing model.
 */
async function gatherEmulated(
  request: LabCheckRequest,
  folder: string,
  options: LabCheckOptions,
): Promise<Gathered> {
  const { lab: whole } = request.lab
  const full = planLab(request.lab, request.source).plan
  const lab = emulatedLab(whole, full.task)
  const own = planLab({ ...request.lab, lab }, request.source)
  const { catalog, plan } = own
  const target = parseTarget(request.target)!
  const { name, gpu } = emulatedGpu(target.name)
  // The ladder's reference is needed only for time ratios. The reference is usually a library,
  // which cannot be emulated.
  const rungs = { ...plan, rungs: plan.rungs.filter((rung) => rung !== plan.reference) }
  const launchesAt = {
    problem: full.problem,
    verified: judgesLaunches(lab) ? [submissionId] : [],
  }
  const out = { ...options, out: sessionFolder(folder) }
  const { session, missing, unsaved } = await (can(target).predicts
    ? predictPlan(catalog, rungs, name, out, {
        ...{ launchesAt, checkAt: plan.problem, predictAt: full.problem },
      })
    : emulatePlan(catalog, rungs, name, out, { launchesAt }))
  if (options.signal.aborted) throw new KernelLadderError('cancelled', message('labs.cancelled'))
  if (unsaved) throw new KernelLadderError(unsaved.kind, unsaved.message, unsaved.remedy)
  const sanitized = rungOf(session, submissionId)?.build
    ? await sanitizeSubmission(lab, catalog, { ...options, emulated: gpu })
    : {}
  return { ...gatherSession(session, sanitized, missing, smOf(gpu)), lab }
}

async function gatherRecorded(
  { lab, source }: LabCheckRequest,
  plan: LabPlan,
  options: LabCheckOptions,
): Promise<Gathered> {
  const hash = sourceHash(source)
  const which = codeOf(lab, hash)
  const none = (why: Statement): Promise<Gathered> =>
    gatherBuild(
      options.machine,
      plan,
      { message: why },
      { kind: 'recorded', name: 'none' },
      options.signal,
    )
  if (which === 'own') return none(message('checks.notTheirs'))
  const recorded = await recordedAttempt(options.assets, lab.id, which)
  if (!recorded)
    return none(
      message(which === 'starter' ? 'checks.starterNotRecorded' : 'checks.solutionNotRecorded'),
    )
  const kept = await recordedEvidence(recorded)
  const own = rungOf(kept.session, submissionId)
  if (own && own.sourceHash !== sha256(source) && own.sourceHash !== hash)
    return none(message('checks.changedSince', { file: lab.lab[which], recording: recorded.name }))
  const recording = asRecording(recorded.name, recorded.folder, kept.session)
  if (!recording) return none(message('checks.nothingMeasured'))
  const { session, missing } = await replay(
    recording,
    { params: {}, profile: kept.session.settings.profile },
    options.emit,
    options.signal,
  )
  return gatherSession(session, kept.sanitized, missing)
}

function outcomeOf(
  whole: Lab,
  source: string,
  answers: LabAnswers,
  { evidence, build, target, remedy, lab = whole }: Gathered,
): LabOutcome {
  const checks = judgeChecks(lab, evidence)
  const status = outcomeStatus(checks, can(target), lab.starterFails)
  const untimed = checks.filter((check) => check.status === 'unavailable').map(({ id }) => id)
  const aboutTime =
    status === 'unavailable' &&
    evidence.session !== null &&
    !can(target).times &&
    lab.starterFails?.every((id) => untimed.includes(id))
      ? message('checks.aboutTime', { checks: untimed.join(', ') })
      : null
  const device = evidence.session && (evidence.session.device ?? gpuOfTarget(target))
  return {
    schema: labOutcomeVersion,
    lab: lab.id,
    title: lab.title,
    createdAt: new Date().toISOString(),
    status,
    target,
    device: device ? { name: device.name, computeCapability: device.computeCapability } : null,
    cacheState:
      evidence.session?.rungs.find(({ id }) => id === submissionId)?.timing?.cacheState ?? null,
    reason: evidence.reason === null ? (remedy ?? aboutTime) : together(evidence.reason, remedy),
    sourceHash: sourceHash(source),
    build,
    checks,
    predictions: judgePredictions(lab, evidence, answers),
    // Questions refer to the lab's full size, even if a smaller size was emulated.
    questions: judgeQuestions(whole, evidence, answers, lab.size),
  }
}

/**
 * Checks a submission and saves the attempt. Throws an error if the check is canceled, or if it
 * fails for a reason other than the submission or a missing requirement. The attempt's folder is
 * created atomically. If `out` exists, the folder gets a similar available name.
 */
export async function checkLab(
  request: LabCheckRequest,
  options: LabCheckOptions,
): Promise<LabAttempt & { folder: string }> {
  const lab = planLab(request.lab, request.source)
  const staged = await stageFolder(options.out)
  try {
    const { replays, times } = can(parseTarget(request.target)!)
    const gathered = await (replays
      ? gatherRecorded(request, lab, options)
      : times
        ? gatherLocal(request, lab, staged.path, options)
        : gatherEmulated(request, staged.path, options))
    const attempt = {
      answers: request.answers,
      outcome: outcomeOf(request.lab.lab, request.source, request.answers, gathered),
    }
    await writeAttempt(
      staged.path,
      attempt,
      request.source,
      gathered.evidence.sanitized as SanitizerVerdicts,
    )
    return { ...attempt, folder: await staged.commit() }
  } catch (error) {
    await staged.discard()
    throw error
  }
}
