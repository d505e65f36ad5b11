/** The build service with what the real compiler says, kept or said now; needs no GPU. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import {
  readKernelLibrary,
  readSharedFiles,
} from '../../../src-main/adapters/kernels/kernel-library'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import {
  buildReference,
  buildRung,
  buildRunner,
  inParallel,
} from '../../../src-main/services/run/build'
import { planRun } from '../../../src-main/services/run/plan'
import { measureArgs, profileArgs, sanitizeArgs } from '../../../src-main/adapters/tools/runner'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { shippedKernels, tempDir } from '../support'
import { gemmProblem } from '../../gemm'
import { keeping, keptNvcc, orSkip, realCompiler } from '../../kept-nvcc'
import { said } from '../../said'

const nvcc = await findTool('nvcc')
const library = await readKernelLibrary(shippedKernels)
const plan = planRun(library, { ladder: 'gemm-fp32', params: {}, profile: 'none' })

const kept = await keptNvcc('rungs')
afterAll(() => {
  if (keeping) kept.save()
})

describe('what nvcc said of the kernels that ship', () => {
  it('every rung of every ladder compiles with the parameters it has there', async (test) => {
    const compiler = await kept.compiler()
    const planned = new Map(
      library.ladders
        .filter(({ id }) => id !== plan.ladder.id)
        .flatMap(({ id }) => {
          const own = planRun(library, { ladder: id, params: {}, profile: 'none' })
          return own.rungs.map((entry) => ({ own, entry }))
        })
        .map((one) => [`${one.entry.rung.file} ${JSON.stringify(one.entry.rung.params)}`, one]),
    )
    const work = inParallel([...planned], async ([what, { own, entry }]) => {
      const sm = entry.rung.header.requires === 'sm_90a' ? '90a' : '90'
      const { build, reason } = await buildRung(compiler, own, entry, sm)
      expect(said(reason), what).toBeUndefined()
      expect(build?.spillStoreBytes ?? 0, what).toBe(0)
    })
    await orSkip(test, work)
  }, 300_000)

  it('every rung of gemm-fp32 compiles for the oldest architecture that it takes and for the newest recorded one, without spills', async (test) => {
    const compiler = await kept.compiler()
    const work = inParallel(
      plan.rungs.flatMap((planned) => {
        const { requires } = planned.rung.header
        return [requires?.slice('sm_'.length) ?? '75', '90'].map((sm) => ({ planned, sm }))
      }),
      async ({ planned, sm }) => {
        const { build, diagnostics, reason } = await buildRung(compiler, plan, planned, sm)
        expect(said(reason), planned.rung.id).toBeUndefined()
        expect(diagnostics, planned.rung.id).toEqual([])
        if (planned.rung.id === '00_cublas') expect(build?.registersPerThread).toBeNull()
        else expect(build).toMatchObject({ spillStoreBytes: 0, cached: false })
      },
    )
    await orSkip(test, work)
  }, 180_000)

  it('every task’s reference compiles with the header that is generated for it', async (test) => {
    const compiler = await kept.compiler()
    const work = inParallel([...library.tasks], async ([id, task]) => {
      const headers = library.headers.get(id)!
      const reference = library.references.get(id)!
      expect(await buildReference(compiler, { task, headers }, reference, '90')).toMatch(
        /reference\.so$/,
      )
    })
    await orSkip(test, work)
  }, 120_000)

  it.skipIf(keeping)('is kept as the kernels are now', () => {
    expect(kept.stale, 'see test/kept-nvcc.ts').toEqual([])
  })

  it('line information points into the cache, where the source stays', async (test) => {
    const compiler = await kept.compiler()
    const planned = plan.rungs.find(({ rung }) => rung.id === '01_naive')!
    const work = buildRung(compiler, plan, planned, '90').then(async ({ artefact }) => {
      const source = await readFile(join(artefact!, '..', 'src', planned.rung.file), 'utf8')
      expect(source).toBe(planned.source)
    })
    await orSkip(test, work)
  }, 60_000)
})

describe.skipIf(nvcc === null)('with a real nvcc (skipped where none is installed)', () => {
  let built: Promise<string> | undefined
  const builtRunner = (): Promise<string> =>
    (built ??= (async () =>
      buildRunner(await realCompiler(), await readSharedFiles(shippedKernels, 'runner')))())

  it('the runner compiles, and says in JSON that there is no GPU or what it is', async () => {
    const runner = await builtRunner()
    const { stdout, exitCode } = await runProcess({ file: runner, args: ['device'] })
    const event = JSON.parse(stdout.split('\n')[0]!) as { event: string; kind?: string }
    if (exitCode === 0) expect(event.event).toBe('device')
    else expect(event).toMatchObject({ event: 'error', kind: 'no-device' })
  }, 120_000)

  it('the runner takes the words of every case, with flags, with what is read, and of another type', async () => {
    const runner = await builtRunner()
    const rungs = [
      { id: 'a', artefact: '/none.so', flags: [] },
      { id: 'b', artefact: '/none.so', flags: ['bias', 'relu'] },
      { id: 'c', artefact: '/none.so', flags: [], options: { dtype: 'f16' } },
    ]
    for (const beta of [0, 0.5]) {
      const problem = gemmProblem(64, 48, 32, { alpha: 1.5, beta, dtype: 'bf16' })
      const own = { problem, taskFolder: null, ownerPid: process.pid }
      const call = { task: plan.task, ...own, seed: 1, rungs }
      const measured = {
        ...call,
        expected: { library: '/none.so', shown: 'reference.cu' },
        reference: 'a',
      }
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

  it('a mistake is reported at its file and line, and is not kept as a result', async () => {
    const real = await realCompiler(diskBuildCache(await tempDir()))
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
    const { artefact, build } = await buildRung(real, plan, good, '90')
    expect(artefact).not.toBeNull()
    // And says of what is right what is kept of it.
    const { build: told } = await buildRung(await kept.compiler(), plan, good, '90')
    expect({ ...build, seconds: 0 }).toEqual({ ...told, seconds: 0 })
  }, 120_000)

  it('a rule that parameters break is told in the words of its static_assert', async () => {
    const real = await realCompiler(diskBuildCache(await tempDir()))
    const planned = plan.rungs.find(({ rung }) => rung.id === '05_thread_tile_2d')!
    const rung = { ...planned.rung, params: { ...planned.rung.params, TM: 3 } }
    const { reason } = await buildRung(real, plan, { ...planned, rung }, '90')
    expect(said(reason)).toContain('BM must be a multiple of TM')
  }, 60_000)
})
