/** Implements the contract's `labs.*` calls. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { readAttempt, readAttemptSource } from '../../adapters/labs/attempt'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import type { CallInput, CallName, CallOutput, Calls, RunEvent } from '../../contract'
import type { AttemptSummary, LabSummary, LabView } from '../../contract/labs'
import type { z } from 'zod'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { profileLevelOf } from '../../domain/labs/lab'
import { checkTitle, metricLabel } from '../../domain/labs/judge/check-title'
import { changeAnswers, noAnswers, type LabAnswersChange } from '../../domain/labs/outcome'
import { buildSubmission, occupancyTable } from './build-submission'
import { planLab } from './plan-lab'
import { checkLab } from './check'
import { attemptsAt, hasPassed, standingIn } from './lab-progress'
import { recordedOutcomes } from './recorded'
import { addLab, allLabs, findLab } from './find-lab'
import { appVersion } from '../version'
import { isShipped, isTrusted, requireTrust, trustLab } from './trust'
import {
  attemptsDir,
  changeProgress,
  newAttemptFolder,
  readProgress,
  type LabProgress,
} from '../../adapters/labs/progress'
import { attemptSession } from '../sessions/attempt-sessions'

/** Type of a call's input after the schema has validated it and filled in defaults. */
type ParsedInput<N extends CallName> = z.output<Calls[N]['input']>

/**
 * A check of a lab submission that runs in the background. The check emits events and may end
 * without a session.
 */
type LabRun = (
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
) => Promise<{ session: string | null }>

const pictureTypes: Record<string, string> = { svg: 'image/svg+xml', png: 'image/png' }

const dataUri = (path: string, bytes: Uint8Array): string =>
  `data:${pictureTypes[path.split('.').pop() ?? ''] ?? 'application/octet-stream'};base64,${Buffer.from(bytes).toString('base64')}`

/**
 * Whether predictions are locked. Predictions are locked once the user has measured a submission,
 * because the measurement reveals the answers. Measuring the starter does not reveal answers or
 * lock predictions.
 */
const isSealed = (attempts: readonly AttemptSummary[], { since }: LabProgress): boolean =>
  attempts.some(
    ({ session, createdAt, code }) => session !== null && createdAt > since && code !== 'starter',
  )

async function filesOf({ folder, files }: LabFolder): Promise<LabView['files']> {
  return Promise.all(
    files.map(async (path) => ({
      path,
      text: new TextDecoder().decode(await readFile(join(folder, path))),
    })),
  )
}

async function viewOf(setup: Setup, ref: string, folder: LabFolder): Promise<LabView> {
  const { folders } = setup.machine
  const { lab } = folder
  const [progress, attempts, trusted] = [
    await readProgress(folders, ref),
    await attemptsAt(folders, ref, folder),
    await isTrusted(setup, folder),
  ]
  const sealed = isSealed(attempts, progress)
  const open = hasPassed(attempts) || progress.solutionAsked > 1
  return {
    ref,
    id: lab.id,
    title: lab.title,
    summary: lab.summary,
    minutes: lab.minutes,
    before: lab.before,
    target: lab.target,
    options: lab.options,
    size: lab.size,
    body: lab.body,
    pictures: Object.fromEntries(
      [...folder.pictures].map(([path, bytes]) => [path, dataUri(path, bytes)]),
    ),
    checks: lab.checks.map((check) => ({
      id: check.id,
      kind: check.kind,
      title: checkTitle(check),
    })),
    predictions: lab.predictions.map(({ id, metric, against, ask, factor, tolerance }) => ({
      id,
      metric,
      label: metricLabel(metric),
      against: against ?? lab.before,
      ask,
      factor,
      tolerance,
    })),
    questions: lab.questions.map(({ id, ask, unit, explain }) => ({
      id,
      ask,
      unit,
      explain: sealed && progress.answers.questions[id] !== undefined ? (explain ?? null) : null,
    })),
    source: lab.source ?? null,
    surprise: sealed ? (lab.surprise ?? null) : null,
    starter: folder.starter,
    draft: progress.draft ?? folder.starter,
    draftAt: progress.draftAt,
    answers: progress.answers,
    predictionsSealed: sealed,
    hints: { total: lab.hints.length, shown: lab.hints.slice(0, progress.hintsShown) },
    solution: open ? folder.solution : null,
    solutionAsked: progress.solutionAsked,
    recorded: await recordedOutcomes(setup.assets, folder),
    attempts,
    trusted,
    contentHash: folder.contentHash,
    files: trusted ? [] : await filesOf(folder),
    folder: isShipped(setup, folder) ? null : folder.folder,
  }
}

async function listOf(setup: Setup): Promise<CallOutput<'labs.list'>> {
  const { labs, problems } = await allLabs(setup)
  return {
    problems,
    labs: await Promise.all(
      labs.map(async ({ ref, lab: folder }): Promise<LabSummary> => {
        const { folders } = setup.machine
        const { id, title, summary, minutes, needs } = folder.lab
        return {
          ref,
          id,
          title,
          summary,
          minutes,
          needs: needs.labs,
          counters: profileLevelOf(folder.lab) !== 'none',
          trusted: await isTrusted(setup, folder),
          ...(await standingIn(folders, ref, folder)),
        }
      }),
    ),
  }
}

