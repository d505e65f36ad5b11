/**
 * Judges one submission. Runs a judge process in a sandbox and converts its output to a row and a
 * record.
 */
import { randomInt } from 'node:crypto'
import { copyFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { message, type Statement } from '../../domain/messages/message'
import { makeFolder, pathExists } from '../../adapters/disk/disk'
import { gradeRecordVersion, type GradeRecord } from '../../adapters/labs/grade-records'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import type { HostMachine, Setup } from '../../adapters/machine/machine'
import { variablesFor } from '../../adapters/sandbox/confined'
import { withoutInspector } from '../../adapters/sandbox/inspector'
import { runSandboxed, type SandboxResult } from '../../adapters/sandbox/run-sandboxed'
import { openSandbox, type Limits, type Sandbox } from '../../adapters/sandbox/sandbox'
import { exitCodes } from '../../domain/errors'
import type { LabTarget } from '../../domain/targets/targets'
import { appVersion } from '../version'
import { Judged, type JudgeJob } from './judge-process'
import { emptyRow, outcomeRow, type GradeRow } from '../../domain/labs/grade-row'
import { isShipped, trustPath } from './trust'
import { answersFile, submissionFile } from '../../adapters/labs/submission-path'

export interface GradeRequest {
  setup: Setup
  folder: string
  lab: LabFolder
  /**
   * Number of parallel jobs, by default one per GPU. Parallel jobs on the same GPU make measured
   * times unreliable.
   */
  jobs?: number
  limits: Limits
  target: LabTarget
  /**
   * The subset of submissions to grade. A later grading of all submissions reuses the subset's
   * rows.
   */
  part?: { number: number; of: number }
  /** Path of this program's main file, which Node.js runs. */
  program: string
  /** Folders that submissions may read in addition to system and tool folders. */
  readable: readonly string[]
}

/** The folders and sandbox that all judges share. */
export interface Staged {
  root: string
  /**
   * Cache for the builds that all submissions share: the lab's rungs, its reference, and the probe.
   */
  cache: string
  sandbox: Sandbox
}

interface Place {
  work: string
  env: Record<string, string>
}

export async function preparePlace(
  { folders }: HostMachine,
  { root, cache }: Staged,
  name: string,
  gpu: string | undefined,
): Promise<Place> {
  const work = join(root, name)
  for (const folder of ['tmp', 'cache', 'data/labs']) await makeFolder(join(work, folder))
  // The user has trusted the lab, so pass that decision to the judge.
  const trust = trustPath(folders)
  if (await pathExists(trust)) await copyFile(trust, join(work, 'data/labs', basename(trust)))
  return {
    work,
    env: {
      ...variablesFor(process.env),
      HOME: work,
      TMPDIR: join(work, 'tmp'),
      CUDA_CACHE_PATH: join(work, 'tmp'),
      KERNEL_LADDER_CACHE: join(work, 'cache'),
      KERNEL_LADDER_DATA: join(work, 'data'),
      KERNEL_LADDER_SHARED_CACHE: cache,
      NODE_COMPILE_CACHE: join(cache, 'compiled'),
      ...(gpu === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpu }),
    },
  }
}

/** Returns a random input seed, so that submissions cannot hard-code the results. */
export const inputSeed = (): number => randomInt(2, 1_000_000)

/** Returns Node.js options for a judge, except options that allow a debugger to attach. */
const judgeOptions = (): string[] => [
  ...process.execArgv.filter((option) => !option.startsWith('--inspect')),
  ...withoutInspector(),
]

function jobOf(
  { setup: { assets }, lab, target, limits }: GradeRequest,
  { sandbox: { mechanism, view, readable, hidden } }: Staged,
  work: string,
  { seed, descriptions }: Pick<JudgeJob, 'seed' | 'descriptions'>,
): JudgeJob {
  return {
    ...{ assets, lab: lab.folder, labHash: lab.contentHash, target, limits, seed, descriptions },
    ...{ file: join(work, submissionFile), out: join(work, 'attempt') },
    // The idle limit is shorter than the judge's own time limit, so the judge detects a hung kernel
    // and still reports all other results.
    idleSeconds: Math.max(2, Math.floor(limits.seconds / 4)),
    confinement: { mechanism, view, readable: [...readable], hidden: [...hidden] },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Creates a submission's row from the judge's exit code and output. Only the judge, not the
 * submission, can write to this output.
 */
export function toRow(
  { lab: { lab } }: { lab: Pick<LabFolder, 'lab'> },
  student: string,
  result: Pick<SandboxResult, 'stdout' | 'stderr' | 'stopped' | 'exitCode' | 'seconds'>,
): { row: GradeRow; judged: Exclude<Judged, { error: unknown }> | null } {
  const without = (status: 'stopped' | 'refused', reason: Statement) => ({
    row: emptyRow(lab, student, status, reason, result.seconds),
    judged: null,
  })
  if (result.stopped !== null) return without('stopped', result.stopped)
  const printed = Judged.safeParse(parsed(result.stdout)).data
  if (printed && 'outcome' in printed)
    return { row: outcomeRow(student, printed.outcome, result.seconds), judged: printed }
  const error = printed?.error
  if (error && exitCodes[error.kind] === exitCodes.input) return without('refused', error.message)
  const why =
    error?.message ??
    (result.stderr.trim().split('\n').pop() ||
      message('labs.exitCode', { exitCode: `${result.exitCode}` }))
  return without('stopped', message('labs.notFinished', { why }))
}

export interface HandedIn {
  student: string
  source: string
  answers: string | null
}

export async function gradeOne(
  request: GradeRequest,
  { student, source, answers }: HandedIn,
  staged: Staged,
  place: Place,
  repeats: Pick<JudgeJob, 'seed' | 'descriptions'>,
  signal: AbortSignal,
): Promise<{ row: GradeRow; record: Omit<GradeRecord, 'row'> }> {
  const { work } = place
  await writeFile(join(work, submissionFile), source)
  if (answers !== null) await writeFile(join(work, answersFile), answers)
  const jobFile = join(work, 'job.json')
  await writeFile(jobFile, JSON.stringify(jobOf(request, staged, work, repeats)))
  const { mechanism, makeGroup } = staged.sandbox
  const result = await runSandboxed(
    // The judge does not run the submission's code. The judge starts a separate sandbox for each
    // tool that runs the code.
    { ...openSandbox(mechanism.tie), makeGroup },
    {
      ...place,
      command: [process.execPath, ...judgeOptions(), request.program, '__judge', jobFile],
    },
    request.limits,
    signal,
  )
  const { row, judged } = toRow(request, student, result)
  const { lab, target } = request
  return {
    row,
    record: {
      schema: gradeRecordVersion,
      ...{ student, source, answers, target, appVersion, seed: repeats.seed },
      ...{ lab: isShipped(request.setup, lab) ? lab.id : lab.folder, labHash: lab.contentHash },
      ...{ cubin: judged?.cubin ?? null, descriptions: judged?.descriptions ?? [] },
    },
  }
}
