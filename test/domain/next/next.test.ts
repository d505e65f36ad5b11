/**
 * Tests the recommendations for a rung, including figures, limits, and behavior with little data.
 */
import { describe, expect, it } from 'vitest'
import { boundOf, timeLeft } from '../../../src-main/domain/next/bound'
import { factsOf } from '../../../src-main/domain/next/facts'
import {
  exampleOf,
  landingOf,
  readinessOf,
  type Landed,
} from '../../../src-main/domain/next/landing'
import { Next, nextOf as nextWith } from '../../../src-main/domain/next/next'
import { moveOf } from '../../../src-main/domain/next/registry'
import { timeOfRung } from '../../../src-main/domain/next/time-of-rung'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import type { Side } from '../../../src-main/domain/why/side'
import { inEnglish } from '../../../src-main/domain/text/english'
import { factsOfRung, recorded, recordedPast, sideOf } from './support'
import type { PredictedTime } from '../../../src-main/domain/session/predicted'

const nextOf = (side: Side): Next => nextWith(side, null, recordedPast)

const advise = async (name: string, rung: string, over: Partial<RungResult> = {}): Promise<Next> =>
  nextOf(await sideOf(name, rung, over))
const limit = async (name: string, rung: string, over: Partial<RungResult> = {}) =>
  inEnglish((await advise(name, rung, over)).limit)
const ids = ({ steps }: Next): string[] => steps.map(({ id }) => id)

describe('the steps', () => {
  it("number at most five, each with a sentence, figures, evidence, and another ladder's example", async () => {
    const next = Next.parse(await advise('gemm-fp32-h200-4096', '05_thread_tile_2d'))
    expect(next.steps).toHaveLength(5)
    for (const step of next.steps) {
      expect(inEnglish(step.statement)).toMatch(/^[A-Z].*\.$/)
      expect(inEnglish(step.costs)).toMatch(/^[A-Z].*\.$/)
      expect(step.evidence.length).toBeGreaterThan(0)
      expect(step.speedup.low).toBeLessThanOrEqual(step.speedup.mid)
      expect(step.speedup.mid).toBeLessThanOrEqual(step.speedup.high)
      expect(step.msNow).toBeCloseTo(4.436, 2)
      expect(step.msAfter.mid).toBeCloseTo(step.msNow / step.speedup.mid, 2)
      expect(step.msAfter.low).toBeLessThanOrEqual(step.msAfter.high)
      expect(step.example?.ladder).not.toBe('gemm-fp32')
    }
  })

  it("start with coalescing for the naive product, as in the ladder's next rung", async () => {
    const [first] = (await advise('gemm-fp32-h200-4096', '01_naive')).steps
    expect(first!.id).toBe('coalesce')
    expect(first!.speedup.high).toBeGreaterThan(12.9)
  })

  it('end with the library and lower precision, which replace the kernel or change its result', async () => {
    expect(ids(await advise('transpose-h200', '03_square_tile')).slice(0, 4)).not.toContain(
      'library',
    )
    expect(ids(await advise('transpose-h200-8191x4097', '09_tma_sectors'))[0]).not.toBe('precision')
  })

  it('include no step that saves less than one percent', async () => {
    for (const name of ['gemm-fp32-h200-4096', 'reduction-h200', 'gemm-bf16-h200-4096'])
      for (const { id } of (await recorded(name)).rungs)
        for (const step of (await advise(name, id)).steps)
          expect(step.speedup.high).toBeGreaterThanOrEqual(1.01)
  })
})