/** Checks that a client's answers refer only to parts of the lab. */
function checkAnswers({ lab }: LabFolder, answers: LabAnswersChange): void {
  const absent = { predictions: 'labs.noPrediction', questions: 'labs.noQuestion' } as const
  for (const group of ['predictions', 'questions'] as const)
    for (const id of Object.keys(answers[group] ?? {}))
      if (!lab[group].some((part) => part.id === id))
        throw inputError(message(absent[group], { lab: lab.id, id: JSON.stringify(id) }))
}

/**
 * Returns the handlers for the `labs.*` calls. `startRun` starts a check in the same way as a run.
 */
export function createLabCalls(setup: Setup, startRun: (work: LabRun) => string) {
  const { machine } = setup
  const { folders } = machine
  const usable = async (ref: string): Promise<LabFolder> => {
    const lab = await findLab(setup, ref)
    await requireTrust(setup, lab)
    return lab
  }
  return {
    'labs.list': () => listOf(setup),
    'labs.get': async ({ ref }: CallInput<'labs.get'>) =>
      viewOf(setup, ref, await findLab(setup, ref)),
    'labs.save': async ({ ref, draft, answers }: ParsedInput<'labs.save'>) => {
      const lab = await findLab(setup, ref)
      if (answers) checkAnswers(lab, answers)
      const sealed = answers
        ? isSealed(await attemptsAt(folders, ref, lab), await readProgress(folders, ref))
        : false
      const given = sealed ? { questions: answers?.questions } : answers
      let other: string | null = null
      const { draftAt } = await changeProgress(folders, ref, (progress) => {
        const isNewer = draft !== undefined && progress.draftAt !== draft.replaces
        if (isNewer) other = progress.draft ?? lab.starter
        return {
          ...progress,
          ...(draft && !isNewer ? { draft: draft.source, draftAt: new Date().toISOString() } : {}),
          ...(given ? { answers: changeAnswers(progress.answers, given) } : {}),
        }
      })
      return { draftAt, other }
    },
    'labs.hint': async ({ ref }: CallInput<'labs.hint'>) => {
      const { lab } = await findLab(setup, ref)
      const { hintsShown } = await changeProgress(folders, ref, (progress) => ({
        ...progress,
        hintsShown: Math.min(progress.hintsShown + 1, lab.hints.length),
      }))
      return { shown: lab.hints.slice(0, hintsShown) }
    },
    'labs.solution': async ({ ref }: CallInput<'labs.solution'>) => {
      const lab = await findLab(setup, ref)
      const passed = hasPassed(await attemptsAt(folders, ref, lab))
      const { solutionAsked } = await changeProgress(folders, ref, (progress) => ({
        ...progress,
        solutionAsked: progress.solutionAsked + 1,
      }))
      return { asked: solutionAsked, solution: passed || solutionAsked > 1 ? lab.solution : null }
    },
    'labs.reset': async ({ ref }: CallInput<'labs.reset'>) => {
      await findLab(setup, ref)
      await changeProgress(folders, ref, (progress) => ({
        ...progress,
        draft: null,
        draftAt: null,
        answers: noAnswers,
        since: new Date().toISOString(),
      }))
      return {}
    },
    'labs.build': async ({ ref, source }: CallInput<'labs.build'>) => {
      const lab = await usable(ref)
      const plan = planLab(lab, source)
      const { architecture, own, outcome } = await buildSubmission(
        machine,
        plan,
        new AbortController().signal,
      )
      return {
        ok: outcome.artifact !== null,
        architecture,
        reason: outcome.reason ?? null,
        resources: outcome.build,
        diagnostics: outcome.diagnostics,
        occupancy: occupancyTable(architecture.slice('sm_'.length), outcome.build),
        ownGpu: own,
      }
    },
    'labs.check': async ({ ref, source, target }: CallInput<'labs.check'>) => {
      const lab = await usable(ref)
      const { answers } = await readProgress(folders, ref)
      const runId = startRun(async (emit, signal) => {
        const { outcome, folder } = await checkLab(
          { lab, source, answers, target },
          { ...setup, appVersion, out: newAttemptFolder(folders, ref), emit, signal },
        )
        return { session: await attemptSession(folders, ref, basename(folder), outcome) }
      })
      return { runId }
    },
    'labs.attempt': async ({ ref, id }: CallInput<'labs.attempt'>) => {
      await findLab(setup, ref)
      const folder = join(attemptsDir(folders, ref), id)
      const { outcome, answers } = await readAttempt(folder)
      return { outcome, answers, source: await readAttemptSource(folder) }
    },
    'labs.add': async ({ folder }: CallInput<'labs.add'>) => ({
      ref: await addLab(setup, folder),
    }),
    'labs.trust': async ({ ref, contentHash }: CallInput<'labs.trust'>) => {
      const lab = await findLab(setup, ref)
      if (lab.contentHash !== contentHash)
        throw inputError(message('labs.changed'), message('labs.lookAgain'))
      await trustLab(folders, lab)
      return {}
    },
  }
}
