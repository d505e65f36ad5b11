/**
 * Defines the tools that import, build or run code. The tools access only allowed folders, and use
 * a GPU only with the user's permission.
 */
import { basename } from 'node:path'
import { z } from 'zod'
import { readSubmission } from '../../adapters/labs/workspace'
import type { RunEvent } from '../../contract'
import { inputError, KernelLadderError } from '../../domain/errors'
import { profileLevels, type ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Diagnostic, Session } from '../../domain/session/session'
import { can, labTargets, parseTarget, targetUsage } from '../../domain/targets/targets'
import { inEnglish } from '../../domain/text/english'
import { importReport } from '../../services/import/import-ncu'
import { checkLab } from '../../services/labs/check'
import { openLab } from '../../services/labs/find-lab'
import type { FinishedRun } from '../../services/targets/saved-run'
import { startRun } from '../../services/targets/start-run'
import { appVersion } from '../../services/version'
import { type AddTool, type Call, type Workplace } from './tool'
import { rungFacts } from './facts'
import { openedLadder } from './read-tools'
import { recordedRef } from '../../domain/session/session-ref'
import { isHtmlFile } from '../../adapters/sessions/html-report-file'
import { importHtml } from '../../services/import/import-html'
import { isShipped, requireTrust } from '../../services/labs/trust'
import { newAttemptFolder } from '../../adapters/labs/progress'
import { attemptSession } from '../../services/sessions/attempt-sessions'
import { trustFolder } from '../../services/folders/folder-trust'
import { storeOf } from '../../services/sessions/session-places'
import { counted, page, type Answer } from './answers'

const mostRungs = 50

/** Input fields that select a ladder, its rungs and the problem. */
const problemInput = {
  ladder: z.string().min(1).max(4096).describe('an id as listed by `ladders`, or a ladder folder'),
  rungs: z.array(z.string().max(200)).max(200).optional().describe('only these rungs'),
  size: z.number().int().positive().optional().describe('for every size of the task'),
  at: z
    .record(z.string().max(100), z.union([z.number(), z.string().max(100)]))
    .optional()
    .describe('values by the names of the ladder’s task'),
}

type RunAsked = z.output<z.ZodObject<typeof problemInput>> & {
  target: string
  profile: ProfileLevel
}

/** Returns a listener that reports a run's progress to the client. */
const progressOf =
  ({ progress }: Call) =>
  (event: RunEvent): void => {
    if (event.type === 'stage') progress(`${event.stage}: ${event.done} of ${event.total}`)
    else if (event.type === 'rung' && event.state === 'running')
      progress(`${event.rung}: ${event.stage}`)
    else if (event.type === 'log') progress(inEnglish(event.message))
  }

/**
 * Returns the compiler's first five errors and warnings. Omits the key if the list is empty.
 */
const compilerMessages = (diagnostics: readonly Diagnostic[]): object =>
  Object.fromEntries(
    (['error', 'warning'] as const).flatMap((severity) => {
      const lines = diagnostics
        .filter((one) => one.severity === severity)
        .slice(0, 5)
        .map(({ file, line, message }) => `${file ?? ''}:${line ?? ''}: ${severity}: ${message}`)
      return lines.length === 0 ? [] : [[`${severity}s`, lines]]
    }),
  )

const sessionAnswer = (session: Session, ref: string | null): Answer => ({
  summary: `${session.ladder.title}: ${counted(session.rungs.length, 'rung')}, ${session.completion}.`,
  session: ref,
  ...page(
    session.rungs.map((rung) => ({
      ...rungFacts(session, rung),
      ...compilerMessages(rung.diagnostics),
    })),
    { from: 0, limit: mostRungs },
  ),
  warnings: session.warnings.map((one) => inEnglish(one)),
})

function finished({ session, folder, missing, unsaved }: FinishedRun, call: Call): Answer {
  if (session.completion === 'cancelled') call.signal.throwIfAborted()
  const failed = unsaved ?? missing
  if (failed && folder === null)
    throw new KernelLadderError(failed.kind, failed.message, failed.remedy)
  const { target } = session
  const ref = folder === null ? null : basename(folder)
  return sessionAnswer(session, can(target).replays ? recordedRef(target.name) : ref)
}

/**
 * Returns the requested target. If the user has not allowed the target, throws an error before
 * anything is built.
 */
function allowedTarget(word: string, { allowRun }: Workplace) {
  const target = parseTarget(word)
  if (!target)
    throw inputError(`${JSON.stringify(word)} is not a target.`, `Targets: ${targetUsage}.`)
  const { needsGpu, times, replays } = can(target)
  // Using a remote machine's GPU also requires permission.
  if ((needsGpu || (times && !replays)) && !allowRun)
    throw new KernelLadderError(
      'usage',
      'This server may not run code on a GPU.',
      'The user can start it with --allow-run. The targets recorded, emulated and static:h200 need no GPU.',
    )
  return target
}