describe('the limit', () => {
  it("of a DRAM-bound kernel includes the kernel's share of the measured bandwidth", async () => {
    expect(await limit('reduction-h200', '10_last_block')).toMatch(
      /^At the limit of DRAM \(9\d\.\d % of 4\.48 TB\/s\)\. Only fewer bytes would help\.$/,
    )
  })

  it('of a tensor-bound kernel includes its utilizations and the highest recorded utilization', async () => {
    expect(await limit('gemm-bf16-h200-4096', '80_overlapped_epilogue_nt')).toMatch(
      /^At the limit of the tensor pipe \(9\d\.\d % of the launch, 9\d\.\d % while SMs have a block; highest recorded: 96\.0 %\)\. Only less arithmetic/,
    )
  })

  it('of an FMA-bound kernel is the FMA pipe or instruction issue', async () => {
    expect(await limit('gemm-fp32-h200-4096', '13_split_k')).toMatch(
      /^At the limit of .*(FMA|issue)/,
    )
  })

  it('of a grid with too few blocks is idle SMs', async () => {
    expect(await limit('seed-cutlass-h200-256x256x16384', '12_rasterized')).toMatch(
      /^SMs have a block for only 1\.5\d? % of the time/,
    )
  })
})

describe('when little is known', () => {
  const bare = { metrics: {} }

  it('a rung that fails or has a wrong result gets no step', async () => {
    for (const status of ['wrong', 'failed', 'unsupported', 'not-run'] as const) {
      const next = await advise('gemm-fp32-h200-4096', '01_naive', { status })
      expect(next.steps).toEqual([])
      expect(inEnglish(next.limit)).toContain(status)
    }
  })

  it('a rung without a time gets no step', async () => {
    const next = await advise('gemm-fp32-h200-4096', '01_naive', { timing: null })
    expect(next.steps).toEqual([])
    expect(inEnglish(next.limit)).toBe('The rung has no time.')
  })

  it('an emulated session gets the suggestion to predict or measure times', async () => {
    const { session, rung } = await sideOf('gemm-fp32-h200-4096', '01_naive', { timing: null })
    const target = { kind: 'emulated', name: 'h200' } as const
    const next = nextOf({ session: { ...session, target }, rung })
    expect(next.steps).toEqual([])
    expect(inEnglish(next.limit)).toMatch(/^An emulated session/)
  })

  it('a rung without counters gets no step', async () => {
    const next = await advise('gemm-fp32-h200-4096', '01_naive', bare)
    expect(next.steps).toEqual([])
    expect(inEnglish(next.limit)).toMatch(/has no counters/)
  })

  it('a card profile yields no steps, because it has too few counters', async () => {
    for (const { id } of (await recorded('gemm-fp32-h200-1024')).rungs.slice(1)) {
      const next = await advise('gemm-fp32-h200-1024', id)
      expect(next.steps).toEqual([])
      expect(inEnglish(next.limit)).toMatch(/^The card profile has too few counters/)
    }
  })

  it('contradictory counters yield no step', async () => {
    const { rung } = await sideOf('gemm-fp32-h200-4096', '01_naive')
    const over = (id: string, value: number) => ({
      metrics: { ...rung.metrics, [id]: { ...rung.metrics[id]!, value } },
    })
    for (const [id, value] of [
      ['dramUtilization', 140],
      ['fmaUtilization', -3],
    ] as const) {
      const next = await advise('gemm-fp32-h200-4096', '01_naive', over(id, value))
      expect(next.steps).toEqual([])
      expect(inEnglish(next.limit)).toMatch(/contradict/)
    }
  })

  it('an import without source or task gets only steps that its counters support', async () => {
    const { session, rung } = await sideOf('gemm-fp32-h200-4096', '01_naive')
    const imported: Session = {
      ...session,
      problem: null,
      target: { kind: 'imported', name: 'report.ncu-rep' },
      ladder: { ...session.ladder, id: 'imported', task: null },
    }
    const next = nextOf({ session: imported, rung })
    expect(ids(next)).toContain('coalesce')
    expect(ids(next)).not.toContain('tensor-cores')
    expect(ids(next)).not.toContain('one-pass')
    expect(next.steps.every(({ lines }) => lines === undefined)).toBe(true)
  })

  it('a rung gets no move that its GPU does not support', async () => {
    const { session, rung } = await sideOf('gemm-bf16-h200-4096', '73_wgmma_nt')
    const old = { ...session, device: { ...session.device!, computeCapability: '7.5' } }
    const moves = ids(nextOf({ session: old, rung }))
    for (const id of ['async-copy', 'cluster', 'specialize', 'overlap', 'tensor-cores'])
      expect(moves).not.toContain(id)
  })

  it('a library kernel gets its limit but no step, because its code cannot be changed', async () => {
    const program = await recorded('feed-forward-h200')
    const library = program.rungs.find(({ id }) => id.includes('nvjet'))!
    const next = nextOf({ session: program, rung: library })
    expect(next.steps).toEqual([])
    expect(inEnglish(next.limit)).toMatch(/The kernel belongs to a library/)
    const own = await recorded('feed-forward-h200-fused')
    const fused = own.rungs.find(({ id }) => id.includes('bias_gelu'))!
    expect(inEnglish(nextOf({ session: own, rung: fused }).limit)).not.toMatch(/library/)
  })

  it('a memory-bound kernel in a program gets the suggestion to fuse it with its neighbor', async () => {
    const session = await recorded('feed-forward-h200-fused')
    const fused = session.rungs.find(({ id }) => id.includes('bias_gelu'))!
    const find = (side: Side) => moveOf('fuse')!.find(factsOf(side)!)
    const found = find({ session, rung: fused })
    expect(found && inEnglish(found.evidence[0]!)).toMatch(/^The program launches \d+ kernels\./)
    expect(find({ session: { ...session, rungs: [fused] }, rung: fused })).toBeNull()
  })

  it('a rung that is a whole program gets the suggestion to profile the program', async () => {
    const next = await advise('gemm-fp32-h200-4096', '01_naive', {
      program: { command: ['./a.out'], exitCode: 0, output: null },
    })
    expect(next.steps).toEqual([])
    expect(inEnglish(next.limit)).toMatch(/whole program/)
  })
})

