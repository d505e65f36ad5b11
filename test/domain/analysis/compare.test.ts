/**
 * Tests the comparison of two rungs: their figures, comparability, and the effect of a change on
 * the time.
 */
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  compareRungs,
  dynamicMetricNoise,
  type MetricDelta,
  parameterWords,
  type TimeDelta,
} from '../../../src-main/domain/analysis/compare'
import { type MetricValue } from '../../../src-main/domain/metrics/metrics'
import { rungBefore, rungOf, type RungResult } from '../../../src-main/domain/session/session'
import {
  comparability,
  ratioWarning,
  ratioWarnings,
  rungWarnings,
} from '../../../src-main/domain/analysis/comparability'
import { inEnglish } from '../../../src-main/domain/text/english'
import {
  chain,
  type ChainSide,
  type Hunk,
  metricsMovedBy,
} from '../../../src-main/domain/analysis/chain'
import {
  notCounted,
  type DeepProfile,
  type Instruction,
} from '../../../src-main/domain/session/deep'

describe('figures', async () => {
  const session = await readSession('resources/recordings/gemm-fp32-h200-4096')
  const rung = (id: string): RungResult => rungOf(session, id)!
  const compare = (a: RungResult, b: RungResult) =>
    compareRungs({ session, rung: a }, { session, rung: b })
  const measured = (value: number, unit: MetricValue['unit'] = '%'): MetricValue => ({
    value,
    unit,
    evidence: 'measured',
  })
  const withMetric = (base: RungResult, id: string, value: MetricValue): RungResult => ({
    ...base,
    metrics: { ...base.metrics, [id]: value },
  })
  const verdict = (id: string, a: MetricValue, b: MetricValue): string | undefined =>
    compare(
      withMetric(rung('01_naive'), id, a),
      withMetric(rung('02_coalesced'), id, b),
    ).metrics.find((delta) => delta.id === id)?.verdict

  describe('a comparison of two rungs', () => {
    it('computes the speedup of b over a', () => {
      const { time } = compare(rung('01_naive'), rung('02_coalesced'))
      expect(time.verdict).toBe('better')
      expect(time.speedup).toBeCloseTo(
        rung('01_naive').timing!.medianMs / rung('02_coalesced').timing!.medianMs,
      )
      expect(compare(rung('02_coalesced'), rung('01_naive')).time.verdict).toBe('worse')
    })

    it('gives no verdict on a time difference within both spreads', () => {
      const a = rung('05_thread_tile_2d')
      const near = (share: number): RungResult => ({
        ...a,
        timing: { ...a.timing!, medianMs: a.timing!.medianMs * share, spread: 0.01 },
      })
      expect(compare(near(1), near(1.015)).time.verdict).toBe('same')
      expect(compare(near(1), near(1.03)).time.verdict).toBe('worse')
      expect(compare(near(1), near(0.97)).time.verdict).toBe('better')
    })

    it.each([
      ['fmaUtilization', 10, 20, 'better'],
      ['fmaUtilization', 20, 10, 'worse'],
      ['fmaUtilization', 20, 20 * (1 + dynamicMetricNoise / 2), 'same'],
      ['instructions', 1000, 990, 'better'],
      ['instructions', 1000, 1010, 'worse'],
      ['instructions', 1000, 1004, 'same'],
      ['tensorUtilization', 0, 0.31, 'same'],
      ['stallDispatch', 0.29, 0.33, 'same'],
      ['stallLongScoreboard', 1.02, 0.03, 'better'],
      ['stallNotSelected', 1.8, 2.3, 'changed'],
      ['achievedOccupancy', 24.3, 23.8, 'same'],
      ['sharedLoads', 0, 0, 'same'],
      ['theoreticalOccupancy', 50, 100, 'changed'],
    ])('%s from %d to %d is %s', (id, a, b, expected) => {
      expect(verdict(id, measured(a), measured(b))).toBe(expected)
    })

    it('gives no verdict on a change that is negligible relative to the total count', () => {
      const counted = (conflicts: number, bits: number): RungResult => ({
        ...rung('05_thread_tile_2d'),
        metrics: {
          sharedLoadWavefronts: measured(1e6),
          instructions: measured(1e6),
          sharedLoadBankConflicts: measured(conflicts),
          bitInstructions: measured(bits),
        },
      })
      const verdicts = (conflicts: number, bits: number): string[] =>
        compare(counted(0, 0), counted(conflicts, bits))
          .metrics.filter(({ id }) => /Conflicts|bit/.test(id))
          .map((delta) => delta.verdict)
      expect(verdicts(19_000, 150_000)).toEqual(['same', 'same'])
      expect(verdicts(21_000, 170_000)).toEqual(['worse', 'worse'])
    })

    it('gives no verdict on a time change below half a percent, even with small spreads', () => {
      const timed = (medianMs: number): RungResult => ({
        ...rung('05_thread_tile_2d'),
        timing: { ...rung('05_thread_tile_2d').timing!, medianMs, spread: 0 },
      })
      expect(compare(timed(1), timed(1.004)).time.verdict).toBe('same')
      expect(compare(timed(1), timed(1.006)).time.verdict).toBe('worse')
    })

    it('treats a metric that one side did not collect as unknown, not as zero', () => {
      const missing: MetricValue = { value: null, unit: '%', evidence: 'unavailable', reason: 'x' }
      expect(verdict('fmaUtilization', missing, measured(5))).toBe('unknown')
      expect(verdict('fmaUtilization', measured(0), measured(5))).toBe('better')
    })

    it('reports which predictions in b’s header were correct', () => {
      const { metrics } = compare(rung('04_thread_tile_1d'), rung('05_thread_tile_2d'))
      const expected = Object.fromEntries(
        metrics.flatMap(({ id, expected: prediction }) =>
          prediction ? [[id, prediction.met]] : [],
        ),
      )
      expect(expected).toEqual({
        sharedLoads: true,
        fmaUtilization: true,
        registersPerThread: true,
        achievedOccupancy: true,
      })
    })

    it("judges a header's predictions only against the previous rung in that header", () => {
      const predicted = (a: string, b: string): boolean =>
        compare(rung(a), rung(b)).metrics.some(({ expected }) => expected !== null)
      expect(predicted('07_conflict_free', '08_warp_tile')).toBe(true)
      expect(predicted('06_float4', '08_warp_tile')).toBe(false)
      expect(predicted('08_warp_tile', '08_half_block')).toBe(false)
    })

    it('lists the parameters that differ, but only between variants of one source', () => {
      const { parameters } = compare(rung('08_warp_tile'), rung('08_half_block'))
      expect(parameters).toEqual([
        { name: 'BM', a: 128, b: 64 },
        { name: 'BK', a: 8, b: 16 },
        { name: 'WM', a: 64, b: 32 },
        { name: 'WN', a: 32, b: 64 },
      ])
      expect(parameterWords(parameters)).toBe('BM 128 → 64, BK 8 → 16, WM 64 → 32, WN 32 → 64')
      expect(compare(rung('08_half_block'), rung('09_register_prefetch')).parameters).toEqual([])
    })

    it.each([
      [1000, 1009, true, 'same'],
      [1000, 1011, false, 'worse'],
      [0, 0, true, 'same'],
      [0, 1, false, 'worse'],
    ])('from %d to %d loads, a predicted “same” is correct: %s', (a, b, met, told) => {
      const predicting = (value: number) => ({
        ...rung('03_shared_tile'),
        after: null,
        expect: [{ metric: 'sharedLoads', direction: 'same' as const }],
        metrics: { sharedLoads: measured(value) },
      })
      const { metrics } = compare(predicting(a), predicting(b))
      const loads = metrics.find(({ id }) => id === 'sharedLoads')!
      expect([loads.expected?.met, loads.verdict]).toEqual([met, told])
    })
  })

  describe('kernels that only ncu timed', () => {
    const kernel = (medianMs: number, spread: number | null = null): RungResult => ({
      ...rung('01_naive'),
      timing: null,
      profiledTime: {
        ...{ launches: 1, totalMs: medianMs, medianMs },
        ...{ minMs: medianMs, maxMs: medianMs, spread },
      },
    })

    it('are compared by median launch and count as equal within the usual launch-to-launch variation', () => {
      expect(compare(kernel(2), kernel(1)).time).toMatchObject({ speedup: 2, verdict: 'better' })
      expect(compare(kernel(1), kernel(1.04)).time.verdict).toBe('same')
      expect(compare(kernel(1, 0.001), kernel(1.04, 0.001)).time.verdict).toBe('worse')
    })

    it('are not compared with times from the runner', () => {
      expect(compare(rung('01_naive'), kernel(1)).time).toMatchObject({
        bMs: null,
        speedup: null,
        verdict: 'unknown',
      })
    })
  })

  describe('the previous rung', () => {
    it('is the rung that the header names, and never the reference', () => {
      expect(rungBefore(session, '03_shared_tile')?.id).toBe('02_coalesced')
      expect(rungBefore(session, '01_naive')).toBeUndefined()
      expect(rungBefore(session, '00_cublas')).toBeUndefined()
    })

    it('does not exist for a rung whose header names the reference as its predecessor', async () => {
      const tensor = await readSession('resources/recordings/gemm-tensor-h200-4096')
      expect(rungOf(tensor, '51_wmma_naive')?.after).toBe('50_cublas_tensor')
      expect(rungBefore(tensor, '51_wmma_naive')).toBeUndefined()
    })
  })
})

