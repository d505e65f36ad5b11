/**
 * Grades a folder of submissions.
 *
 * Each submission has a separate judge process, which runs only trusted code (judge-process.ts).
 * The lab's own solution is graded first, to detect a machine on which every submission fails.
 * Every submission gets a row and a record from which the row can be reproduced.
 */
import { createHash } from 'node:crypto'
import { chmod, readFile, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { message, type Statement } from '../../domain/messages/message'
import { makeFolder } from '../../adapters/disk/disk'
import { removeTree } from '../../adapters/sandbox/view'
import {
  newRecordFolder,
  recordPath,
  writeRecord,
  type GradeRecord,
} from '../../adapters/labs/grade-records'
import { readHandedIn } from '../../adapters/labs/workspace'
import type { HostMachine } from '../../adapters/machine/machine'
import { askDriver } from '../../adapters/tools/gpus'
import type { Isolation } from '../../adapters/sandbox/isolation'
import { findSandbox } from '../../adapters/sandbox/sandbox'
import { inputError, toErrorShape } from '../../domain/errors'
import { emptyRow, type GradeRow } from '../../domain/labs/grade-row'
import { ownFolder } from '../../adapters/disk/owned-folder'
import { listSubmissions, type FoundSubmission } from '../../adapters/labs/submissions'
import { openFinishedRows, submissionHash } from '../../adapters/labs/grading-journal'
import {
  preparePlace,
  inputSeed,
  gradeOne,
  type GradeRequest,
  type Staged,
  type HandedIn,
} from './judge-submission'
import { flagLikenesses } from './flag-likenesses'

interface GradeOptions {
  /** Called before any submission runs. An error thrown by this function aborts the grading. */
  onStart: (facts: {
    submissions: number
    jobs: number
    gpus: number
    isolation: Isolation
  }) => Promise<void>
  /**
   * Called with the result row for the lab's own solution. The solution is checked first, outside
   * the sandbox.
   */
  onSolution: (row: GradeRow) => void
  onRow: (row: GradeRow, done: number, total: number) => void
  /** Called with the number of rows reused from an interrupted grading. */
  onResumed: (rows: number) => void
  /** Called with a submission's folder if the folder could not be removed. */
  onLeft: (folder: string) => void
  signal: AbortSignal
}

interface Grades {
  solution: GradeRow
  rows: GradeRow[]
  isolation: Isolation
  seconds: number
}

/** Returns the devices that CUDA can use, in the notation of CUDA_VISIBLE_DEVICES. */
async function visibleGpus(machine: HostMachine, signal: AbortSignal): Promise<string[]> {
  const chosen = machine.variable('CUDA_VISIBLE_DEVICES')
  if (chosen) return chosen.split(',').map((word) => word.trim())
  const driver = await askDriver(machine.toolbox(null), signal).catch(() => null)
  return (driver?.answer?.gpus ?? []).map((_, index) => String(index))
}

/**
 * Returns the distinct names of this machine's GPUs. Rows measured on another GPU model are graded
 * again.
 */
async function gpuKinds(machine: HostMachine, signal: AbortSignal): Promise<string[]> {
  const driver = await askDriver(machine.toolbox(null), signal).catch(() => null)
  return [...new Set((driver?.answer?.gpus ?? []).map(({ name }) => name))].sort()
}

/**
 * Returns a submission's code and answers. If the submission contains no code, returns its row
 * instead.
 */
async function open({ lab }: GradeRequest, found: FoundSubmission): Promise<HandedIn | GradeRow> {
  const refuse = (reason: Statement): GradeRow =>
    emptyRow(lab.lab, found.student, 'refused', reason, 0)
  if (found.file === null) return refuse(found.reason ?? message('labs.nothingToGrade'))
  try {
    return { student: found.student, ...(await readHandedIn(found.file)) }
  } catch (error) {
    return refuse(toErrorShape(error).message)
  }
}

export async function gradeFolder(request: GradeRequest, options: GradeOptions): Promise<Grades> {
  const started = performance.now()
  const { signal } = options
  const all = await listSubmissions(request.folder)
  const { part = null } = request
  const submissions = part ? all.filter((_, index) => index % part.of === part.number - 1) : all
  if (all.length === 0)
    throw inputError(
      `${request.folder} contains no submissions.`,
      'A submission is a .cu file, or a folder that contains one.',
    )
  const gpus = await visibleGpus(request.setup.machine, signal)
  const jobs = Math.min(request.jobs ?? Math.max(1, gpus.length), submissions.length)
  return withStaged(request, options, async (staged, remove) => {
    const { root } = staged
    const { isolation } = staged.sandbox
    await options.onStart({ submissions: submissions.length, jobs, gpus: gpus.length, isolation })
    const solution = await gradeSolution(request, staged, gpus[0], signal)
    // A canceled check has no result.
    if (!signal.aborted) options.onSolution(solution)
    const records = newRecordFolder(request.setup.machine.folders, request.lab.id)
    const rows: GradeRow[] = []
    const sources = new Map<string, string>()
    const finishedRows = await openFinishedRows(
      request.setup.machine.folders,
      {
        folder: await realpath(request.folder),
        lab: request.lab.contentHash,
        program: createHash('sha256')
          .update(await readFile(request.program))
          .digest('hex'),
        ...{ target: request.target, limits: request.limits, isolated: isolation },
        gpus: await gpuKinds(request.setup.machine, signal),
      },
      part,
    )
    const opened = await Promise.all(submissions.map((found) => open(request, found)))
    const queue: [number, HandedIn][] = []
    for (const [index, one] of opened.entries()) {
      if ('status' in one) {
        rows[index] = one
        continue
      }
      sources.set(one.student, one.source)
      const known = finishedRows.find(one.student, submissionHash(one.source, one.answers))
      if (known) rows[index] = known
      else queue.push([index, one])
    }
    const count = (): number => rows.filter(Boolean).length
    const resumed = count() - opened.filter((one) => 'status' in one).length
    if (resumed > 0) options.onResumed(resumed)
    for (const one of opened) if ('status' in one) options.onRow(one, count(), submissions.length)
    const worker = async (number: number): Promise<void> => {
      const gpu = gpus.length > 0 ? gpus[number % gpus.length] : undefined
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        const [index, handedIn] = next
        const row = await gradeAnyhow(request, handedIn, async () => {
          const place = await preparePlace(request.setup.machine, staged, String(index), gpu)
          const repeats = { seed: inputSeed(), descriptions: null }
          const { row, record } = await gradeOne(request, handedIn, staged, place, repeats, signal)
          if (signal.aborted) return row
          const path = recordPath(records, index, handedIn.student)
          const kept = { ...row, record: path }
          await writeRecord(path, { ...record, row: kept })
          return kept
        })
        await remove(join(root, String(index)))
        if (signal.aborted) return
        rows[index] = row
        await finishedRows.add(submissionHash(handedIn.source, handedIn.answers), row)
        options.onRow(row, count(), submissions.length)
      }
    }
    await Promise.all(Array.from({ length: jobs }, (_, number) => worker(number)))
    if (!signal.aborted && part === null) await finishedRows.forget()
    const finished = rows.filter(Boolean)
    flagLikenesses(finished, sources, request.lab)
    const seconds = (performance.now() - started) / 1000
    return { solution, rows: finished, isolation, seconds }
  })
}

