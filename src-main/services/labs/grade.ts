/**
 * Grades a folder of submissions. Each is checked by this program's own `lab check` in a sandbox that sees a copy of
 * the program, the lab and the common builds; the lab's own solution goes first, to detect a machine on which
 * nothing can pass. Nothing of a submission is interpreted outside the sandbox, and each gets a row whatever it does.
 */
import { chmod, copyFile, cp, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { message, type Statement } from '../../domain/messages/message'
import { makeFolder, pathExists } from '../../adapters/disk/disk'
import type { LabFolder } from '../../adapters/labs/library'
import { listSubmissions, type FoundSubmission } from '../../adapters/labs/submissions'
import { answersFile, readHandedIn, submissionFile } from '../../adapters/labs/work'
import type { HostMachine, Setup } from '../../adapters/machine/machine'
import { askDriver } from '../../adapters/tools/nvidia-smi'
import { removeTree } from '../../adapters/sandbox/remove-tree'
import {
  findSandbox,
  openSandbox,
  runSandboxed,
  type Isolation,
  type Limits,
  type Sandbox,
  type SandboxResult,
} from '../../adapters/sandbox/sandbox'
import { exitCodes, inputError, toErrorShape, ErrorShape } from '../../domain/errors'
import { emptyRow, outcomeRow, type GradeRow } from '../../domain/labs/grade'
import { LabOutcome } from '../../domain/labs/outcome'
import { can, parseTarget, type LabTarget } from '../../domain/target/targets'
import { findLikenesses } from '../../domain/labs/similarity'
import { isShipped, trustPath } from '../lab-library/trust'

export interface GradeRequest {
  setup: Setup
  folder: string
  lab: LabFolder
  /** Parallel jobs; by default one per GPU. More would share a GPU and distort each other's times. */
  jobs?: number
  limits: Limits
  target: LabTarget
  /** This program: the single file that Node runs. */
  program: string
  /** Folders that submissions may read, besides those of the system and of the tools found. */
  readable: readonly string[]
}

export interface GradeOptions {
  /** Called before any submission runs; throws to prevent it. */
  onStart: (facts: {
    submissions: number
    jobs: number
    gpus: number
    isolation: Isolation
  }) => Promise<void>
  /** The lab's own solution, checked first and outside the sandbox. */
  onSolution: (row: GradeRow) => void
  onRow: (row: GradeRow, done: number, total: number) => void
  /** A submission's folder that could not be removed. */
  onLeft: (folder: string) => void
  signal: AbortSignal
}

export interface Grades {
  solution: GradeRow
  rows: GradeRow[]
  isolation: Isolation
  seconds: number
}

/** Environment variables that a submission may see; others may contain tokens and the like. */
const passedOn = [
  'PATH',
  'LANG',
  'LD_LIBRARY_PATH',
  'CUDA_HOME',
  'CUDA_PATH',
  'KERNEL_LADDER_PATH_ONLY',
] as const

/** The devices that CUDA offers, in the notation of CUDA_VISIBLE_DEVICES. */
async function visibleGpus(machine: HostMachine, signal: AbortSignal): Promise<string[]> {
  const chosen = machine.variable('CUDA_VISIBLE_DEVICES')
  if (chosen) return chosen.split(',').map((word) => word.trim())
  const asked = await askDriver(machine.toolbox(null), signal).catch(() => null)
  return (asked?.answer?.gpus ?? []).map((_, index) => String(index))
}

/** What all submissions share, in folders of the grader that any user can read. */
interface Staged {
  root: string
  program: string
  /** The lab's folder. */
  lab: string
  /** The builds for the lab's solution, which are the same for all. */
  cache: string
  view: string
}

/** Submissions run as another user, but the files they need may have been created as private. */
async function makeReadable(path: string): Promise<void> {
  await chmod(path, 0o755)
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await makeReadable(join(path, entry.name))
    else await chmod(join(path, entry.name), 0o755)
}

async function stage(request: GradeRequest, root: string): Promise<Staged> {
  const { assets } = request.setup
  const shared = join(root, 'shared')
  const staged: Staged = {
    root,
    program: join(shared, basename(await realpath(request.program))),
    lab: '',
    cache: join(shared, 'cache'),
    view: join(root, 'view'),
  }
  for (const folder of [staged.cache, staged.view]) await makeFolder(folder)
  await copyFile(request.program, staged.program)
  // Next to the program, where it looks first.
  const kernels = join(shared, 'cuda-kernels')
  await cp(assets.kernelsDir, kernels, { recursive: true })
  if (can(parseTarget(request.target)!).replays)
    await cp(assets.recordingsDir, join(shared, 'resources', 'recordings'), { recursive: true })
  if (isShipped(request.setup, request.lab))
    staged.lab = join(kernels, relative(assets.kernelsDir, request.lab.folder))
  else {
    staged.lab = join(shared, 'lab', request.lab.id)
    for (const file of request.lab.files) {
      await makeFolder(dirname(join(staged.lab, file)))
      await copyFile(join(request.lab.folder, file), join(staged.lab, file))
    }
  }
  return staged
}

interface Place {
  work: string
  env: Record<string, string>
}

async function preparePlace(
  { folders }: HostMachine,
  { root, cache }: Staged,
  name: string,
  gpu: string | undefined,
): Promise<Place> {
  const work = join(root, name)
  for (const folder of ['tmp', 'cache', 'data/labs']) await makeFolder(join(work, folder))
  // The grader has allowed the lab; the sandboxed check must know that.
  const trust = trustPath(folders)
  if (await pathExists(trust)) await copyFile(trust, join(work, 'data/labs', basename(trust)))
  return {
    work,
    env: {
      ...Object.fromEntries(
        Object.entries(process.env).filter(
          (entry): entry is [string, string] =>
            entry[1] !== undefined &&
            (passedOn.some((name) => name === entry[0]) || entry[0].startsWith('FAKE')),
        ),
      ),
      HOME: work,
      TMPDIR: join(work, 'tmp'),
      CUDA_CACHE_PATH: join(work, 'tmp'),
      KERNEL_LADDER_CACHE: join(work, 'cache'),
      KERNEL_LADDER_DATA: join(work, 'data'),
      KERNEL_LADDER_SHARED_CACHE: cache,
      ...(gpu === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpu }),
    },
  }
}