describe("a rung's time", () => {
  const predictedIn = (ms: number): PredictedTime => ({
    ...{ evidence: 'predicted', ms, lowMs: ms / 2, highMs: 2 * ms, limiter: 'fma' },
    ...{ model: 'a test', class: 'compute', widened: [], extrapolated: false },
  })

  it('is taken from the measurement, the prediction, or the profiler, in this order', async () => {
    const { rung } = await sideOf('gemm-fp32-h200-4096', '01_naive')
    const predicted = predictedIn(2)
    expect(timeOfRung({ ...rung, predicted })).toMatchObject({ evidence: 'measured' })
    expect(timeOfRung({ ...rung, timing: null, predicted })).toEqual({
      ms: 2,
      evidence: 'predicted',
    })
    const profiledTime = { launches: 3, totalMs: 9, medianMs: 3, minMs: 3, maxMs: 3, spread: 0 }
    expect(timeOfRung({ ...rung, timing: null, profiledTime })).toEqual({
      ms: 3,
      evidence: 'profiled',
    })
    expect(timeOfRung({ ...rung, timing: null })).toBeNull()
  })

  it('that is predicted yields recommendations with predicted times', async () => {
    const { session, rung } = await sideOf('gemm-fp32-h200-4096', '05_thread_tile_2d')
    const predicted = { ...rung, timing: null, predicted: predictedIn(5) }
    expect(nextOf({ session, rung: predicted }).steps[0]!.msNow).toBe(5)
  })
})

