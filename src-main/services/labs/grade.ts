/**
 * Grades a folder of submissions. Each is checked by this program's own `lab check`, in a process tree,
 * a folder and a cache of its own, within limits; the lab's own solution goes first, so that a machine
 * on which nothing can pass is known as such.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { makeFolder, pathExists } from '../../adapters/disk/disk'
import type { LabFolder } from '../../adapters/labs/library'
import { listSubmissions, type FoundSubmission } from '../../adapters/labs/submissions'
import { answersFile, readSubmission, submissionFile } from '../../adapters/labs/work'
import { askDriver } from '../../adapters/tools/nvidia-smi'
import type { HostMachine } from '../../adapters/machine/machine'
import {
  findSandbox,
  runSandboxed,
  type Isolation,
  type Limits,
  type Sandbox,
  type SandboxResult,
} from '../../adapters/labs/sandbox'
import { inputError, toErrorShape } from '../../domain/errors'
import { emptyRow, outcomeRow, type GradeRow } from '../../domain/labs/grade'
import { LabOutcome } from '../../domain/labs/outcome'
import type { LabTarget } from '../../domain/target/targets'
import { findLikenesses } from '../../domain/labs/similarity'
import { trustPath } from '../lab-library/trust'

export interface GradeRequest {
  machine: HostMachine
  folder: string
  lab: LabFolder
  /** At a time; as many as there are GPUs unless given. More share a GPU, and disturb each other's times. */
  jobs?: number
  limits: Limits
  target: LabTarget
  /** This program, as argv. */
  program: readonly string[]
}

export interface GradeOptions {
  onStart: (facts: {
    submissions: number
    jobs: number
    gpus: number
    isolation: Isolation
  }) => void
  /** The lab's own solution, checked first and outside of the sandbox. */
  onSolution: (row: GradeRow) => void
  onRow: (row: GradeRow, done: number, total: number) => void
  signal: AbortSignal
}

export interface Grades {
  solution: GradeRow
  rows: GradeRow[]
  isolation: Isolation
  seconds: number
}

/** What a submission may see of the environment; the rest may hold tokens and the like. */
const passedOn = [
  'PATH',
  'HOME',
  'LANG',
  'LD_LIBRARY_PATH',
  'CUDA_HOME',
  'CUDA_PATH',
  'KERNEL_LADDER_PATH_ONLY',
] as const

/** The devices that CUDA offers, as CUDA_VISIBLE_DEVICES names them. */
async function visibleGpus(machine: HostMachine, signal: AbortSignal): Promise<string[]> {
  const chosen = machine.variable('CUDA_VISIBLE_DEVICES')
  if (chosen) return chosen.split(',').map((word) => word.trim())
  const asked = await askDriver(machine.toolbox(null), signal).catch(() => null)
  return (asked?.answer?.gpus ?? []).map((_, index) => String(index))
}

interface Place {
  work: string
  env: Record<string, string>
}

async function preparePlace(
  { folders }: HostMachine,
  root: string,
  index: number,
  gpu: string | undefined,
): Promise<Place> {
  const work = join(root, String(index))
  for (const name of ['tmp', 'cache', 'data/labs']) await makeFolder(join(work, name))
  // Whoever grades has allowed the lab; the check in its place has to know.
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
      TMPDIR: join(work, 'tmp'),
      CUDA_CACHE_PATH: join(work, 'tmp'),
      KERNEL_LADDER_CACHE: join(work, 'cache'),
      KERNEL_LADDER_DATA: join(work, 'data'),
      KERNEL_LADDER_SHARED_CACHE: folders.cache,
      ...(gpu === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpu }),
    },
  }
}

const checkCommand = (
  { program, lab, target, limits }: GradeRequest,
  file: string,
  out: string,
) => [
  ...program,
  ...['lab', 'check', lab.folder, '--file', file, '--target', target, '--json', '--out', out],
  // A kernel that hangs is to be found by the check itself, which then still has all else to tell.
  ...['--timeout', String(Math.max(2, Math.floor(limits.seconds / 4)))],
]

