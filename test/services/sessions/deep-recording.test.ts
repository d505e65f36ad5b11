/**
 * Tests the built-in deep recording by replaying it through the live parsers. Also tests a deep run
 * with fake tools that replay the recording.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bottleneckOf, type BottleneckClass } from '../../../src-main/domain/analysis/bottleneck'
import {
  DeepProfile,
  identicalSass,
  lineHeat,
  opcodeDelta,
  opcodeFamily,
  opcodeHistogram,
  sassOfLine,
  stallHistogram,
} from '../../../src-main/domain/session/deep'
import { metricDefinition } from '../../../src-main/domain/metrics/metrics'
import { planProfile } from '../../../src-main/domain/analysis/pass-plan'
import { readRaw } from '../../../src-main/adapters/tools/raw-files'
import { createCore } from '../../../src-main/services/app/core'
import { openNamed, openSession } from '../../../src-main/services/sessions/open-session'
import { said } from '../../support'
import { fakeMachine, recordingsDir, rung, setupIn, tempDir } from '../support'
import { liveRegisters } from '../../../src-main/domain/sass/live-registers'
import { setUp } from '../../../src-main/adapters/machine/local-machine'
import { recordedRaw } from '../../../src-main/adapters/tools/recorded-raw'
import { recordedToolbox } from '../../../src-main/adapters/tools/recorded-toolbox'

const ref = 'recorded:gemm-fp32-h200-4096-deep'
const folder = join(recordingsDir, 'gemm-fp32-h200-4096-deep')
const { session, sources, deep } = await openSession(setupIn(await tempDir()), ref)
const profileOf = async (id: string): Promise<DeepProfile> => (await deep(id))!
const total = (histogram: Record<string, number> | null): number =>
  Object.values(histogram!).reduce((sum, value) => sum + value, 0)

describe('the deep recording of gemm-fp32', () => {
  it('is small, and is replayed from raw tool output without a stored profile', async () => {
    expect((await stat(recordedRaw(folder))).size).toBeLessThan(1e6)
    expect(existsSync(folder)).toBe(false)
  })

  it.each(session.rungs.map(({ id }) => id))(
    '%s has all instructions that ncu counted',
    async (id) => {
      const profile = await profileOf(id)
      expect(DeepProfile.parse(profile)).toEqual(profile)
      // The whole kernel's counter must equal the sum over its instructions.
      expect(total(opcodeHistogram(profile))).toBe(rung(session, id).metrics.instructions?.value)
      expect(
        total(
          Object.fromEntries(
            Object.entries(opcodeHistogram(profile)!).filter(([opcode]) =>
              ['LDS', 'LDSM'].includes(opcodeFamily(opcode)),
            ),
          ),
        ),
      ).toBe(rung(session, id).metrics.sharedLoads?.value)
      expect(profile.kernels[0]!.rules.length).toBeGreaterThan(3)
      expect(total(stallHistogram(profile))).toBeGreaterThan(1000)
    },
  )

  it.each(session.rungs.map(({ id }) => id).filter((id) => id !== '00_cublas'))(
    "%s has its hottest line and every line of its SASS in the session's sources",
    async (id) => {
      const profile = await profileOf(id)
      const own = sources[id]!.split('\n')
      const [hottest] = lineHeat(profile, 'samples')
      expect(hottest!.file).toBe(rung(session, id).file)
      expect(hottest!.text!.trim()).toBe(own[hottest!.line - 1]!.trim())
      expect(hottest!.share).toBeGreaterThan(0.2)
      expect(hottest!.share).toBeLessThanOrEqual(1)
      expect(sassOfLine(profile, hottest!.file, hottest!.line).length).toBeGreaterThan(3)
      const files = new Set(profile.kernels[0]!.instructions.map(({ file }) => file))
      files.delete(null)
      // CUDA inlines this header for shared-memory addresses. A session does not store CUDA's
      // headers.
      files.delete('sm_20_intrinsics.hpp')
      expect(files).toEqual(new Set([rung(session, id).file, 'include/gemm_common.cuh']))
    },
  )

  it.each(session.rungs.map(({ id }) => id).filter((id) => id !== '00_cublas'))(
    "%s: the counters of each line's instructions add up to ncu's counters for the line",
    async (id) => {
      const profile = await profileOf(id)
      for (const { file, line, executed, samples } of profile.kernels[0]!.lines) {
        const own = sassOfLine(profile, file, line).map(({ instruction }) => instruction)
        const sum = (figure: 'executed' | 'samples'): number =>
          own.reduce((so, instruction) => so + instruction[figure]!, 0)
        expect([sum('executed'), sum('samples')], `${file}:${line}`).toEqual([executed, samples])
      }
    },
  )

  it.each(session.rungs.map(({ id }) => id))(
    '%s has at most as many live registers as ptxas allocated, and almost as many at its peak',
    async (id) => {
      const [{ instructions }] = (await profileOf(id)).kernels as [DeepProfile['kernels'][number]]
      const held = Math.max(...liveRegisters(instructions)!.map(({ general }) => general))
      const given = rung(session, id).launches![0]!.resources.registersPerThread!
      expect(held).toBeLessThanOrEqual(given)
      expect(held).toBeGreaterThan(0.85 * given)
    },
  )

  it('has every line that ncu counted, including lines with quotes', async () => {
    for (const id of session.rungs.map((own) => own.id))
      expect(said((await profileOf(id)).notes).join()).not.toMatch(/left out/)
    const own = (await profileOf('10_cp_async')).kernels[0]!.lines
    const text = sources['10_cp_async']!.split('\n')
    for (const asm of own.filter(({ text: line }) => line!.includes('asm volatile("')))
      expect(asm.text!.trim()).toBe(text[asm.line - 1]!.trim())
    expect(own.some(({ text: line }) => line!.includes('cp.async.commit_group;"'))).toBe(true)
  })

  it('has the machine code of cuBLAS, with a note that the code has no source lines', async () => {
    const { kernels, notes } = await profileOf('00_cublas')
    expect(kernels[0]!.instructions.length).toBeGreaterThan(7000)
    expect(kernels[0]!.lines).toEqual([])
    expect(said(notes).join()).toMatch(/without line information/)
  })

  it('shows that float4 needs only an eighth of the global loads, each of which is wider', async () => {
    const [before, after] = [await profileOf('05_thread_tile_2d'), await profileOf('06_float4')]
    expect(identicalSass(before, after)).toBe(false)
    expect(identicalSass(after, await profileOf('06_float4'))).toBe(true)
    const delta = opcodeDelta(before, after)!
    expect(delta.find(({ key }) => key === 'LDG.E.CONSTANT')).toMatchObject({ b: 0 })
    expect(delta.find(({ key }) => key === 'LDG.E.128.CONSTANT')).toMatchObject({ a: 0 })
    expect(delta.find(({ key }) => key === 'FFMA')).toMatchObject({ delta: 0 })
  })

  it.each<[string, BottleneckClass, boolean]>([
    ['00_cublas', 'fma-issue', false],
    ['01_naive', 'l1-bandwidth', false],
    ['02_coalesced', 'lsu-mio', true],
    ['03_shared_tile', 'lsu-mio', false],
    ['04_thread_tile_1d', 'lsu-mio', false],
    ['05_thread_tile_2d', 'lsu-mio', true],
    ['06_float4', 'fma-issue', true],
  ])('shows what limits %s: %s', (id, expected, leaning) => {
    expect(bottleneckOf(session, rung(session, id))).toMatchObject({ class: expected, leaning })
  })

  it('took as many passes as estimated and, for the whole ladder, about the estimated time', async () => {
    const plan = planProfile({
      level: 'deep',
      computeCapability: session.device!.computeCapability,
      rungs: session.rungs.map(({ id, timing }) => ({ id, medianMs: timing!.medianMs })),
    })
    expect(new Set(session.rungs.map(({ profile }) => profile?.passes))).toEqual(
      new Set([plan.passes]),
    )
    const { call } = (await readRaw(folder, 'ncu/profile'))!
    expect(plan.seconds / call.seconds).toBeGreaterThan(0.7)
    expect(plan.seconds / call.seconds).toBeLessThan(1.3)
  })
})

describe('bank conflicts, excluding the effect of arbitration', () => {
  const figure = (id: string, metric: string): number | null | undefined =>
    rung(session, id).metrics[metric]?.value

  // Bank conflicts of loads, stores, and cp.async that follow from each rung's addresses. Any other
  // conflicts that ncu counted are noise.
  it.each([
    ['00_cublas', 0, 0, 50_331_648],
    ['01_naive', 0, 0, 0],
    ['03_shared_tile', 0, 0, 0],
    ['05_thread_tile_2d', 268_435_456, 0, 0],
    ['06_float4', 0, 16_777_216, 0],
    ['07_conflict_free', 0, 0, 0],
    ['10_cp_async', 0, 0, 50_331_648],
    ['14_shape_dispatch', 0, 0, 25_165_824],
  ])('%s: %d for loads, %d for stores, %d for copies', (id, loads, stores, copies) => {
    expect(figure(id, 'sharedLoadStructuralConflicts')).toBe(loads)
    expect(figure(id, 'sharedStoreStructuralConflicts')).toBe(stores)
    expect(figure(id, 'sharedCopyStructuralConflicts')).toBe(copies)
    expect(figure(id, 'sharedLoadArbitrationNoise')).toBe(
      figure(id, 'sharedLoadBankConflicts')! - loads,
    )
    expect(figure(id, 'sharedStoreArbitrationNoise')).toBe(
      figure(id, 'sharedStoreBankConflicts')! - stores,
    )
  })

  it('are derived from addresses, which reveals noise in the counters of code without conflicts', () => {
    const { metrics } = rung(session, '03_shared_tile')
    expect(metrics['sharedStoreStructuralConflicts']).toMatchObject({ evidence: 'derived' })
    expect(said(metrics['sharedStoreStructuralConflicts']!.reason)).toMatch(/STS, STSM/)
    expect(metrics['sharedStoreArbitrationNoise']!.value).toBeGreaterThan(1e7)
  })
})

describe('a deep run', () => {
  it('stores a profile per rung next to the session, and can be replayed', async () => {
    const machine = await fakeMachine()
    // The fake tools can replay only the rungs recorded at this level.
    const rungs = session.rungs.map(({ id }) => id)
    const { session: run, folder: saved } = await machine.run({ profile: 'deep', rungs })
    expect(run.settings.profile).toBe('deep')
    expect(run.warnings).toEqual([])
    // Older sessions have no sums over instructions. The program adds these sums when it opens an
    // older session.
    const file = join(saved!, 'session.json')
    const old = JSON.parse(await readFile(file, 'utf8')) as typeof run
    for (const own of old.rungs)
      own.metrics = Object.fromEntries(
        Object.entries(own.metrics).filter(([id]) => metricDefinition(id)?.level !== 'deep'),
      )
    await writeFile(file, JSON.stringify(old))
    expect((await openNamed(setupIn(await tempDir()), saved!)).session.rungs).toEqual(run.rungs)
    const core = createCore(await setUp(), { host: 'web', session: saved! })
    for (const { id } of run.rungs)
      expect(await core.call('sessions.deep', { ref: run.id, rung: id })).toEqual(
        await profileOf(id),
      )
    const again = recordedToolbox(saved!)
    expect(
      (await again.exec({ tool: 'ncu', key: 'ncu/source-sass', file: '', args: [] })).stdout,
    ).not.toBe('')
    await core.close()
  })

  it(
    'writes its deep profiles when its replay is saved to a named folder',
    { tags: ['thorough'] },
    async () => {
      const machine = await fakeMachine()
      const out = join(machine.dir, 'kept')
      await machine.run({ target: ref, size: undefined, profile: 'deep' }, { out })
      expect((await readdir(join(out, 'deep'))).sort()).toEqual(
        session.rungs.map(({ id }) => `${id}.json`).sort(),
      )
    },
  )
})
