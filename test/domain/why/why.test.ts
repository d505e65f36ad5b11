/** Tests the causes of speedups with the shipped recordings. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { DeepProfile, Instruction } from '../../../src-main/domain/session/deep'
import { message } from '../../../src-main/domain/messages/message'
import {
  rungBefore,
  rungOf,
  type RungResult,
  type Session,
} from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { whyOf, Why, type Cause, type Side } from '../../../src-main/domain/why/why'
import { readRecordings } from '../../../src-main/services/sessions/recordings'
import { contributionsOf } from '../../../src-main/domain/why/contributions'
import { timesOf } from '../../../src-main/domain/why/side'
import { printedCauses } from '../../../src-main/services/report/printed-causes'

const recordings = join(import.meta.dirname, '../../../resources/recordings')
const read = (name: string): Promise<Session> => readSession(join(recordings, name))
const fp32 = await read('gemm-fp32-h200-4096')
const tensor = await read('gemm-tensor-h200-4096')
const small = await read('gemm-fp32-h200-1024')
const padding = await read('seed-cutlass-h200')
const sums = await read('reduction-h200')
const histogram = await read('joint-histogram-h200')
const bf16 = await read('gemm-bf16-h200-4096')

const side = (session: Session, id: string, over: Partial<RungResult> = {}): Side => ({
  session,
  rung: { ...rungOf(session, id)!, ...over },
})
const step = (session: Session, a: string, b: string): Why =>
  whyOf(side(session, a), side(session, b))
const first = (session: Session, a: string, b: string): Cause => step(session, a, b).causes[0]!
const ids = ({ metrics }: Cause): string[] => metrics.map(({ id }) => id)

describe('the top-ranked cause', () => {
  it('for prefetching is a busier FMA pipe with the same work, because warps wait less for memory', () => {
    const cause = first(fp32, '08_warp_tile', '09_register_prefetch')
    expect(inEnglish(cause.statement)).toMatch(
      /^The FMA pipe is busy for 78\.8 % of the active cycles instead of 65\.3 %, 1\.21×: fewer warps stall per issued instruction, for global or local memory \(long scoreboard\) 1\.03 → 0\.03;/,
    )
    expect(cause.contribution).toBeCloseTo(1, 2)
    expect(cause.metrics.slice(0, 2)).toEqual([
      { id: 'fmaUtilization', a: 65.27, b: 78.83 },
      { id: 'stallLongScoreboard', a: 1.03, b: 0.03 },
    ])
  })

  it('for 128-bit access is fewer bank conflicts, as the header predicts, despite a new limiter', () => {
    const { limits, causes } = step(fp32, '05_thread_tile_2d', '06_float4')
    expect(limits).toEqual({ a: 'l1Data', b: 'fma' })
    expect(inEnglish(causes[0]!.statement)).toBe(
      'The L1 data stage, the limiter at 69.0 %, has 1.47× less work (Wavefronts, shared loads 671 M → 403 M; Bank conflicts, shared loads 269 M → 31.1 k); the limiter is now the FMA pipe at 62.3 %.',
    )
  })

  it('for a thread tile is fewer reads from shared memory', () => {
    const cause = first(fp32, '03_shared_tile', '04_thread_tile_1d')
    expect(cause.id).toBe('work')
    expect(ids(cause)).toEqual(['lsuDataUtilization', 'sharedLoadWavefronts', 'sharedLoads'])
  })

  it('for padding is fewer passes for shared stores', () => {
    expect(ids(first(padding, '20_transposed_conflicts', '20_padded'))).toEqual([
      'lsuDataUtilization',
      'sharedStoreWavefronts',
      'sharedStoreBankConflicts',
      'fmaUtilization',
    ])
  })

  it('for a warp tile is fewer shared-memory passes, not a small change in resident warps', () => {
    const cause = first(fp32, '07_conflict_free', '08_warp_tile')
    expect(ids(cause)).toEqual(['fmaUtilization', 'sharedLoadWavefronts'])
    const occupied = (value: number) => ({
      ...rungOf(fp32, '08_warp_tile')!.metrics,
      theoreticalOccupancy: { value, unit: '%' as const, evidence: 'measured' as const },
    })
    const { causes } = whyOf(
      side(fp32, '07_conflict_free'),
      side(fp32, '08_warp_tile', { metrics: occupied(37.5) }),
    )
    // If more warps fit on an SM, the occupancy is the cause.
    expect(ids(causes[0]!)).toEqual(['fmaUtilization', 'achievedOccupancy'])
  })

  it('for a larger thread tile is fewer issue slots for instructions other than FMAs', () => {
    const { causes, unimportant } = step(fp32, '10_cp_async', '11_block_128x256')
    expect(causes.map(({ id }) => id)).toEqual(['instructions'])
    expect(ids(causes[0]!)).toContain('memoryInstructions')
    expect(unimportant.map(({ id }) => id)).toContain('issueSlotsBusy')
  })

  it('for persistent blocks is a busier tensor pipe and less memory traffic', () => {
    const cause = first(tensor, '57_warp_specialized', '58_persistent')
    expect(cause.id).toBe('busy')
    expect(ids(cause)).toEqual([
      'tensorUtilization',
      'wavesPerSm',
      'stallLongScoreboard',
      'stallMioThrottle',
      'l2Bytes',
    ])
  })

  it('for WGMMA is less tensor-pipe time for the same product', () => {
    expect(first(tensor, '54_mma_sync', '56_wgmma_tma').id).toBe('work')
  })

  it('of a faster clock at the power cap is the saved work, which no longer consumes power', () => {
    // Under the power cap, the clock can differ between recordings by as much as the step's
    // speedup. In this test, the clock explains the whole step.
    const found = side(bf16, '76_multicast_nt')
    const before = found.rung.timing!
    const at = (clock: number, bytesOf: string) => {
      const timing = {
        ...before,
        medianMs: (before.medianMs * 1740) / clock,
        spread: 0.001,
        smClockBeforeMHz: clock,
        smClockAfterMHz: clock,
      }
      const { l2Bytes } = side(bf16, bytesOf).rung.metrics
      return {
        ...found,
        rung: { ...found.rung, timing, metrics: { ...found.rung.metrics, l2Bytes: l2Bytes! } },
      }
    }
    const a = at(1725, '75_persistent_nt')
    const b = at(1740, '76_multicast_nt')
    const [cause] = whyOf(a, b).causes
    expect(inEnglish(cause!.statement)).toMatch(
      /^The SM clock, which the power cap limits, went from 1725 MHz to 1740 MHz \(L2 traffic 1\.\d+ GiB → 1\.\d+ GiB\)\.$/,
    )
    expect(ids(cause!)).toEqual(['l2Bytes'])
    const { timing } = b.rung
    const free = {
      ...b,
      rung: { ...b.rung, timing: { ...timing!, gpu: { ...timing!.gpu!, heldDownBy: [] } } },
    }
    const [other] = whyOf(a, free).causes
    expect(inEnglish(other!.statement)).toBe('The SM clock went from 1725 MHz to 1740 MHz.')
  })

  it('of a slowdown is the counter that increased', () => {
    const { verdict, causes } = step(sums, '01_interleaved_divergent', '02_interleaved_strided')
    expect(verdict).toBe('worse')
    expect(ids(causes[0]!)).toEqual([
      'lsuDataUtilization',
      'sharedLoadBankConflicts',
      'sharedStoreBankConflicts',
    ])
  })

  it('for a grid with fewer blocks than SMs is the SMs without a block, even at the card level', () => {
    const { causes, needs } = step(small, '10_cp_async', '11_block_128x256')
    expect(inEnglish(causes[0]!.statement)).toBe(
      'The grid has 32 blocks instead of 64 for 132 SMs, so an SM has a block 24.2 % of the time instead of 48.5 %.',
    )
    expect(causes.map(({ share }) => share)).toEqual(causes.map(() => null))
    expect(needs?.level).toBe('standard')
  })

  it('for one launch instead of two is the saved time between launches', () => {
    // With a warm L2, both rungs' kernels take the same time. The gap between the two launches is a
    // tenth of the kernel time.
    const warm = structuredClone(sums)
    for (const [id, medianMs] of [
      ['09_warp_shuffles', 0.0662],
      ['10_last_block', 0.0591],
    ] as const)
      warm.rungs.find((rung) => rung.id === id)!.timing!.medianMs = medianMs
    expect(first(warm, '09_warp_shuffles', '10_last_block').id).toBe('launches')
  })

  it('for a memory-bound task without a limiter is busier DRAM', () => {
    const { limits, causes } = step(histogram, '01_global_atomics', '02_shared_atomics')
    expect(limits.a).toBeNull()
    expect(ids(causes[0]!)).toEqual(expect.arrayContaining(['dramUtilization', 'l2Bytes']))
  })
})

describe('opposing effects in a step', () => {
  it('are listed separately, as time added to a faster step or saved in a slower step', () => {
    const there = step(small, '10_cp_async', '11_block_128x256')
    const factors = contributionsOf(there)
    expect(there.verdict).toBe('worse')
    expect(factors.map(({ cause }) => cause?.id).slice(0, 2)).toEqual(['sms', there.causes[1]!.id])
    expect(factors[0]!.factor).toBeLessThan(1)
    expect(factors[1]!.factor).toBeGreaterThan(1)
  })
})

describe('every step of every recording', async () => {
  const sessions = (await readRecordings(recordings)).map(({ session }) => session)
  const steps = sessions.flatMap((session) =>
    session.rungs.flatMap((rung) => {
      const before = rungBefore(session, rung.id)
      return before ? [{ a: { session, rung: before }, b: { session, rung } }] : []
    }),
  )

  it('has shares if all parts have the same direction, and no shares otherwise', () => {
    expect(steps.length).toBeGreaterThan(150)
    const kinds = { oneWay: 0, opposed: 0 }
    for (const { a, b } of steps) {
      const why = Why.parse(whyOf(a, b))
      expect(why.causes.length > 0).toBe(why.reason === undefined)
      if (why.causes.length === 0) continue
      const contributions = why.causes.map(({ contribution }) => contribution)
      expect(contributions).toEqual(contributions.toSorted((x, y) => y - x))
      const all = [...contributions, why.unexplainedContribution!]
      const shares = [...why.causes.map(({ share }) => share), why.unexplained]
      if (all.some((one) => one < 0)) {
        expect(shares).toEqual(shares.map(() => null))
        kinds.opposed += 1
      } else {
        expect(shares.reduce<number>((sum, share) => sum + share!, 0)).toBeCloseTo(1, 9)
        kinds.oneWay += 1
      }
    }
    expect(Math.min(kinds.oneWay, kinds.opposed)).toBeGreaterThan(20)
  })

  it('has factors whose product is the speedup, and is printed without percentages', () => {
    for (const { a, b } of steps) {
      const why = whyOf(a, b)
      const times = timesOf(a, b)
      if (why.causes.length === 0 || !times) continue
      const factors = [...why.causes.map(({ factor }) => factor), why.unexplainedFactor!]
      for (const factor of factors) expect(factor).toBeGreaterThan(0)
      const step = times.a / times.b
      expect(factors.reduce((all, factor) => all * factor, 1) / step).toBeCloseTo(1, 9)
      for (const { causes } of printedCauses(why).groups)
        for (const { factor } of causes) expect(factor).toMatch(/^\d[\d.]*×$/)
    }
  })

  it('has the same causes when reversed', () => {
    for (const { a, b } of steps) {
      const [there, back] = [whyOf(a, b), whyOf(b, a)]
      // The relative difference of two times depends slightly on which time is the base.
      if (there.causes.length === 0 || back.causes.length === 0) continue
      const told = ({ causes }: Why) => causes.map(({ id, share }) => `${id} ${share?.toFixed(6)}`)
      expect(told(back)).toEqual(told(there))
    }
  })
})

describe('no cause', () => {
  it('is given for two launches of one kernel, only the changed counters', () => {
    const { verdict, causes, unexplained, unimportant, reason } = step(
      fp32,
      '11_block_128x256',
      '12_rasterized',
    )
    expect([verdict, causes, unexplained]).toEqual(['same', [], null])
    expect(inEnglish(reason!)).toBe(
      'The times differ by no more than their spread or half a percent.',
    )
    expect(inEnglish(unimportant.find(({ id }) => id === 'l2Bytes')!.statement)).toBe(
      'L2 traffic 2.98 GiB → 2.56 GiB, but the L2 cache is not the limiter (10.4 % → 11.8 % busy).',
    )
    expect(step(fp32, '06_float4', '06_float4').unimportant).toEqual([])
  })

  const why = message('records.notReached')
  it.each<[string, Side, Side, string]>([
    [
      'a rung that failed',
      side(fp32, '05_thread_tile_2d'),
      side(fp32, '06_float4', { timing: null, reason: why }),
      `06_float4 has no time: ${inEnglish(why)}`,
    ],
    [
      'a rung that was not profiled',
      side(fp32, '05_thread_tile_2d', { metrics: {} }),
      side(fp32, '06_float4'),
      '05_thread_tile_2d was not profiled.',
    ],
    [
      'a tensor pipe that the card level does not count',
      side(tensor, '57_warp_specialized', {
        metrics: { fmaUtilization: { value: 0.3, unit: '%', evidence: 'measured' } },
      }),
      side(tensor, '58_persistent'),
      'The counters that show the limit are not available for both rungs.',
    ],
    [
      'a different problem',
      side(fp32, '05_thread_tile_2d'),
      side(small, '06_float4'),
      'The rungs solve different tasks or problems.',
    ],
    [
      'counters that contradict the time',
      side(small, '02_coalesced'),
      side(small, '03_shared_tile'),
      'The counters of this level do not fully explain the step.',
    ],
  ])('is given for %s, only a reason', (_, a, b, reason) => {
    const found = whyOf(a, b)
    expect(found.causes).toEqual([])
    expect(inEnglish(found.reason!)).toBe(reason)
  })
})

describe('sessions with the same rung', () => {
  it('on two GPUs have a reason instead of a verdict, ratio, and cause', () => {
    const other: Session = { ...fp32, device: { ...fp32.device!, name: 'NVIDIA H100' } }
    const found = whyOf(side(fp32, '09_register_prefetch'), side(other, '09_register_prefetch'))
    expect(found).toMatchObject({ verdict: 'unknown', causes: [], unexplainedFactor: null })
    expect(inEnglish(found.reason!)).toBe(
      'The GPUs differ: NVIDIA H200 and NVIDIA H100. Across GPUs, counters and shares of each GPU’s peak can be compared; times cannot.',
    )
  })

  it('from imports are judged by the time under the profiler', () => {
    const imported = (id: string, ns: number): Side =>
      side(fp32, id, {
        timing: null,
        ncuMetrics: { 'gpu__time_duration.sum': { value: ns, unit: 'ns' } },
      })
    const { verdict, causes } = whyOf(
      imported('08_warp_tile', 3_255_000),
      imported('09_register_prefetch', 2_710_000),
    )
    expect([verdict, causes[0]!.id]).toEqual(['better', 'busy'])
  })

  it('that have several kernels in a range are judged by the total time under the profiler', () => {
    const summed = (id: string, ms: number): Side =>
      side(fp32, id, {
        timing: null,
        profiledTime: {
          ...{ launches: 1, totalMs: ms, medianMs: ms },
          ...{ minMs: ms, maxMs: ms, spread: null },
        },
      })
    const { verdict, causes } = whyOf(
      summed('08_warp_tile', 3.255),
      summed('09_register_prefetch', 2.71),
    )
    expect([verdict, causes[0]!.id]).toEqual(['better', 'busy'])
  })
})

describe("a cause's source lines", () => {
  const instruction = (line: number, over: Partial<Instruction>): Instruction => ({
    index: 0,
    offset: 0,
    text: '',
    opcode: 'LDG.E',
    file: 'gemm/08_warp_tile.cu',
    line,
    executed: 1,
    threadExecuted: null,
    samples: null,
    notIssuedSamples: null,
    stalls: {},
    sharedWavefronts: null,
    sharedWavefrontsIdeal: null,
    sharedWavefrontsExcess: null,
    globalL1Requests: null,
    globalL2Sectors: null,
    globalL2SectorsIdeal: null,
    globalL2SectorsExcess: null,
    ...over,
  })
  const deep: DeepProfile = {
    schema: 2,
    rung: '08_warp_tile',
    kernels: [
      {
        name: 'k',
        instructions: [
          instruction(80, { stalls: { long_sb: 60, barrier: 500 } }),
          instruction(81, { stalls: { long_sb: 35 } }),
          instruction(82, { stalls: { long_sb: 5 } }),
          instruction(81, { file: 'cuda_runtime.h', stalls: { long_sb: 1 } }),
        ],
        lines: [],
        opcodes: null,
        rules: [],
      },
    ],
    notes: [],
  }

  it('are the lines where warps stall for that reason, marked if the source changed', () => {
    const { causes } = whyOf(
      { ...side(fp32, '08_warp_tile'), deep },
      side(fp32, '09_register_prefetch'),
      [{ a: { from: 81, to: 90 }, b: { from: 81, to: 95 } }],
    )
    expect(causes[0]!.lines!.b).toEqual([])
    expect(
      causes[0]!.lines!.a.map(({ line, share, changed }) => [line, share.toFixed(2), changed]),
    ).toEqual([
      [80, '0.59', false],
      [81, '0.35', true],
    ])
  })
})
