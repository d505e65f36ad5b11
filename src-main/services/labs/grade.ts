/**
 * Grades a folder of submissions. Each is checked by this program's own `lab check` in a sandbox that sees a copy of
 * the program, the lab and the common builds; the lab's own solution goes first, to detect a machine on which
 * nothing can pass. Nothing of a submission is interpreted outside the sandbox, and each gets a row whatever it does.
 */
import { createHash, randomInt } from 'node:crypto'
import {
  chmod,
  copyFile,
  cp,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { message, type Statement } from '../../domain/messages/message'
import { makeFolder, pathExists } from '../../adapters/disk/disk'
import { removeTree } from '../../adapters/sandbox/view'
import type { LabFolder } from '../../adapters/labs/library'
import {
  openFinishedRows,
  submissionHash,
  listSubmissions,
  type FoundSubmission,
  answersFile,
  readHandedIn,
  submissionFile,
} from '../../adapters/labs/work'
import type { HostMachine, Setup } from '../../adapters/machine/machine'
import { askDriver } from '../../adapters/tools/gpus'
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
import {
  emptyRow,
  outcomeRow,
  type GradeRow,
  LabOutcome,
  outcomeExitCode,
} from '../../domain/labs/outcome'
import { can, parseTarget, type LabTarget } from '../../domain/target/targets'
import { findLikenesses, likenessTo } from '../../domain/labs/similarity'
import { isShipped, trustPath } from '../lab-library/library'

export interface GradeRequest {
  setup: Setup
  folder: string
  lab: LabFolder
  /** Parallel jobs; by default one per GPU. More would share a GPU and distort each other's times. */
  jobs?: number
  limits: Limits
  target: LabTarget
  /** Grade one of several parts of the submissions alone; whoever grades them all finds its rows. */
  part?: { number: number; of: number }
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
  /** Rows of an earlier grading that was interrupted; they are not graded again. */
  onResumed: (rows: number) => void
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

/** The names of this machine's GPUs, each once: rows of GPUs of another kind are graded again. */
async function gpuKinds(machine: HostMachine, signal: AbortSignal): Promise<string[]> {
  const asked = await askDriver(machine.toolbox(null), signal).catch(() => null)
  return [...new Set((asked?.answer?.gpus ?? []).map(({ name }) => name))].sort()
}

/** What all submissions share, in folders of the grader that any user can read. */
interface Staged {
  root: string
  program: string
  /** The lab's folder. */
  lab: string
  /** The builds for the lab's solution and the compiled program, which are the same for all. */
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
      // The solution's check compiles the program, once for all.
      NODE_COMPILE_CACHE: join(cache, 'compiled'),
      ...(gpu === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpu }),
    },
  }
}

/** Inputs that no submission can know the results of. */
const inputSeed = (): string => String(randomInt(2, 1_000_000))

const checkCommand = ({ target, limits }: GradeRequest, staged: Staged, work: string) => [
  ...[process.execPath, ...process.execArgv, staged.program, 'lab', 'check', staged.lab],
  ...['--file', join(work, submissionFile), '--out', join(work, 'attempt')],
  ...['--target', target, '--seed', inputSeed(), '--json'],
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

/** The row of a check that ended like this. */
export function toRow(
  { lab: { lab } }: { lab: Pick<LabFolder, 'lab'> },
  student: string,
  result: Pick<SandboxResult, 'stdout' | 'stderr' | 'stopped' | 'exitCode' | 'seconds'>,
): GradeRow {
  if (result.stopped !== null)
    return emptyRow(lab, student, 'stopped', result.stopped, result.seconds)
  const printed = Printed.safeParse(parsed(result.stdout)).data
  if (printed && 'checks' in printed) {
    // A submission can write to the check's output; it is the outcome only if the check ended as that says.
    if (outcomeExitCode(printed) === result.exitCode)
      return outcomeRow(student, printed, result.seconds)
    const why = message('labs.otherExit', {
      status: printed.status,
      exitCode: `${result.exitCode}`,
    })
    return emptyRow(lab, student, 'stopped', message('labs.notFinished', { why }), result.seconds)
  }
  const error = printed?.error
  if (error && exitCodes[error.kind] === exitCodes.input)
    return emptyRow(lab, student, 'refused', error.message, result.seconds)
  const why =
    error?.message ??
    (result.stderr.trim().split('\n').pop() ||
      message('labs.exitCode', { exitCode: `${result.exitCode}` }))
  return emptyRow(lab, student, 'stopped', message('labs.notFinished', { why }), result.seconds)
}

interface HandedIn {
  student: string
  source: string
  answers: string | null
}

/** The code and answers, or the row of a submission that has none. */
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

async function gradeOne(
  request: GradeRequest,
  sandbox: Sandbox,
  { student, source, answers }: HandedIn,
  staged: Staged,
  place: Place,
  signal: AbortSignal,
): Promise<GradeRow> {
  await writeFile(join(place.work, submissionFile), source)
  if (answers !== null) await writeFile(join(place.work, answersFile), answers)
  const result = await runSandboxed(
    sandbox,
    { ...place, command: checkCommand(request, staged, place.work) },
    request.limits,
    signal,
  )
  return toRow(request, student, result)
}

function flagLikenesses(
  rows: GradeRow[],
  sources: ReadonlyMap<string, string>,
  lab: LabFolder,
): void {
  const likenesses = findLikenesses(sources, [lab.starter, lab.solution])
  for (const row of rows) {
    const source = sources.get(row.student)
    row.likeSolution = source === undefined ? null : likenessTo(lab.solution, source, [lab.starter])
    row.similarTo = likenesses.flatMap(({ a, b, share }) =>
      a === row.student
        ? [{ student: b, share }]
        : b === row.student
          ? [{ student: a, share }]
          : [],
    )
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
          return gradeOne(request, sandbox, handedIn, staged, place, signal)
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
  } finally {
    await remove(root)
  }
}

/** A failure around one submission affects only its own row. */
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
