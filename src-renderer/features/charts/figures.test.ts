/** Tests the charts' data on the recordings that come with the program. */
import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../src-main/contract'
import { leadFigure } from '../../../src-main/domain/analysis/lead-figure'
import { otherSizes, runCommand } from '../../../src-main/domain/session/commands'
import { rung, session, recording } from '../../../test/renderer/samples'
import { gemmProblem } from '../../../test/support'
import { firstChoice, sweepCandidates } from '../../../src-main/domain/session/size-series'
import { stallFigures, stallReasons, stallTotal } from './stall-figures'
import { leastBytes, trafficMetrics, trafficRungs } from './traffic-figures'
import { drawnLimits, isKnown, rungOccupancy, rungWaves } from './occupancy-figures'
import { publishedFigure, studies, studyFigure, studyMetrics } from './study-figures'
import { sweep, toggleChoice } from './sweep-figures'
import { absence, commandFor } from './absence'

const deep = recording('gemm-fp32-h200-4096-deep')
const card = recording('gemm-fp32-h200-2048')
const small = recording('gemm-fp32-h200-1024')
const seed = recording('seed-rtx3090-h200-1024')

describe('missing data', () => {
  it('is not reported if any rung has a value', () => {
    expect(absence(deep, trafficMetrics)).toBeNull()
  })

  it('is reported with the profile level that collects the data', () => {
    expect(absence(card, trafficMetrics)).toEqual({
      kind: 'level',
      level: 'standard',
      sessionLevel: 'card',
    })
    expect(commandFor(card, 'standard')).toBe(
      'kernel-ladder run --ladder gemm-fp32 --size 2048 --profile standard',
    )
  })

  it('is reported as unavailable if the session requested the data', () => {
    const value = {
      value: null,
      unit: 'bytes' as const,
      evidence: 'unavailable' as const,
      reason: 'No permission.',
    }
    const own = { ...session([rung('01_naive', 1, { metrics: { dramBytes: value } })]) }
    own.settings = { ...own.settings, profile: 'standard' }
    expect(absence(own, ['dramBytes'])).toEqual({
      kind: 'unavailable',
      reasons: ['No permission.'],
    })
  })

  it('of an import is reported with ncu’s metric names', () => {
    const own = {
      ...session([rung('01_naive', null)]),
      target: { kind: 'imported' as const, name: 'x' },
    }
    expect(absence(own, ['dramBytes'])).toEqual({ kind: 'notInFile', ncu: ['dram__bytes.sum'] })
  })
})

describe('stall reasons', () => {
  it('are sorted by their sum over the ladder, and add up to the total number of stalled warps', () => {
    const { reasons, rungs, without } = stallFigures(deep)
    expect(without).toEqual([])
    const sum = (id: string) => rungs.reduce((all, own) => all + (own.metrics[id]?.value ?? 0), 0)
    const sums = reasons.map(({ id }) => sum(id))
    expect(sums).toEqual([...sums].sort((a, b) => b - a))
    const all = rungs.reduce((total, own) => total + stallTotal(own), 0)
    expect(stallReasons.reduce((total, { id }) => total + sum(id), 0)).toBeCloseTo(all, 6)
  })
})

describe('memory traffic', () => {
  it('is never below the size of the matrices if the cache is cold', () => {
    // At 4096³ in FP32, each of the three matrices occupies 64 MiB.
    expect(leastBytes(deep)).toBe(3 * 64 * 2 ** 20)
    for (const { id, metrics } of trafficRungs(deep).rungs)
      expect(metrics['dramBytes']!.value! / leastBytes(deep)!, id).toBeGreaterThan(0.9)
  })

  it('includes one more read of C if beta is set, and counts 16-bit inputs as 16 bits', () => {
    const problem = gemmProblem(4096, 4096, 4096, { beta: 1, dtype: 'bf16' })
    expect(leastBytes({ ...deep, problem })).toBe((2 * 32 + 2 * 64) * 2 ** 20)
  })
})

describe('occupancy', () => {
  it('equals the value that ncu measured, for every rung in the recordings', () => {
    for (const own of [deep, card, small, seed, recording('gemm-tensor-h200-4096')])
      for (const each of own.rungs) {
        const found = rungOccupancy(own, each)
        if (!isKnown(found)) continue
        const measured = each.metrics['theoreticalOccupancy']?.value
        expect(found.occupancy.percent, `${own.ladder.id} ${each.id}`).toBeCloseTo(measured!, 1)
      }
  })

  it('has no limits above the maximum blocks per SM, so that every value fits in the row', () => {
    // The rung was built but not launched. Without the rung's static shared memory, hundreds of
    // blocks would fit on an SM.
    const built = rungOccupancy(card, { ...card.rungs[1]!, profile: null })
    if (!isKnown(built)) throw new Error('The launch is not known.')
    const { limits } = built.occupancy
    expect(limits.shared).toBeGreaterThan(limits.blocks!)
    expect(drawnLimits(built.occupancy)).toEqual([
      limits.warps,
      limits.blocks,
      limits.registers,
      null,
      limits.barriers,
    ])
  })

  it('implies the number of waves that ncu reports', () => {
    for (const each of card.rungs) {
      const found = rungOccupancy(card, each)
      const waves = isKnown(found) ? rungWaves(card, found) : null
      const measured = each.metrics['wavesPerSm']?.value
      if (waves && each.profile!.kernels.length === 1)
        expect(waves.waves.waves, each.id).toBeCloseTo(measured!, 1)
    }
  })

  it('is replaced with the reason if unknown', () => {
    expect(rungOccupancy(card, rung('x', 1))).toBe('notProfiled')
    const profile = {
      passes: 1,
      kernels: [{ name: 'k', grid: [1, 1, 1], block: [32, 1, 1], passes: 1 }],
    }
    expect(rungOccupancy(card, rung('x', 1, { profile: profile as never }))).toBe('noResources')
  })
})

