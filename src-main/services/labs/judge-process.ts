/**
 * Runs the process that judges one submission (`kernel-ladder __judge`).
 *
 * The process runs only trusted code. Tools that process the submission's code run in separate
 * sandboxes (adapters/sandbox/confined.ts). Each submission has a separate process with time and
 * memory limits, so a crash affects at most one row.
 */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Assets } from '../../adapters/catalog/assets'
import type { HostMachine } from '../../adapters/machine/machine'
import { readSubmission } from '../../adapters/labs/workspace'
import { readSharedFiles } from '../../adapters/catalog/catalog'
import {
  Confinement,
  confinedTools,
  Description,
  type GpuTools,
} from '../../adapters/sandbox/confined'
import { Limits } from '../../adapters/sandbox/sandbox'
import { ErrorShape, inputError, missingError } from '../../domain/errors'
import { submissionId } from '../../domain/labs/judge/evidence'
import { LabOutcome } from '../../domain/labs/outcome'
import { message } from '../../domain/messages/message'
import { LabTarget } from '../../domain/targets/targets'
import { openLab } from './find-lab'
import { appVersion } from '../version'
import { Bench } from '../bench/bench'
import type { BuildTools } from '../bench/compiler'
import { buildReplay } from '../bench/own-programs'
import { checkLab } from './check'
import { requireTrust } from './trust'

export const JudgeJob = z.object({
  /**
   * Asset files that the grading process has already unpacked, so that the judge does not unpack
   * them again.
   */
  assets: z.custom<Assets>((value) => typeof value === 'object' && value !== null),
  /** The lab's folder. */
  lab: z.string(),
  labHash: z.string(),
  /** The submission file's path. The submission's answers.yaml is in the same folder. */
  file: z.string(),
  out: z.string(),
  target: LabTarget,
  /** Random seed for the inputs. */
  seed: z.number().int(),
  /** If there is no progress for this many seconds, the code is considered hung. */
  idleSeconds: z.number().int(),
  confinement: Confinement,
  limits: Limits,
  /**
   * Launch descriptions to replay, from an earlier grading. If null, the submission's host code
   * runs.
   */
  descriptions: z.array(Description).nullable(),
})
export type JudgeJob = z.infer<typeof JudgeJob>

/** The judge's output. */
export const Judged = z.union([
  z.object({
    outcome: LabOutcome,
    cubin: z.string().nullable(),
    descriptions: z.array(Description),
  }),
  z.object({ error: ErrorShape }),
])
export type Judged = z.infer<typeof Judged>

export const readJob = async (file: string): Promise<JudgeJob> =>
  JudgeJob.parse(JSON.parse(await readFile(file, 'utf8')))

/**
 * Builds the probe and the rung that replays a launch description. After the first submission, both
 * come from the build cache.
 */
async function buildGpuTools(tools: BuildTools, root: string): Promise<GpuTools> {
  const bench = await Bench.open(tools, { root, references: new Map() })
  const probe = await bench.launchProbe()
  if ('reason' in probe) throw missingError(probe.reason, message('tools.hostCompiler'))
  const sources = new Map([...bench.sources.runner, ...(await readSharedFiles(root, 'judge'))])
  return { probe: probe.artifact, replay: await buildReplay(await bench.compiler(), sources) }
}

export async function judgeSubmission(
  here: HostMachine,
  { assets, confinement, limits, ...job }: JudgeJob,
): Promise<Judged> {
  const { cache } = here
  const tools = confinedTools({
    ...{ confinement, limits, submission: submissionId, known: job.descriptions },
    folder: `${job.out}-plans`,
    gpuTools: (toolbox) => buildGpuTools({ toolbox, cache }, assets.kernelsDir),
  })
  const machine = { ...here, toolbox: tools.toolbox }
  const lab = await openLab({ assets, machine }, job.lab)
  if (lab.contentHash !== job.labHash) throw inputError(message('labs.changed'))
  await requireTrust({ assets, machine }, lab)
  const { outcome } = await checkLab(
    { lab, ...(await readSubmission(job.file, lab.lab)), target: job.target },
    {
      ...{ assets, machine, appVersion, out: job.out },
      settings: { seed: job.seed, idleSeconds: job.idleSeconds },
      emit: () => undefined,
      signal: new AbortController().signal,
    },
  )
  const descriptions = tools.descriptions()
  return { outcome, cubin: descriptions[0]?.cubin ?? null, descriptions }
}
