/** Tests ^C during an emulated run while one of its tools is active. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import type { ProcessCall, ProcessResult } from '../../../src-main/adapters/tools/process'
import { liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { buildGpu } from '../../../src-main/domain/gpu/gpu-table'
import { caseOf } from '../../../src-main/domain/task/problem'
import type { EmulationSettings } from '../../../src-main/services/run/emulate'
import { readyRung } from '../../../src-main/services/run/emulate'
import { sharedFills } from '../../../src-main/services/run/filled-cases'
import { expectedOf } from '../../../src-main/services/run/emulated-expectation'
import { planRun } from '../../../src-main/services/run/plan'
import { packedRow } from '../../captures'
import { gemm, gemmProblem } from '../../support'
import { root, tempDir } from '../support'

/** Returns a test setup in which ^C interrupts the probe. */
async function stoppedBench(): Promise<{ bench: EmulationSettings; library: string }> {
  const stop = new AbortController()
  const stopped = (_call: ProcessCall): Promise<ProcessResult> => {
    stop.abort()
    return Promise.resolve({
      ...{ outcome: 'cancelled', exitCode: null, signal: 'SIGTERM', seconds: 1 },
      ...{ stdout: '', stderr: '' },
    })
  }
  const library = join(await tempDir(), 'built.so')
  await writeFile(library, packedRow('cubins.jsonl', 'kernels.so').bytes)
  const pool = {
    run: () => Promise.reject(new Error('Nothing is emulated after ^C.')),
    predict: () => Promise.reject(new Error('Nothing is predicted after ^C.')),
    close: () => Promise.resolve(),
  }
  const bench = {
    ...{ toolbox: liveToolbox(null, stopped), pool, probe: 'probe', task: gemm, taskFolder: null },
    ...{ gpu: buildGpu('h200')!, seed: 1, signal: stop.signal },
  }
  return { bench, library }
}

const cancelled = { kind: 'cancelled', message: expect.stringMatching(/canceled/i) as string }

it('^C during the reference computation cancels the run, without an error about the reference', async () => {
  const { bench, library } = await stoppedBench()
  const own = caseOf(gemmProblem(16))
  const buffers = await sharedFills(bench, () => ({ bench, library }))(own, '01_naive', 0)
  if ('key' in buffers) throw new Error(buffers.key)
  await expect(expectedOf(bench, library, own, buffers)).rejects.toMatchObject(cancelled)
})

it('^C while the probe records a rung’s launches cancels the run, without an error about the rung', async () => {
  const { bench, library } = await stoppedBench()
  const { rungs, problem } = planRun(await readCatalog(join(root, 'cuda-kernels')), {
    ...{ ladder: 'gemm-fp32', rungs: ['01_naive'], size: 16, params: {}, profile: 'card' },
  })
  const build = { artifact: library, build: null, diagnostics: [] }
  const ready = readyRung(
    bench,
    sharedFills(bench, () => ({ bench, library })),
    rungs[0]!.rung,
    build,
    problem,
  )
  await expect(ready).rejects.toMatchObject(cancelled)
})