describe('warnings and effects', () => {
  describe('comparability', async () => {
    const session = await readSession('resources/recordings/gemm-fp32-h200-1024')
    const { task } = session.ladder
    const plain = rungOf(session, '01_naive')!
    const fused: RungResult = { ...rungOf(session, '02_coalesced')!, flags: ['bias', 'relu'] }
    const withFused = {
      ...session,
      rungs: session.rungs.map((rung) => (rung.id === fused.id ? fused : rung)),
    }

    describe('the results that two rungs compute', () => {
      it('are not mentioned if they are the same', () => {
        expect(rungWarnings(task, plain, plain)).toEqual([])
        expect(rungWarnings(task, fused, fused)).toEqual([])
      })

      it('are described for both rungs if they differ', () => {
        expect(rungWarnings(task, plain, fused).map(inEnglish)).toEqual([
          '01_naive computes the product only, and 02_coalesced computes the product, a bias and ReLU. This difference in work accounts for part of the time difference.',
        ])
        const biased: RungResult = { ...fused, id: 'biased', flags: ['bias'] }
        const activated: RungResult = { ...fused, id: 'activated', flags: ['relu'] }
        expect(rungWarnings(task, biased, activated).map(inEnglish)).toEqual([
          'biased computes the product and a bias, and activated computes the product and ReLU. This difference in work accounts for part of the time difference.',
        ])
      })

      it('cause a warning if they differ between sessions for a rung with the same name', () => {
        expect(comparability(session, withFused).warnings.map(inEnglish)).toEqual([
          'In one session 02_coalesced computes the product only, in the other the product, a bias and ReLU.',
        ])
        expect(comparability(withFused, withFused).warnings).toEqual([])
      })

      it("cause a warning about the ratio if the rung's and the reference's results differ", () => {
        expect(ratioWarning(session, plain)).toBeNull()
        expect(inEnglish(ratioWarning(session, fused)!)).toBe(
          '02_coalesced computes the product, a bias and ReLU; its ratio is relative to 00_cublas, which computes the product only.',
        )
        expect(ratioWarnings(withFused).length).toBe(1)
        const without = { ...withFused, ladder: { ...session.ladder, reference: null } }
        expect(ratioWarnings(without)).toEqual([])
      })
    })
  })

  describe('from change to time', () => {
    const file = 'gemm/x.cu'

    const instruction = (
      line: number,
      opcode: string,
      executed: number | null,
      over: Partial<Instruction> = {},
    ): Instruction => ({
      index: 0,
      offset: 0,
      text: opcode,
      opcode,
      file,
      line,
      ...notCounted,
      executed,
      ...over,
    })

    function side(instructions: Instruction[]): ChainSide {
      const opcodes: Record<string, number> = {}
      for (const { opcode, executed } of instructions)
        opcodes[opcode] = (opcodes[opcode] ?? 0) + (executed ?? 0)
      const deep: DeepProfile = {
        schema: 2,
        rung: 'x',
        kernels: [{ name: 'k', instructions, lines: [], opcodes, rules: [] }],
        notes: [],
      }
      return { file, deep }
    }

    const delta = (
      id: string,
      verdict: MetricDelta['verdict'],
      change: number | null,
    ): MetricDelta => ({
      id,
      label: id,
      unit: 'inst',
      a: null,
      b: null,
      delta: change,
      ratio: null,
      verdict,
      expected: null,
    })
    const time: TimeDelta = {
      ...{ aMs: 2, bMs: 1, speedup: 2, noise: 0.01, verdict: 'better' },
      cacheState: { a: 'cold', b: 'cold' },
    }
    const metrics = [
      delta('sharedLoads', 'better', -6),
      delta('sharedLoadBankConflicts', 'better', -100),
      delta('fmaUtilization', 'better', 20),
      delta('achievedOccupancy', 'changed', -5),
      delta('wavesPerSm', 'same', 0),
      delta('stallShortScoreboard', 'unknown', null),
    ]

    const hunk = (a: [number, number], b: [number, number]): Hunk => ({
      a: { from: a[0], to: a[1] },
      b: { from: b[0], to: b[1] },
    })

    describe('a change', () => {
      it('is linked to the opcodes executed on its lines, and to the counters that they affect', () => {
        const { links } = chain(
          [hunk([5, 6], [5, 5])],
          side([
            instruction(5, 'LDS', 8),
            instruction(6, 'FFMA', 8),
            instruction(9, 'BAR.SYNC', 1),
          ]),
          side([
            instruction(5, 'LDS.128', 2),
            instruction(6, 'FFMA', 8),
            instruction(9, 'BAR.SYNC', 1),
          ]),
          { metrics, time },
        )
        expect(links[0]!.opcodes!.map(({ key, a, b }) => [key, a, b])).toEqual([
          ['FFMA', 8, 0],
          ['LDS', 8, 2],
        ])
        expect(links[0]!.counters.map(({ id }) => id)).toEqual([
          'sharedLoads',
          'sharedLoadBankConflicts',
          'fmaUtilization',
        ])
      })

      it('is linked to conflicts if the same loads take fewer passes', () => {
        const { links } = chain(
          [hunk([5, 5], [5, 5])],
          side([
            instruction(5, 'LDS.128', 2, { sharedWavefronts: 24, sharedWavefrontsExcess: 16 }),
          ]),
          side([instruction(5, 'LDS.128', 2, { sharedWavefronts: 8, sharedWavefrontsExcess: 0 })]),
          { metrics, time },
        )
        expect(links[0]!.opcodes).toEqual([])
        expect(links[0]!.counted).toEqual([
          { kind: 'sharedWavefronts', a: 24, b: 8 },
          { kind: 'sharedWavefrontsExcess', a: 16, b: 0 },
        ])
        expect(links[0]!.counters.map(({ id }) => id)).toContain('sharedLoadBankConflicts')
      })

      it('that only adds lines has no old opcodes to compare with', () => {
        const { links } = chain(
          [hunk([5, 4], [5, 6])],
          side([instruction(5, 'MOV', 1)]),
          side([instruction(6, 'STG.E', 4)]),
          { metrics, time },
        )
        expect(links[0]!.opcodes!.map(({ key, a, b }) => [key, a, b])).toEqual([['STG', 0, 4]])
      })

      it('is reported as unknown, without counters, if one side was not profiled or has no counts', () => {
        for (const other of [{ file, deep: null }, side([instruction(5, 'LDS', null)])]) {
          const { links, elsewhere } = chain(
            [hunk([5, 5], [5, 5])],
            side([instruction(5, 'LDS', 8)]),
            other,
            { metrics, time },
          )
          expect(links[0]!.opcodes).toBeNull()
          expect(links[0]!.counters).toEqual([])
          expect(elsewhere).toBeNull()
        }
      })
    })

    it('lists opcode changes on unchanged source lines separately', () => {
      const { links, elsewhere } = chain(
        [hunk([5, 5], [5, 5])],
        side([instruction(5, 'LDS', 8), instruction(9, 'IMAD.MOV', 4)]),
        side([instruction(5, 'LDS', 2), instruction(9, 'IMAD', 1)]),
        { metrics, time },
      )
      expect(links[0]!.opcodes!.map(({ key }) => key)).toEqual(['LDS'])
      expect(elsewhere!.map(({ key, delta: change }) => [key, change])).toEqual([['IMAD', -3]])
    })

    it('lists counter changes that no source change explains, without equal or unknown counters', () => {
      const { unexplained } = chain(
        [hunk([5, 5], [5, 5])],
        side([instruction(5, 'LDS', 8)]),
        side([instruction(5, 'LDS', 2)]),
        { metrics, time },
      )
      expect(unexplained.map(({ id }) => id)).toEqual(['fmaUtilization', 'achievedOccupancy'])
    })

    it('does not guess the counters that an opcode affects', () => {
      expect(metricsMovedBy('IADD3')).toEqual([])
      expect(metricsMovedBy('LDS')[0]).toBe('sharedLoads')
      expect(metricsMovedBy('LDSX')).toEqual([])
    })
  })
})