describe('a sweep', () => {
  const summary = (ref: string, m: number, over: Partial<SessionSummary> = {}): SessionSummary => ({
    ref,
    kind: 'live',
    name: ref,
    title: null,
    createdAt: '2026-11-21T00:00:00Z',
    ladder: { id: 'l', title: 'L' },
    problem: gemmProblem(m),
    deviceName: 'GPU',
    profile: 'card',
    rungCount: 1,
    ...over,
  })
  const list = [
    summary('big', 4096),
    summary('small', 1024),
    summary('old', 1024, { createdAt: '2025-01-01T00:00:00Z' }),
    summary('other-gpu', 2048, { deviceName: 'Other' }),
    summary('other-ladder', 2048, { ladder: { id: 'x', title: 'X' } }),
    summary('other-work', 2048, { problem: gemmProblem(2048, 2048, 2048, { beta: 1 }) }),
    summary('broken', 2048, { damaged: 'It cannot be read.' }),
  ]

  it("uses each size's newest session from the same ladder and GPU, or the open session", () => {
    const found = sweepCandidates(list, list[0]!)
    expect(found.map(({ ref }) => ref)).toEqual(['small', 'old', 'big'])
    expect(firstChoice(found, 'big')).toEqual(['small', 'big'])
    expect(firstChoice(found, 'old')).toEqual(['old', 'big'])
    expect(toggleChoice(found, ['small', 'big'], 'old')).toEqual(['big', 'old'])
    expect(toggleChoice(found, ['small', 'big'], 'small')).toEqual(['big'])
  })

  it('sorts sessions by size and joins their rungs', () => {
    const { sizes, rungs } = sweep([card, small], 'toReference')
    expect(sizes).toEqual(['1024³', '2048³'])
    const fastest = rungs.find(({ id }) => id === '14_shape_dispatch')!
    const of = (own: typeof card) =>
      own.rungs.find(({ id }) => id === '14_shape_dispatch')!.timing!.ratioToReference
    expect(fastest.values).toEqual([of(small), of(card)])
  })

  it('compares each rung with the previous rung if both have a time', () => {
    const { rungs } = sweep([session([rung('01', 4), rung('02', 2), rung('03', null)])], 'toBefore')
    expect(rungs.map(({ id, values }) => [id, ...values])).toEqual([['02', 2]])
  })
})

describe('in a memory-bound task', () => {
  const sum = recording('reduction-h200')
  const [one] = sum.rungs

  it('sweeps and studies use bytes per second instead of operation rates', () => {
    const [line] = sweep([sum], 'throughput', 'bytes').rungs
    const { rate } = leadFigure(sum, one!)!
    expect(rate.unit).toBe('GB/s')
    expect(line!.values).toEqual([rate.value])
    expect(studyFigure(sum, { rung: one!, value: 1 }, 'throughput')).toEqual(rate)
    const gflops = { [one!.id]: 5 }
    sum.ladder.published = { ...sum.ladder.published!, gflops }
    expect(publishedFigure(sum, { rung: one!, value: 1 }, 'throughput')).toBeNull()
  })

  it('the suggested command uses the ladder’s own sizes and folder', () => {
    expect(runCommand(sum, otherSizes(sum), 'none')).toBe(
      'kernel-ladder run --ladder reduction --at N=4194304 --profile none',
    )
    const own = {
      ...sum,
      ladder: { ...sum.ladder, folder: '/data/my sums', sizes: [sum.problem!.sizes] },
    }
    expect(runCommand(own, otherSizes(own), 'none')).toBe(
      "kernel-ladder run --ladder '/data/my sums' --at N=33554432 --profile none",
    )
    expect(commandFor(own, 'deep')).toContain("--ladder '/data/my sums' --at N=67108864")
  })
})

describe('a parameter study', () => {
  it('is found if variants of one source differ in one parameter', () => {
    const [study, ...others] = studies(seed)
    expect(others).toEqual([])
    expect(study).toMatchObject({ file: 'gemm/39_coarsen.cu', parameter: 'STRIDE' })
    expect(study!.variants.map(({ value }) => value)).toEqual([1, 2, 4, 8, 16])
    expect(studies(card)).toEqual([])
  })

  it('shows the author’s figures next to the measured figures, with the published metrics first', () => {
    const [study] = studies(seed)
    const at8 = study!.variants.find(({ value }) => value === 8)!
    expect(publishedFigure(seed, at8, 'throughput')).toBe(6000)
    expect(publishedFigure(seed, at8, 'achievedOccupancy')).toBe(30.29)
    expect(publishedFigure(seed, at8, 'sharedStoreBankConflicts')).toBeNull()
    expect(studyFigure(seed, at8, 'throughput')!.value).toBe(at8.rung.timing!.gflops)
    const ids = studyMetrics(seed, study!)
    expect(ids.indexOf('achievedOccupancy')).toBeLessThan(ids.indexOf('sharedStoreBankConflicts'))
  })
})
