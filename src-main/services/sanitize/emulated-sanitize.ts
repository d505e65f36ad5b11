/**
 * Checks memory accesses and races without a GPU. Each rung runs once on the emulated GPU, which
 * checks every access. The findings have the same format as compute-sanitizer's findings.
 */
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { printedLines, toolOf, toolOfStop } from '../../domain/emulation/findings'
import type { EmulationAnswer, EmulationJob } from '../../domain/emulation/job'
import { missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { message, type Statement } from '../../domain/messages/message'
import {
  groupRecords,
  sanitizeReportVersion,
  type SanitizedRung,
  type SanitizeReport,
  type SanitizerCheck,
  type SanitizerTool,
} from '../../domain/session/sanitizer'
import { buildRung } from '../bench/build-rung'
import {
  allPlaces,
  estimate,
  execute,
  faultsOf,
  readyRung,
  type EmulationSettings,
  type ReadyRung,
} from '../run/emulate'
import { sharedFills } from '../run/filled-cases'
import { requireFitting } from '../run/prepared-rungs'
import { locateFinding, type SourceTexts } from './sanitize-sources'
import { planSanitize, seed, sourceTexts, type SanitizeEnvironment } from './sanitize'
import type { PlannedRung } from '../../domain/run/plan'
import { architectureFor } from '../bench/architecture'
import { inParallel } from '../bench/in-parallel'
import type { SanitizeRequest } from '../../contract/sanitize'

/**
 * Selects the only block of each launch to run. With such a choice, races between blocks are not
 * detected.
 */
export type BlockChoice = (job: EmulationJob) => number

export async function sanitizeEmulated(
  environment: SanitizeEnvironment,
  request: SanitizeRequest,
  gpu: BuildGpu,
  blockOf: BlockChoice | null = null,
): Promise<SanitizeReport> {
  const { bench, catalog, onProgress } = environment
  const { toolbox, signal } = bench
  const { plan, rungs } = planSanitize(catalog, request)
  requireFitting(plan)
  onProgress({ stage: 'prepare', done: 0, total: 0, tool: null, rung: null })
  const compiler = await bench.compilerFor(plan)
  const probe = await bench.launchProbe()
  if ('reason' in probe) throw missingError(probe.reason, message('tools.hostCompiler'))
  const pool = emulatorPool(signal, { start: toolbox.startEmulator })
  try {
    const emulation: EmulationSettings = {
      ...{ toolbox, pool, probe: probe.artifact, task: plan.task, gpu, seed, signal },
      taskFolder: plan.taskFolder,
    }
    const fills = sharedFills(emulation, async () => ({
      bench: emulation,
      library: await bench.probedReference(plan, gpu),
    }))
    const texts = sourceTexts(plan, rungs, bench.sources)
    const checked = new Map<string, SanitizedRung>()
    const check = async (planned: PlannedRung): Promise<Checked> => {
      const { rung } = planned
      const none = (status: 'failed' | 'unsupported', reason: Statement): Checked => ({
        checks: request.tools.map((tool) => noVerdict(tool, status, reason)),
      })
      const architecture = architectureFor(rung.header.requires, gpu)
      if ('unsupported' in architecture) return none('unsupported', architecture.unsupported)
      const build = await buildRung(compiler, plan, planned, architecture.sm, staticRungFlags)
      if (!build.artifact) return none('failed', build.reason ?? message('checks.notCompiled'))
      const ready = await readyRung(emulation, fills, rung, build, plan.problem)
      if ('reason' in ready) return none(ready.fault ?? 'unsupported', ready.reason)
      const answer = blockOf
        ? await pool.run({
            ...ready.job,
            checks: true,
            blocks: { first: blockOf(ready.job), count: 1 },
          })
        : await execute(emulation, ready, {
            estimated: await estimate(emulation, ready),
            checks: true,
          })
      const printed = printedLines(rung.id, answer, allPlaces(ready))
      return {
        checks: request.tools.map((tool) => checkOf(tool, answer, ready, texts)),
        ...(printed.length > 0 ? { printed } : {}),
      }
    }
    await inParallel(rungs, async (planned) => {
      if (signal.aborted) return
      const { rung } = planned
      checked.set(rung.id, {
        ...{ id: rung.id, title: rung.title, file: rung.file },
        ...(await check(planned)),
      })
      const progress = { done: checked.size, total: rungs.length, tool: null, rung: rung.id }
      onProgress({ stage: 'check', ...progress })
    })
    return {
      schema: sanitizeReportVersion,
      ladder: plan.ladder.id,
      problem: plan.problem,
      device: { name: gpu.name, computeCapability: gpu.computeCapability },
      sanitizer: null,
      emulated: true,
      completion: signal.aborted ? 'cancelled' : 'complete',
      rungs: rungs.flatMap(({ rung }) => checked.get(rung.id) ?? []),
    }
  } finally {
    await pool.close()
  }
}

type Checked = Pick<SanitizedRung, 'checks' | 'printed'>

const noVerdict = (
  tool: SanitizerTool,
  status: 'failed' | 'unsupported',
  reason: Statement,
): SanitizerCheck => ({ tool, status, reason, total: null, notPrinted: 0, findings: [] })

function checkOf(
  tool: SanitizerTool,
  answer: EmulationAnswer,
  ready: ReadyRung,
  texts: SourceTexts,
): SanitizerCheck {
  const { records, stop } = faultsOf(answer, ready)
  const own = records.flatMap(({ finding, record }) =>
    toolOf[finding.kind] === tool ? [record] : [],
  )
  const findings = groupRecords(own).map((record) => locateFinding(record, texts))
  const stopped = answer.stop && toolOfStop(answer.stop)
  const found = findings.length > 0 || (stopped !== null && stopped === tool)
  return {
    tool,
    status: found ? 'found' : stop !== null ? 'failed' : 'clean',
    ...(stop === null ? {} : { reason: stop }),
    total: Math.max(own.length, found ? 1 : 0),
    notPrinted: 0,
    findings,
  }
}
