/**
 * Tests two PyTorch programs recorded on an NVIDIA H100, before and after fusing a chain of
 * operators (test/captures/programs-h100).
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'

const session = (name: string): Session =>
  Session.parse(
    JSON.parse(
      brotliDecompressSync(
        readFileSync(new URL(`../../captures/programs-h100/${name}.json.br`, import.meta.url)),
      ).toString(),
    ),
  )
const [before, after] = [session('before'), session('after')]

const sum = (times: readonly (number | null)[]): number =>
  times.reduce<number>((all, time) => all + (time ?? Number.NaN), 0)

describe('a GELU fused into one operator', () => {
  const found = compareSessions(before, after)

  it("is reported as a fusion of five kernels into one in the answer's first sentence", () => {
    expect(found.fused).toHaveLength(1)
    expect([found.fused[0]!.from.length, found.fused[0]!.to.length]).toEqual([5, 1])
    expect(found.fused[0]!.ratio).toBeLessThan(0.1)
    expect(inEnglish(found.answer[0]!)).toMatch(
      /^Fused: 5 kernels became 1 kernel.*GeluCUDAKernelImpl/,
    )
  })

  it('keeps the other four kernels paired: matrix product, weight scaling, random numbers, and sum', () => {
    expect(found.pairs).toHaveLength(4)
    expect([found.onlyA, found.onlyB]).toEqual([[], []])
    const fused = new Set(found.fused.flatMap(({ from, to }) => [...from, ...to]))
    const paired = found.pairs.flatMap(({ sideA, sideB }) => [sideA.title, sideB.title])
    expect(paired.some((title) => title.includes('Gelu'))).toBe(false)
    expect(fused.size).toBeGreaterThan(0)
  })

  it('accounts for the total time of both programs', () => {
    const { fused, pairs, total } = found
    expect(sum([...fused, ...pairs].map(({ timeA }) => timeA))).toBeCloseTo(total.timeA!, 9)
    expect(sum([...fused, ...pairs].map(({ timeB }) => timeB))).toBeCloseTo(total.timeB!, 9)
  })

  it('is reported as a split with the reciprocal ratio if the sessions are swapped', () => {
    const [split] = compareSessions(after, before).fused
    expect([split!.from.length, split!.to.length]).toEqual([1, 5])
    expect(split!.ratio! * found.fused[0]!.ratio!).toBeCloseTo(1, 12)
  })

  it('is neither a fusion nor a split when compared with itself', () => {
    const same = compareSessions(before, before)
    expect([same.fused, same.onlyA, same.onlyB]).toEqual([[], [], []])
    expect(same.total.ratio).toBe(1)
  })
})

describe('kernels with the same name that two programs launch in opposite order', () => {
  it('are paired by their grids', () => {
    const { pairs, fused } = compareSessions(session('many-forward'), session('many-reversed'))
    expect(fused).toEqual([])
    expect(pairs.length).toBeGreaterThan(4)
    for (const { sideA, sideB } of pairs) expect(sideA.kernel!.grid).toEqual(sideB.kernel!.grid)
  })
})