function toRow(
  request: GradeRequest,
  student: string,
  result: Pick<SandboxResult, 'stdout' | 'stderr' | 'stopped' | 'exitCode' | 'seconds'>,
): GradeRow {
  const lab = request.lab.lab
  if (result.stopped !== null)
    return emptyRow(lab, student, 'stopped', result.stopped, result.seconds)
  try {
    return outcomeRow(student, LabOutcome.parse(JSON.parse(result.stdout)), result.seconds)
  } catch {
    const said = /error: (.*)/.exec(result.stderr)?.[1] ?? result.stderr.trim().split('\n').pop()
    const reason = said === undefined || said === '' ? `exit code ${result.exitCode}` : said
    return emptyRow(lab, student, 'stopped', `Its check came to no end: ${reason}`, result.seconds)
  }
}

async function gradeOne(
  request: GradeRequest,
  sandbox: Sandbox,
  found: FoundSubmission,
  place: Place,
  signal: AbortSignal,
): Promise<{ row: GradeRow; source: string | null }> {
  const lab = request.lab.lab
  const refuse = (reason: string): { row: GradeRow; source: null } => ({
    row: emptyRow(lab, found.student, 'refused', reason, 0),
    source: null,
  })
  if (found.file === null) return refuse(found.reason ?? 'There is nothing to grade.')
  let source: string
  try {
    source = (await readSubmission(found.file, lab)).source
  } catch (error) {
    return refuse(toErrorShape(error).message)
  }
  const file = join(place.work, submissionFile)
  await writeFile(file, source)
  const answers = join(dirname(found.file), answersFile)
  if (await pathExists(answers)) await copyFile(answers, join(place.work, answersFile))
  const result = await runSandboxed(
    sandbox,
    {
      work: place.work,
      command: checkCommand(request, file, join(place.work, 'attempt')),
      env: place.env,
    },
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
      `${request.folder} holds no submission.`,
      'A submission is a .cu file, or a folder with one.',
    )
  const sandbox = await findSandbox()
  const gpus = await visibleGpus(request.machine, signal)
  const jobs = Math.min(request.jobs ?? Math.max(1, gpus.length), submissions.length)
  options.onStart({
    submissions: submissions.length,
    jobs,
    gpus: gpus.length,
    isolation: sandbox.isolation,
  })
  const root = await mkdtemp(join(tmpdir(), 'kernel-ladder-grade-'))
  try {
    const solution = await gradeSolution(request, root, gpus[0], signal)
    options.onSolution(solution)
    const rows: GradeRow[] = []
    const sources = new Map<string, string>()
    const queue = [...submissions.entries()]
    const worker = async (number: number): Promise<void> => {
      const gpu = gpus.length > 0 ? gpus[number % gpus.length] : undefined
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        const [index, found] = next
        const place = await preparePlace(request.machine, root, index, gpu)
        const { row, source } = await gradeOne(request, sandbox, found, place, signal)
        if (signal.aborted) return
        await rm(place.work, { recursive: true, force: true })
        rows[index] = row
        if (source !== null) sources.set(found.student, source)
        options.onRow(row, rows.filter(Boolean).length, submissions.length)
      }
    }
    await Promise.all(Array.from({ length: jobs }, (_, number) => worker(number)))
    const finished = rows.filter(Boolean)
    flagLikenesses(finished, sources, request.lab)
    return {
      solution,
      rows: finished,
      isolation: sandbox.isolation,
      seconds: (performance.now() - started) / 1000,
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** Also leaves in the cache what is the same for all: the runner, the rungs of the lab. */
async function gradeSolution(
  request: GradeRequest,
  root: string,
  gpu: string | undefined,
  signal: AbortSignal,
): Promise<GradeRow> {
  const work = join(root, 'solution')
  await makeFolder(work)
  const file = join(work, submissionFile)
  await writeFile(file, request.lab.solution)
  const open: Sandbox = {
    isolation: { by: 'none', network: false, processes: false, files: false },
    wrap: (_work, command) => [...command],
  }
  const result = await runSandboxed(
    open,
    {
      work,
      command: checkCommand(request, file, join(work, 'attempt')),
      env: gpu === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpu },
    },
    // It builds what the others find built.
    { ...request.limits, seconds: request.limits.seconds * 4 },
    signal,
  )
  return toRow(request, '(solution)', result)
}
