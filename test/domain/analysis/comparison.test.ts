/** Two rungs beside each other: which figures may be compared, and how a change leads to the time. */
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  comparability,
  ratioWarning,
  ratioWarnings,
  rungWarnings,
} from '../../../src-main/domain/analysis/comparability'
import { inEnglish } from '../../../src-main/domain/text/wording'
import { rungOf, type RungResult } from '../../../src-main/domain/session/session'
import {
  chain,
  type ChainSide,
  type Hunk,
  metricsMovedBy,
} from '../../../src-main/domain/analysis/chain'
import { type MetricDelta, type TimeDelta } from '../../../src-main/domain/analysis/compare'
import { type DeepProfile, type Instruction } from '../../../src-main/domain/session/deep'

describe('comparability', async () => {
  const session = await readSession('resources/recordings/gemm-fp32-h200-1024')
  const { task } = session.ladder
  const plain = rungOf(session, '01_naive')!
  const fused: RungResult = { ...rungOf(session, '02_coalesced')!, flags: ['bias', 'relu'] }
  const withFused = {
    ...session,
    rungs: session.rungs.map((rung) => (rung.id === fused.id ? fused : rung)),
  }

  describe('what two rungs compute', () => {
    it('is not mentioned where it is the same', () => {
      expect(rungWarnings(task, plain, plain)).toEqual([])
      expect(rungWarnings(task, fused, fused)).toEqual([])
    })

    it('is said of both where it differs', () => {
      expect(rungWarnings(task, plain, fused).map(inEnglish)).toEqual([
        '01_naive computes the product only, and 02_coalesced computes the product, a bias and ReLU; that accounts for part of the difference in time.',
      ])
      const biased: RungResult = { ...fused, id: 'biased', flags: ['bias'] }
      const activated: RungResult = { ...fused, id: 'activated', flags: ['relu'] }
      expect(rungWarnings(task, biased, activated).map(inEnglish)).toEqual([
        'biased computes the product and a bias, and activated computes the product and ReLU; that accounts for part of the difference in time.',
      ])
    })

    it('is warned of where a rung of one name computes another thing in another session', () => {
      expect(comparability(session, withFused).warnings.map(inEnglish)).toEqual([
        'In one session 02_coalesced computes the product only, in the other the product, a bias and ReLU.',
      ])
      expect(comparability(withFused, withFused).warnings).toEqual([])
    })

    it('is not what the reference computes, to which the ratio is', () => {
      expect(ratioWarning(session, plain)).toBeNull()
      expect(inEnglish(ratioWarning(session, fused)!)).toBe(
        '02_coalesced computes the product, a bias and ReLU; 00_cublas, which its ratio is relative to, computes the product only.',
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
    executed,
    threadExecuted: null,
    samples: null,
    notIssuedSamples: null,
    stalls: null,
    sharedWavefronts: null,
    sharedWavefrontsIdeal: null,
    sharedWavefrontsExcess: null,
    globalL1Requests: null,
    globalL2Sectors: null,
    globalL2SectorsIdeal: null,
    globalL2SectorsExcess: null,
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
  const time: TimeDelta = { aMs: 2, bMs: 1, speedup: 2, noise: 0.01, verdict: 'better' }
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
    it('leads to the opcodes executed on its lines, and to the counters that those move', () => {
      const { links } = chain(
        [hunk([5, 6], [5, 5])],
        side([instruction(5, 'LDS', 8), instruction(6, 'FFMA', 8), instruction(9, 'BAR.SYNC', 1)]),
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

    it('leads to conflicts where the same loads take fewer passes', () => {
      const { links } = chain(
        [hunk([5, 5], [5, 5])],
        side([instruction(5, 'LDS.128', 2, { sharedWavefronts: 24, sharedWavefrontsExcess: 16 })]),
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

    it('that only adds lines is set against nothing', () => {
      const { links } = chain(
        [hunk([5, 4], [5, 6])],
        side([instruction(5, 'MOV', 1)]),
        side([instruction(6, 'STG.E', 4)]),
        { metrics, time },
      )
      expect(links[0]!.opcodes!.map(({ key, a, b }) => [key, a, b])).toEqual([['STG', 0, 4]])
    })

    it('says unknown, and nothing of counters, where a side was not profiled or not counted', () => {
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

  it('keeps apart what changed on lines that nobody changed', () => {
    const { links, elsewhere } = chain(
      [hunk([5, 5], [5, 5])],
      side([instruction(5, 'LDS', 8), instruction(9, 'IMAD.MOV', 4)]),
      side([instruction(5, 'LDS', 2), instruction(9, 'IMAD', 1)]),
      { metrics, time },
    )
    expect(links[0]!.opcodes!.map(({ key }) => key)).toEqual(['LDS'])
    expect(elsewhere!.map(({ key, delta: change }) => [key, change])).toEqual([['IMAD', -3]])
  })

  it('names what moved and no change accounts for, and leaves out what stood still or is not known', () => {
    const { unexplained } = chain(
      [hunk([5, 5], [5, 5])],
      side([instruction(5, 'LDS', 8)]),
      side([instruction(5, 'LDS', 2)]),
      { metrics, time },
    )
    expect(unexplained.map(({ id }) => id)).toEqual(['fmaUtilization', 'achievedOccupancy'])
  })

  it('does not guess what an opcode moves', () => {
    expect(metricsMovedBy('IADD3')).toEqual([])
    expect(metricsMovedBy('LDS')[0]).toBe('sharedLoads')
    expect(metricsMovedBy('LDSX')).toEqual([])
  })
})
