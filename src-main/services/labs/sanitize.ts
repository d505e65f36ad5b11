/** Runs compute-sanitizer on a submission if the lab's checks need it. */
import type { Catalog } from '../../adapters/catalog/catalog'
import type { SanitizerVerdicts } from '../../adapters/labs/attempt'
import type { Machine } from '../../adapters/machine/machine'
import { message, together } from '../../domain/messages/message'
import { KernelLadderError, toErrorShape } from '../../domain/errors'
import type { Lab, SanitizerCheck } from '../../domain/labs/lab'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { submissionId } from '../../domain/labs/judge/evidence'
import { sanitizeEmulated, type BlockChoice } from '../sanitize/emulated-sanitize'
import { sanitize } from '../sanitize/sanitize'
import { Bench } from '../bench/bench'
import { labLadderId } from './plan-lab'
import type { RunSettings } from '../run/run-settings'

interface SanitizeOptions {
  /** GPU to emulate, or absent if compute-sanitizer runs on a real GPU. */
  emulated?: BuildGpu
  machine: Machine
  signal: AbortSignal
  settings?: Partial<RunSettings>
}

type Verdict = SanitizerVerdicts[string]

/** Condition that selects a thread block that exists in every launch. */
const anyBlock =
  (seed: number): BlockChoice =>
  ({ launches }) =>
    seed % Math.min(...launches.map(({ grid: [x, y, z] }) => x * y * z))

async function sanitizeOne(
  lab: Lab,
  check: SanitizerCheck,
  catalog: Catalog,
  { emulated, machine, signal, settings }: SanitizeOptions,
): Promise<Verdict> {
  try {
    const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
    const environment = {
      bench: await Bench.open(tools, catalog, signal),
      catalog,
      onProgress: () => undefined,
      ...(settings?.idleSeconds === undefined ? {} : { secondsARung: settings.idleSeconds * 2 }),
      ...(settings?.waitForGpu === undefined ? {} : { waitForGpu: settings.waitForGpu }),
    }
    const request = {
      ladder: labLadderId(lab.id),
      rungs: [submissionId],
      tools: check.tools,
      at: check.size,
      params: {},
    }
    const report = emulated
      ? await sanitizeEmulated(environment, request, emulated)
      : await sanitize(environment, request)
    const checks = report.rungs[0]?.checks
    if (emulated && checks && check.tools.includes('racecheck')) {
      // Use the lab's size, because the host code may launch a different kernel at another size.
      const whole = { ...request, tools: ['racecheck' as const], at: lab.size }
      const block = anyBlock(settings?.seed ?? 0)
      const [race] = (await sanitizeEmulated(environment, whole, emulated, block)).rungs
      for (const found of race?.checks ?? [])
        if (found.status === 'found')
          checks.splice(
            checks.findIndex(({ tool }) => tool === found.tool),
            1,
            found,
          )
    }
    if (signal.aborted) throw new KernelLadderError('cancelled', message('labs.cancelled'))
    return checks ?? { reason: message('tools.noAnswer') }
  } catch (error) {
    const { kind, message: why, remedy } = toErrorShape(error)
    if (kind !== 'missing') throw error
    return { reason: together(why, remedy) }
  }
}

/**
 * Returns each tool's result by check id, or the reason that no tool ran. `catalog` is the catalog
 * of the lab's plan.
 */
export async function sanitizeSubmission(
  lab: Lab,
  catalog: Catalog,
  options: SanitizeOptions,
): Promise<SanitizerVerdicts> {
  const verdicts: SanitizerVerdicts = {}
  for (const check of lab.checks)
    if (check.kind === 'sanitizer')
      verdicts[check.id] = await sanitizeOne(lab, check, catalog, options)
  return verdicts
}