export function addWorkTools(add: AddTool, place: Workplace): void {
  const { setup, fence } = place
  const { folders } = setup.machine

  const optionsOf = (call: Call) => ({
    ...setup,
    appVersion,
    settings: { waitForGpu: true },
    emit: progressOf(call),
    signal: call.signal,
  })

  const run = async (
    { ladder, target: word, rungs, size, at, profile }: RunAsked,
    call: Call,
  ): Promise<Answer> => {
    const target = allowedTarget(word, place)
    const { own } = await openedLadder(place, ladder)
    // The user allowed a folder that contains the ladder, which includes permission to build the
    // ladder's code.
    if (own && !can(target).replays) await trustFolder(folders, own.folder)
    return finished(
      await startRun(
        {
          ...{ ladder: own?.folder ?? ladder, target: word, profile, params: {} },
          ...(rungs === undefined ? {} : { rungs }),
          ...(size === undefined ? {} : { size }),
          ...(at === undefined ? {} : { at }),
        },
        optionsOf(call),
      ),
      call,
    )
  }

  /**
   * Returns a submission in an allowed folder, and its lab. The lab must be shipped, or trusted and
   * within an allowed folder.
   */
  const submitted = async (name: string, file: string) => {
    const path = await fence.within(file)
    const lab = await openLab(setup, /[\\/]/.test(name) ? await fence.within(name) : name)
    await requireTrust(setup, lab)
    return { lab, ...(await readSubmission(path, lab.lab)) }
  }

  add('import', {
    title: 'Import a report',
    description:
      'Saves a session in this user’s store; builds and runs nothing. Reads a .ncu-rep from Nsight Compute, a CSV of its raw or details page, or an HTML report of this program. Returns its kernels, each with its time and limit. Call `why` next.',
    input: { file: z.string().min(1).max(4096).describe('a file in one of the allowed folders') },
    effect: 'keeps',
    async answer({ file }) {
      const path = await fence.within(file)
      const options = { store: storeOf(setup), appVersion, names: new Map<string, string>() }
      const { session, folder } = (await isHtmlFile(path))
        ? await importHtml(path, options)
        : await importReport(path, options)
      return sessionAnswer(session, basename(folder))
    },
  })

  add('run', {
    title: 'Build and run a ladder',
    description:
      'Builds and runs code with the user’s permissions, and saves a session. Target recorded replays a recording and builds nothing; static:<gpu> compiles for a GPU without one; local measures on this GPU, only if the user started the server with --allow-run. Accepts only built-in ladders, and ladder folders inside the allowed folders.',
    input: {
      ...problemInput,
      target: z.string().max(200).default('recorded').describe(targetUsage),
      profile: z.enum(profileLevels).default('card'),
    },
    effect: 'works',
    answer: (request, call) => run(request, call),
  })

  add('emulate', {
    title: 'Count rungs without a GPU',
    description:
      'Builds rungs and runs them on a GPU that the CPU emulates, with the user’s permissions. Saves a session with counters by source line; nothing is timed. Then call `source`: sharedWavefrontsExcess finds bank conflicts, globalL2SectorsExcess uncoalesced accesses.',
    input: {
      ...problemInput,
      gpu: z.string().max(40).optional().describe('such as h200 or a100 (default: h200)'),
    },
    effect: 'works',
    answer: ({ gpu, ...request }, call) =>
      run(
        { ...request, target: gpu === undefined ? 'emulated' : `emulated:${gpu}`, profile: 'deep' },
        call,
      ),
  })

  add('lab_check', {
    title: 'Check a lab submission',
    description:
      'Builds and runs a student’s code with the user’s permissions, and saves an attempt. Target emulated uses an emulated GPU; local measures on this GPU, only with --allow-run; recorded returns the recorded results of built-in code without running it. Returns the verdict of each check, and a session for `source`.',
    input: {
      lab: z.string().min(1).max(4096).describe('the id of a lab, such as 07-bank-conflicts'),
      file: z.string().min(1).max(4096).describe('the submission, in one of the allowed folders'),
      target: z
        .enum(labTargets as [string, ...string[]])
        .default(place.allowRun ? 'local' : 'emulated'),
    },
    effect: 'works',
    async answer({ lab: name, file, target: word }, call) {
      allowedTarget(word, place)
      const { lab, ...submission } = await submitted(name, file)
      const key = isShipped(setup, lab) ? lab.id : `own:${lab.id}`
      const { outcome, folder } = await checkLab(
        { lab, ...submission, target: word },
        {
          ...optionsOf(call),
          out: newAttemptFolder(folders, key),
        },
      )
      const checks = outcome.checks.map(({ id, status, sentence }) => ({
        check: id,
        status,
        sentence: inEnglish(sentence),
      }))
      const open = checks.filter(({ status }) => status !== 'passed')
      return {
        summary:
          `${outcome.title}: ${outcome.status}. ${open.map(({ sentence }) => sentence).join(' ')}`.trim(),
        status: outcome.status,
        session: await attemptSession(folders, key, basename(folder), outcome),
        checks,
        ...compilerMessages(outcome.build.diagnostics),
        ...(outcome.reason === null ? {} : { reason: inEnglish(outcome.reason) }),
      }
    },
  })
}