const checkCommand = ({ target, limits }: GradeRequest, staged: Staged, work: string) => [
  ...[process.execPath, staged.program, 'lab', 'check', staged.lab],
  ...['--file', join(work, submissionFile), '--out', join(work, 'attempt')],
  ...['--target', target, '--json'],
  // A hanging kernel should be detected by the check itself, which can then still report everything else.
  ...['--timeout', String(Math.max(2, Math.floor(limits.seconds / 4)))],
]

/** What `lab check --json` prints: an outcome, or why there is none. */
const Printed = z.union([LabOutcome, z.object({ error: ErrorShape })])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toRow(
  request: GradeRequest,
  student: string,
  result: Pick<SandboxResult, 'stdout' | 'stderr' | 'stopped' | 'exitCode' | 'seconds'>,
): GradeRow {
  const lab = request.lab.lab
  if (result.stopped !== null)
    return emptyRow(lab, student, 'stopped', result.stopped, result.seconds)
  const printed = Printed.safeParse(parsed(result.stdout)).data
  if (printed && 'checks' in printed) return outcomeRow(student, printed, result.seconds)
  const error = printed?.error
  if (error && exitCodes[error.kind] === exitCodes.input)
    return emptyRow(lab, student, 'refused', error.message, result.seconds)
  const why =
    error?.message ??
    (result.stderr.trim().split('\n').pop() ||
      message('labs.exitCode', { exitCode: `${result.exitCode}` }))
  return emptyRow(lab, student, 'stopped', message('labs.notFinished', { why }), result.seconds)
}

async function gradeOne(
  request: GradeRequest,
  sandbox: Sandbox,
  found: FoundSubmission,
  staged: Staged,
  place: Place,
  signal: AbortSignal,
): Promise<{ row: GradeRow; source: string | null }> {
  const lab = request.lab.lab
  const refuse = (reason: Statement): { row: GradeRow; source: null } => ({
    row: emptyRow(lab, found.student, 'refused', reason, 0),
    source: null,
  })
  if (found.file === null) return refuse(found.reason ?? message('labs.nothingToGrade'))
  let handedIn
  try {
    handedIn = await readHandedIn(found.file)
  } catch (error) {
    return refuse(toErrorShape(error).message)
  }
  const { source, answers } = handedIn
  await writeFile(join(place.work, submissionFile), source)
  if (answers !== null) await writeFile(join(place.work, answersFile), answers)
  const result = await runSandboxed(
    sandbox,
    { ...place, command: checkCommand(request, staged, place.work) },
    request.limits,
    signal,
  )
  return { row: toRow(request, found.student, result), source }
}

