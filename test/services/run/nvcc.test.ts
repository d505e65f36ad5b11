/** The build service with the real compiler; needs no GPU. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import {
  readKernelLibrary,
  readSharedFiles,
} from '../../../src-main/adapters/kernels/kernel-library'
import { findTool, liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import {
  buildReference,
  buildRung,
  buildRunner,
  inParallel,
} from '../../../src-main/services/run/build'
import type { Compiler } from '../../../src-main/services/run/compiler'
import { planRun } from '../../../src-main/services/run/plan'
import { measureArgs, profileArgs, sanitizeArgs } from '../../../src-main/adapters/tools/runner'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { tempDir } from '../support'
import { gemmProblem } from '../../gemm'
import { said } from '../../said'

const nvcc = await findTool('nvcc')
const kernels = join(import.meta.dirname, '../../../cuda-kernels')
const library = await readKernelLibrary(kernels)
const plan = planRun(library, { ladder: 'gemm-fp32', params: {}, profile: 'none' })

async function compiler(): Promise<Compiler> {
  return {
    toolbox: liveToolbox(null),
    cache: diskBuildCache(await tempDir()),
    nvcc: nvcc!,
    version: 'test',
    includes: await readSharedFiles(kernels, 'include'),
    signal: new AbortController().signal,
  }
}

describe.skipIf(nvcc === null)('with a real nvcc (skipped where none is installed)', () => {
  it('every rung of every ladder compiles with the parameters it has there', async () => {
    const real = await compiler()
    const planned = new Map(
      library.ladders
        .filter(({ id }) => id !== plan.ladder.id)
        .flatMap(({ id }) => {
          const request = { ladder: id, params: {}, profile: 'none' as const }
          return planRun(library, request).rungs
        })
        .map((entry) => [`${entry.rung.file} ${JSON.stringify(entry.rung.params)}`, entry]),
    )
    await inParallel([...planned], async ([what, entry]) => {
      const sm = entry.rung.header.requires === 'sm_90a' ? '90a' : '90'
      const { build, reason } = await buildRung(real, plan, entry, sm)
      expect(said(reason), what).toBeUndefined()
      expect(build?.spillStoreBytes ?? 0, what).toBe(0)
    })
  }, 300_000)

  it('every rung of gemm-fp32 compiles for the oldest architecture that it takes and for the newest recorded one, without spills', async () => {
    const real = await compiler()
    await inParallel(
      plan.rungs.flatMap((planned) => {
        const { requires } = planned.rung.header
        return [requires?.slice('sm_'.length) ?? '75', '90'].map((sm) => ({ planned, sm }))
      }),
      async ({ planned, sm }) => {
        const { build, diagnostics, reason } = await buildRung(real, plan, planned, sm)
        expect(said(reason), planned.rung.id).toBeUndefined()
        expect(diagnostics, planned.rung.id).toEqual([])
        if (planned.rung.id === '00_cublas') expect(build?.registersPerThread).toBeNull()
        else expect(build).toMatchObject({ spillStoreBytes: 0, cached: false })
      },
    )
  }, 180_000)

  it('the runner compiles, and says in JSON that there is no GPU or what it is', async () => {
    const runner = await buildRunner(await compiler(), await readSharedFiles(kernels, 'runner'))
    const { stdout, exitCode } = await runProcess({ file: runner, args: ['device'] })
    const event = JSON.parse(stdout.split('\n')[0]!) as { event: string; kind?: string }
    if (exitCode === 0) expect(event.event).toBe('device')
    else expect(event).toMatchObject({ event: 'error', kind: 'no-device' })
  }, 120_000)

  it('the runner takes the words of every case, with flags, with what is read, and of another type', async () => {
    const runner = await buildRunner(await compiler(), await readSharedFiles(kernels, 'runner'))
    const rungs = [
      { id: 'a', artefact: '/none.so', flags: [] },
      { id: 'b', artefact: '/none.so', flags: ['bias', 'relu'] },
      { id: 'c', artefact: '/none.so', flags: [], options: { dtype: 'f16' } },
    ]
    for (const beta of [0, 0.5]) {
      const problem = gemmProblem(64, 48, 32, { alpha: 1.5, beta, dtype: 'bf16' })
      const own = { problem, taskFolder: null, ownerPid: process.pid }
      const call = { task: plan.task, ...own, seed: 1, rungs }
      const measured = { ...call, expected: { library: '/none.so' }, reference: 'a' }
      for (const args of [
        measureArgs({ ...measured, flushL2: true, ceilings: true, maxSeconds: 0.5 }),
        profileArgs(call),
        sanitizeArgs(call),
      ]) {
        // Words are read before a GPU is looked for.
        const { stdout } = await runProcess({ file: runner, args })
        expect(stdout).not.toContain('bad-argument')
        const refused = await runProcess({ file: runner, args: [...args, '--field', '4:i64:1'] })
        expect(refused.stdout).toContain('bad-argument')
      }
    }
  }, 120_000)

  it('every task’s reference compiles with the header that is generated for it', async () => {
    const real = await compiler()
    for (const [id, task] of library.tasks) {
      const headers = library.headers.get(id)!
      expect(
        await buildReference(real, { task, headers }, library.references.get(id)!, '90'),
      ).toMatch(/reference\.so$/)
    }
  }, 120_000)

  it('a mistake is reported at its file and line, and is not kept as a result', async () => {
    const real = await compiler()
    const good = plan.rungs.find(({ rung }) => rung.id === '02_coalesced')!
    const lines = good.source.split('\n')
    const line = lines.findIndex((text) => text.includes('float sum = 0.0f;'))
    const bad = { ...good, source: lines.with(line, '  float sum = nothing;').join('\n') }
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { artefact, reason, diagnostics } = await buildRung(real, plan, bad, '90')
      expect(artefact).toBeNull()
      expect(said(reason)).toBe(
        `Does not compile: gemm/02_coalesced.cu:${line + 1}: identifier "nothing" is undefined`,
      )
      expect(diagnostics[0]).toMatchObject({ severity: 'error', line: line + 1 })
    }
    expect((await buildRung(real, plan, good, '90')).artefact).not.toBeNull()
  }, 120_000)

  it('a rule that parameters break is told in the words of its static_assert', async () => {
    const real = await compiler()
    const planned = plan.rungs.find(({ rung }) => rung.id === '05_thread_tile_2d')!
    const rung = { ...planned.rung, params: { ...planned.rung.params, TM: 3 } }
    const { reason } = await buildRung(real, plan, { ...planned, rung }, '90')
    expect(said(reason)).toContain('BM must be a multiple of TM')
  }, 60_000)

  it('line information points into the cache, where the source stays', async () => {
    const real = await compiler()
    const planned = plan.rungs.find(({ rung }) => rung.id === '01_naive')!
    const { artefact } = await buildRung(real, plan, planned, '90')
    const kept = await readFile(join(artefact!, '..', 'src', planned.rung.file), 'utf8')
    expect(kept).toBe(planned.source)
  }, 60_000)
})