describe('the bound', () => {
  it('allows no speedup if no cause is removed', async () => {
    expect(boundOf(await factsOfRung('gemm-fp32-h200-4096', '05_thread_tile_2d'), {})).toBe(1)
  })

  it('is the remaining time of the warps or of the busiest unit, whichever is longer', async () => {
    const facts = await factsOfRung('gemm-fp32-h200-4096', '08_warp_tile')
    const { waits, busy } = facts
    const left = timeLeft(facts, { waits: { stallLongScoreboard: 0 } })
    expect(left).toBeCloseTo(Math.max(1 - waits!.stallLongScoreboard, busy.fma! / 0.84), 2)
    // Without any stalls, the issue slots and the pipe still take time.
    const all = Object.fromEntries(Object.keys(waits!).map((id) => [id, 0]))
    expect(timeLeft(facts, { waits: all })).toBeGreaterThan(0.7)
  })

  it('allows for the time of an empty launch', async () => {
    const facts = await factsOfRung('reduction-h200', '07_grid_stride')
    const short = { ...facts, busy: {}, time: { ...facts.time, ms: 4 * facts.emptyMs } }
    expect(timeLeft(short, { warps: 100 })).toBe(0.25)
  })

  it("of a predicted rung uses the model's time after the cause is removed", async () => {
    const facts = await factsOfRung('gemm-fp32-h200-4096', '08_warp_tile')
    const change = { waits: { stallLongScoreboard: 0 }, removes: 'latency' } as const
    const left = timeLeft(facts, change)
    expect(timeLeft({ ...facts, without: { latency: 0.99 } }, change)).toBe(0.99)
    expect(timeLeft({ ...facts, without: { latency: 0.01 } }, change)).toBe(left)
    const predicted = { ms: 2, lowMs: 1.6, without: { latency: 1 } } as PredictedTime
    const side = await sideOf('gemm-fp32-h200-4096', '08_warp_tile', { timing: null, predicted })
    expect(factsOf(side)!.without).toEqual({ latency: 0.4 })
  })

  it('for a replacement kernel is the known speedup of the replacement', async () => {
    const facts = await factsOfRung('gemm-fp32-h200-4096', '05_thread_tile_2d')
    expect(boundOf(facts, { replaced: 0.5 })).toBe(2)
  })
})

describe('the forecast', () => {
  const step = (over: Partial<Landed>): Landed => ({
    ...{ move: 'pad', ladder: 'a', recording: 'r', from: '01', to: '02' },
    ...{ isMain: true, unit: 'l1Data', bound: 2, gain: 1.5 },
    ...over,
  })
  const past = (...landed: Landed[]) => ({ landed, offered: [] })

  it('ignores earlier gains in the current ladder and gains of the same step elsewhere', () => {
    const all = past(step({}), step({ ladder: 'b', to: '03', gain: 1.1 }))
    expect(landingOf('pad', 2, { ladder: 'b', to: null }, all)!.mid).toBeCloseTo(1.5, 1)
    expect(landingOf('pad', 2, { ladder: 'a', to: null }, all)!.mid).toBeCloseTo(1.1, 1)
    expect(landingOf('pad', 2, { ladder: 'c', to: '02' }, all)!.mid).toBeCloseTo(1.1, 1)
    expect(landingOf('pad', 2, { ladder: 'a', to: '03' }, all)).toBeNull()
  })

  it('is derived from past gains of the same move and stays below the bound', () => {
    const all = past(step({ gain: 4 }), step({ move: 'fuse', gain: 1.01 }))
    const range = landingOf('pad', 2, { ladder: 'x', to: null }, all)!
    expect(range.high).toBeLessThan(2.07)
    expect(range.mid).toBeGreaterThan(1.9)
  })

  it('prefers examples with the same limiting unit, among successful steps that mainly apply the move', () => {
    const all = past(
      step({ ladder: 'aside', isMain: false }),
      step({ ladder: 'other', unit: 'dram' }),
      step({ ladder: 'like' }),
      step({ ladder: 'lost', gain: 0.9 }),
    )
    const like = { bound: 2, unit: 'l1Data' }
    expect(exampleOf('pad', like, { ladder: 'x', to: null }, all)!.ladder).toBe('like')
    expect(exampleOf('pad', like, { ladder: 'like', to: null }, all)!.ladder).toBe('other')
    expect(exampleOf('fuse', like, { ladder: 'x', to: null }, all)).toBeNull()
  })

  it('prefers a move that most ladders make when it applies', () => {
    const offered = [
      { move: 'pad', ladder: 'a', applied: 10, made: 10 },
      { move: 'fuse', ladder: 'a', applied: 10, made: 0 },
    ]
    const out = { ladder: 'x', to: null }
    expect(readinessOf('pad', out, { landed: [], offered })).toBeGreaterThan(
      readinessOf('fuse', out, { landed: [], offered }),
    )
  })

  it('is based on recorded steps from every ladder that has counters', () => {
    expect(recordedPast.landed.length).toBeGreaterThan(200)
    expect(new Set(recordedPast.landed.map(({ ladder }) => ladder)).size).toBeGreaterThan(12)
  })
})