function flagLikenesses(
  rows: GradeRow[],
  sources: ReadonlyMap<string, string>,
  lab: LabFolder,
): void {
  const likenesses = findLikenesses(sources, [lab.starter, lab.solution])
  for (const row of rows)
    row.similarTo = likenesses.flatMap(({ a, b, share }) =>
      a === row.student
        ? [{ student: b, share }]
        : b === row.student
          ? [{ student: a, share }]
          : [],
    )
}

export async function gradeFolder(request: GradeRequest, options: GradeOptions): Promise<Grades> {
  const started = performance.now()
  const { signal } = options
  const submissions = await listSubmissions(request.folder)
  if (submissions.length === 0)
    throw inputError(
      `${request.folder} contains no submissions.`,
      'A submission is a .cu file, or a folder that contains one.',
    )
  const gpus = await visibleGpus(request.setup.machine, signal)
  const jobs = Math.min(request.jobs ?? Math.max(1, gpus.length), submissions.length)
  const root = await realpath(await mkdtemp(join(tmpdir(), 'kernel-ladder-grade-')))
  const remove = async (folder: string): Promise<void> => {
    if (!(await removeTree(folder))) options.onLeft(folder)
  }
  try {
    const staged = await stage(request, root)
    // Only for the sandbox: the enclosing folder stays private.
    await makeReadable(dirname(staged.program))
    const sandbox = await findSandbox(request.limits, staged.view, [
      dirname(staged.program),
      ...request.readable,
    ])
    const { isolation } = sandbox
    await options.onStart({ submissions: submissions.length, jobs, gpus: gpus.length, isolation })
    const solution = await gradeSolution(request, staged, gpus[0], signal)
    await makeReadable(staged.cache)
    options.onSolution(solution)
    const rows: GradeRow[] = []
    const sources = new Map<string, string>()
    const queue = [...submissions.entries()]
    const worker = async (number: number): Promise<void> => {
      const gpu = gpus.length > 0 ? gpus[number % gpus.length] : undefined
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        const [index, found] = next
        const { row, source } = await gradeAnyhow(request, found, async () => {
          const place = await preparePlace(request.setup.machine, staged, String(index), gpu)
          return gradeOne(request, sandbox, found, staged, place, signal)
        })
        await remove(join(root, String(index)))
        if (signal.aborted) return
        rows[index] = row
        if (source !== null) sources.set(found.student, source)
        options.onRow(row, rows.filter(Boolean).length, submissions.length)
      }
    }
    await Promise.all(Array.from({ length: jobs }, (_, number) => worker(number)))
    const finished = rows.filter(Boolean)
    flagLikenesses(finished, sources, request.lab)
    const seconds = (performance.now() - started) / 1000
    return { solution, rows: finished, isolation, seconds }
  } finally {
    await remove(root)
  }
}

/** A failure around one submission affects only its own row. */
async function gradeAnyhow(
  { lab }: GradeRequest,
  { student }: FoundSubmission,
  grade: () => Promise<{ row: GradeRow; source: string | null }>,
): Promise<{ row: GradeRow; source: string | null }> {
  try {
    return await grade()
  } catch (error) {
    const reason = message('labs.notGraded', { why: toErrorShape(error).message })
    return { row: emptyRow(lab.lab, student, 'stopped', reason, 0), source: null }
  }
}

/** Also fills the cache with the common builds: the runner and the lab's rungs. The solution is trusted like the lab. */
async function gradeSolution(
  request: GradeRequest,
  staged: Staged,
  gpu: string | undefined,
  signal: AbortSignal,
): Promise<GradeRow> {
  const { work, env } = await preparePlace(request.setup.machine, staged, 'solution', gpu)
  await writeFile(join(work, submissionFile), request.lab.solution)
  const result = await runSandboxed(
    openSandbox(),
    {
      work,
      command: checkCommand(request, staged, work),
      env: { ...env, KERNEL_LADDER_CACHE: staged.cache },
    },
    // It also builds what the others reuse.
    { ...request.limits, seconds: request.limits.seconds * 4 },
    signal,
  )
  return toRow(request, '(solution)', result)
}