/**
 * Calls `work` with the grading's folders and sandbox. Afterward, removes these folders and any
 * folders that killed gradings left behind.
 */
async function withStaged<T>(
  { setup, lab, folder, limits, program, readable }: GradeRequest,
  { onLeft }: Pick<GradeOptions, 'onLeft'>,
  work: (staged: Staged, remove: (folder: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const owned = await ownFolder(await realpath(tmpdir()), 'kernel-ladder-grade')
  const root = owned.path
  const remove = async (path: string): Promise<void> => {
    if (!(await removeTree(path))) onLeft(path)
  }
  try {
    // The sandbox mounts its views as the root user of a user namespace. File permissions treat
    // this root as a different user, so other users need permission to enter the folder.
    await chmod(root, 0o711)
    const [cache, view] = [join(root, 'cache'), join(root, 'view')]
    for (const path of [cache, view]) await makeFolder(path)
    const { folders } = setup.machine
    const hidden = [
      setup.assets.kernelsDir,
      setup.assets.recordingsDir,
      lab.folder,
      folder,
      program,
    ]
    const sandbox = await findSandbox(limits, view, {
      readable,
      hidden: await realPaths([...hidden, folders.labs, folders.sessions, folders.drafts]),
    })
    return await work({ root, cache, sandbox }, remove)
  } finally {
    await remove(root)
    await owned.remove()
  }
}

/** Returns the real paths of all given paths that exist. */
const realPaths = async (paths: readonly string[]): Promise<string[]> =>
  (await Promise.all(paths.map((path) => realpath(path).catch(() => [])))).flat()

/** Grades a submission. If grading throws an error, only the submission's own row is affected. */
async function gradeAnyhow(
  { lab }: GradeRequest,
  { student }: HandedIn,
  grade: () => Promise<GradeRow>,
): Promise<GradeRow> {
  try {
    return await grade()
  } catch (error) {
    const reason = message('labs.notGraded', { why: toErrorShape(error).message })
    return emptyRow(lab.lab, student, 'stopped', reason, 0)
  }
}

/**
 * Grades the solution like a submission, but with a longer time limit. Grading the solution also
 * fills the cache with the shared builds.
 */
async function gradeSolution(
  request: GradeRequest,
  staged: Staged,
  gpu: string | undefined,
  signal: AbortSignal,
): Promise<GradeRow> {
  const place = await preparePlace(request.setup.machine, staged, 'solution', gpu)
  const { row } = await gradeOne(
    { ...request, limits: { ...request.limits, seconds: request.limits.seconds * 4 } },
    { student: '(solution)', source: request.lab.solution, answers: null },
    staged,
    { ...place, env: { ...place.env, KERNEL_LADDER_CACHE: staged.cache } },
    { seed: inputSeed(), descriptions: null },
    signal,
  )
  return row
}

interface Regraded {
  row: GradeRow
  /**
   * Names of the parts that differ from the record, such as the row's status, a check, or `cubin`.
   */
  differs: string[]
}

/**
 * Judges a graded submission again with the same code, inputs, and launch description. The
 * submission's host code is not executed.
 */
export async function regradeRecord(
  request: Omit<GradeRequest, 'folder'>,
  record: GradeRecord,
  options: Pick<GradeOptions, 'onLeft' | 'signal'> & {
    onStart: (isolation: Isolation) => Promise<void>
  },
): Promise<Regraded> {
  if (request.lab.contentHash !== record.labHash) throw inputError(message('labs.changed'))
  const whole = { ...request, folder: request.lab.folder }
  const [gpu] = await visibleGpus(request.setup.machine, options.signal)
  return withStaged(whole, options, async (staged) => {
    await options.onStart(staged.sandbox.isolation)
    const place = await preparePlace(request.setup.machine, staged, 'regraded', gpu)
    const { row, record: again } = await gradeOne(
      whole,
      record,
      staged,
      // Grading the solution also builds the files shared by all gradings.
      { ...place, env: { ...place.env, KERNEL_LADDER_CACHE: staged.cache } },
      record,
      options.signal,
    )
    const checks = Object.keys({ ...record.row.checks, ...row.checks })
    return {
      row,
      differs: [
        ...(row.status === record.row.status ? [] : ['status']),
        ...checks.filter((id) => row.checks[id] !== record.row.checks[id]),
        ...(again.cubin === record.cubin ? [] : ['cubin']),
      ],
    }
  })
}
