/** Tests the decision about whether new code is slower than old code. */
import { describe, expect, it } from 'vitest'
import { Task } from '../../../src-main/domain/task/task'
import {
  confirmed,
  cycleRatio,
  exitCodeOf,
  type MeasuredVerdict,
  type Round,
  judged,
  spreadOfSameCode,
  thresholdOf,
  thresholdPercent,
  timeRatio,
  verdicts,
} from '../../../src-main/domain/regress/verdict'
import { otherwiseDefined } from '../../../src-main/domain/regress/task-compatibility'
import {
  meanInterval,
  pBeyond,
  rejected,
  studentCritical,
  studentTail,
} from '../../../src-main/domain/regress/statistics'

describe('two versions of a task', () => {
  const rows = (fill: object, scalars: object = {}): Task =>
    Task.parse({
      ...{ id: 'rows', title: 'Rows', sizes: { ROWS: {} }, scalars, reference: 'reference.cu' },
      buffers: {
        x: { dtype: 'f32', shape: ['ROWS', 8], access: 'in', fill: { kind: 'normal', ...fill } },
        y: { dtype: 'f32', shape: ['ROWS'], access: 'out' },
      },
      check: { y: { rtol: 1e-5, atol: 0 } },
      work: { reads: 'ROWS', writes: 'ROWS' },
    })
  const special = (value: number) => ({ special: { dtype: 'i32', value, inputs: true } })
  const before = rows({ mean: 0, sd: 1 })

  it('are the same if only requested inputs differ', () => {
    const now = rows({ mean: '8*min(1, special)', sd: 1, special: 'special' }, special(0))
    expect(otherwiseDefined(before, now)).toBeNull()
    expect(otherwiseDefined(now, before)).toBeNull()
  })

  it('differ if the default inputs or the launch arguments differ', () => {
    expect(otherwiseDefined(before, rows({ mean: 1, sd: 1 }))).toBe('buffers')
    expect(otherwiseDefined(before, rows({ mean: 0, sd: 1, special: 4 }))).toBe('buffers')
    const always = rows({ mean: 0, sd: 1, special: 'special' }, special(4))
    expect(otherwiseDefined(before, always)).toBe('buffers')
    const told = rows({ mean: 0, sd: 1 }, { eps: { dtype: 'f32', value: 0 } })
    expect(otherwiseDefined(before, told)).toBe('scalars')
  })
})

describe('statistics', () => {
  describe('Student’s t', () => {
    // The critical values are from printed tables.
    it.each([
      [1, 0.005, 63.657],
      [2, 0.005, 9.925],
      [5, 0.025, 2.571],
      [19, 0.005, 2.861],
      [30, 0.005, 2.75],
      [120, 0.005, 2.617],
    ])(
      'with %i degrees of freedom has a probability of %f above its critical value',
      (degrees, tail, critical) => {
        expect(studentCritical(tail, degrees)).toBeCloseTo(critical, 3)
        expect(studentTail(critical, degrees)).toBeCloseTo(tail, 4)
        expect(studentTail(-critical, degrees)).toBeCloseTo(1 - tail, 4)
      },
    )

    it.each([0.001, 0.3, 1, 4, 30, 1000])(
      'agrees with the closed-form values to twelve digits at %f',
      (t) => {
        const ofOne = Math.atan2(1, t) / Math.PI
        const ofTwo = 1 / (2 + t * t + t * Math.sqrt(2 + t * t))
        const ofFour = 0.5 - (t * (6 + t * t)) / (2 * (4 + t * t) ** 1.5)
        expect(Math.abs(studentTail(t, 1) / ofOne - 1)).toBeLessThan(1e-12)
        expect(Math.abs(studentTail(t, 2) / ofTwo - 1)).toBeLessThan(1e-12)
        expect(Math.abs(studentTail(t, 4) - ofFour)).toBeLessThan(1e-12)
      },
    )

    it('yields a confidence interval centered on the mean, and a matching p-value', () => {
      const values = [1, 2, 3, 4]
      const { mean, low, high } = meanInterval(values, 0.99)
      expect(mean).toBe(2.5)
      // The expected bounds are 2.5 ± 5.841 · sd / 2.
      expect(high - mean).toBeCloseTo((5.841 * Math.sqrt(5 / 3)) / 2, 3)
      expect(mean - low).toBeCloseTo(high - mean)
      const positive = [1.2, 1.1, 1.3, 1.15]
      const interval = meanInterval(positive, 0.99)
      expect(pBeyond(positive, interval.low)).toBeCloseTo(0.01)
      expect(pBeyond([0, 0], 0.1)).toBe(1)
      expect(pBeyond([1, 1], 0.1)).toBe(0)
    })
  })

  describe('false discovery control', () => {
    it('rejects all hypotheses up to the last p-value below its threshold', () => {
      // At a false discovery rate of 1 %, the thresholds of the four p-values are 0.25, 0.5, 0.75,
      // and 1 %. The third p-value is below its threshold, although the second p-value is not.
      expect(rejected([0.002, 0.006, 0.0074, 0.5], 0.01)).toEqual([true, true, true, false])
      expect(rejected([0.004, 0.6, 0.7, 0.8], 0.01)).toEqual([false, false, false, false])
      expect(rejected([0.009], 0.01)).toEqual([true])
      expect(rejected([], 0.01)).toEqual([])
    })
  })
})

describe('verdicts', () => {
  /** Returns a seeded generator of normally distributed noise (mulberry32, Box-Muller). */
  function noise(seed: number): () => number {
    let state = seed
    const uniform = (): number => {
      state = (state + 0x6d2b79f5) | 0
      let bits = Math.imul(state ^ (state >>> 15), 1 | state)
      bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
      return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
    }
    return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  }

  interface Gpu {
    /** Relative noise per sample. `process` is the relative noise per process and build. */
    sample: number
    process: number
    /** Relative effect of the memory position on the builds loaded first, second, and third. */
    places?: readonly [number, number, number]
    /** The relative clock change during a round. */
    drift: number
  }

  const quiet: Gpu = { sample: 0.003, process: 0.003, drift: 0.02 }

  /** The orders in which the runner loads the builds. */
  const orders = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
    [0, 2, 1],
    [1, 0, 2],
  ]

  function simulate(
    normal: () => number,
    factor: number,
    { sample, process, drift, places = [0, 0, 0] }: Gpu = quiet,
    rounds = 24,
    blocks = 20,
  ): Round[] {
    return Array.from({ length: rounds }, (_, index): Round => {
      const bias = orders[index % 6]!.map((place) => normal() * process + places[place]!)
      const ms: [number[], number[], number[]] = [[], [], []]
      for (let block = 0; block < blocks; block += 1) {
        const order = orders[(index + Math.floor(index / 6) + block) % 6]!
        ;[...order, ...order.toReversed()].forEach((which, at) => {
          const clock = 1 + (drift * (6 * block + at)) / (6 * blocks)
          const own = clock * (1 + bias[which]! + normal() * sample)
          ms[which]!.push(which === 0 ? own * factor : own)
        })
      }
      return { newMs: ms[0], oldMs: ms[1], copyMs: ms[2], newCycles: [], oldCycles: [] }
    })
  }

  /** Returns the verdicts for ladders of ten rungs that are all slower by the same factor. */
  function verdictsOf(count: number, factor: number, seed: number, gpu?: Gpu): MeasuredVerdict[] {
    const normal = noise(seed)
    return Array.from({ length: count / 10 }, () => {
      const ladder = Array.from(
        { length: 10 },
        (_, index) => [`rung-${index}`, simulate(normal, factor, gpu)] as const,
      )
      return [...verdicts(new Map(ladder), 0.5).values()]
    }).flat()
  }

  const count = (all: readonly MeasuredVerdict[], ...wanted: MeasuredVerdict[]): number =>
    all.filter((verdict) => wanted.includes(verdict)).length

  describe('on simulated rounds', () => {
    it('report no change for identical code', () => {
      const all = verdictsOf(1000, 1, 1)
      expect(count(all, 'slower', 'faster')).toBeLessThanOrEqual(10)
      expect(count(all, 'same')).toBeGreaterThan(900)
    })

    it('find a planted slowdown of 1 % or more', () => {
      for (const [index, factor] of [1.01, 1.02, 1.05].entries()) {
        const all = verdictsOf(200, factor, 10 + index)
        expect(count(all, 'slower')).toBeGreaterThanOrEqual(190)
        expect(count(all, 'faster', 'same')).toBe(0)
      }
    })

    // On an H200, the memory position has a constant effect of 3.6 % on ten-microsecond kernels.
    // The test simulates the effect of the memory position.
    it('do not mistake the memory position for a code change', () => {
      const placed: Gpu = { sample: 0.003, process: 0.001, drift: 0.02, places: [0, 0.036, 0.01] }
      const all = verdictsOf(500, 1, 50, placed)
      expect(count(all, 'slower', 'faster')).toBe(0)
      expect(count(verdictsOf(100, 1.1, 51, placed), 'slower')).toBeGreaterThanOrEqual(95)
    })

    it('also find a speedup', () => {
      expect(count(verdictsOf(100, 1 / 1.02, 20), 'faster')).toBeGreaterThanOrEqual(95)
    })

    it('are unresolved if a change is exactly at the threshold', () => {
      const all = verdictsOf(200, 1.005, 30)
      expect(count(all, 'unresolved')).toBeGreaterThanOrEqual(190)
    })

    it('leave changes within the noise unresolved', () => {
      const all = verdictsOf(200, 1.01, 40, { sample: 0.05, process: 0.05, drift: 0.02 })
      expect(count(all, 'unresolved')).toBeGreaterThanOrEqual(195)
    })
  })

  describe('one rung', () => {
    const round = (newMs: number[], oldMs: number[], cycles: (number | null)[] = []): Round => ({
      newMs,
      oldMs,
      copyMs: oldMs,
      newCycles: cycles,
      oldCycles: cycles.map((value) => value && value / 2),
    })

    it('averages the log ratios of its rounds, using the median ratio of each round’s blocks', () => {
      const rounds = [round([2, 2, 2, 2, 90, 90], [1, 1, 1, 1, 1, 1]), round([8, 8], [1, 1])]
      expect(timeRatio(rounds)?.ratio).toBeCloseTo(4)
      expect(timeRatio(rounds.slice(1))).toBeNull()
    })

    it('is not affected by a steady drift', () => {
      // The launch order is old, new, new, old.
      expect(timeRatio([round([1.1, 1.2], [1, 1.32]), round([1.1, 1.2], [1, 1.32])])?.ratio).toBe(1)
    })

    it('has a cycle ratio only from blocks in which every measurement has a cycle count', () => {
      const ms = [1, 1, 1, 1]
      const rounds = [round(ms, ms, [4, 4, null, 4]), round(ms, ms, [6, 6, 6, 6])]
      expect(cycleRatio(rounds)?.ratio).toBeCloseTo(2)
      expect(cycleRatio([round(ms, ms), round(ms, ms)])).toBeNull()
    })

    it('counts as changed only if it changes by more than unchanged code varies', () => {
      const like = (copies: number[]): Round[] =>
        copies.map((ms) => ({ ...round([1, 1], [1, 1]), copyMs: [ms, ms] }))
      const [quietest, usual, worst] = [like([1, 1]), like([1.02, 1.02]), like([1, 1.2])]
      const spread = spreadOfSameCode([worst, quietest, [], usual])!
      expect(spread).toBeCloseTo(2, 6)
      expect(spreadOfSameCode([[]])).toBeNull()
      expect(thresholdPercent(0.5, spread)).toBe(spread)
      // The threshold is derived from the rung's own interval. A 20 % change in one of two rounds
      // results in an interval of hundreds of percent.
      expect(thresholdOf(usual, 0.5)).toBeCloseTo(2, 6)
      expect(thresholdOf(quietest, 0.5)).toBe(0.5)
      expect(thresholdOf(worst, 0.5)).toBeGreaterThan(100)
      expect(thresholdPercent(3, spread)).toBe(3)
      expect(thresholdPercent(0.5, null)).toBe(0.5)
      const slow = simulate(noise(3), 1.01)
      expect(verdicts(new Map([['a', slow]]), 0.5).get('a')).toBe('slower')
      expect(verdicts(new Map([['a', slow]]), spread).get('a')).toBe('same')
    })

    it('counts as changed only if it changes by more than it varies when unchanged', () => {
      const slow = simulate(noise(3), 1.02)
      const unsteady = slow.map((one, index) => ({
        ...one,
        copyMs: one.copyMs.map((ms) => ms * (index % 2 === 0 ? 1.06 : 0.96)),
      }))
      expect(verdicts(new Map([['a', slow]]), 0.5).get('a')).toBe('slower')
      expect(verdicts(new Map([['a', unsteady]]), 0.5).get('a')).toBe('unresolved')
    })

    it('is neither slower nor faster if its machine code is identical', () => {
      expect(judged('slower', true)).toBe('unresolved')
      expect(judged('faster', true)).toBe('unresolved')
      expect(judged('same', true)).toBe('same')
      expect(judged('slower', false)).toBe('slower')
    })

    it('is slower only if the second measurement is also slower', () => {
      expect(confirmed('slower')).toBe('slower')
      for (const again of ['same', 'faster', 'unresolved'] as const)
        expect(confirmed(again)).toBe('unresolved')
    })

    it('requires two rounds', () => {
      const rungs = new Map([
        ['a', [round([2, 2], [1, 1])]],
        ['b', []],
      ])
      expect([...verdicts(rungs, 0.5).values()]).toEqual(['unresolved', 'unresolved'])
    })
  })

  describe('the exit code', () => {
    it.each([
      [['same', 'slower'], 1],
      [['broken', 'unresolved'], 1],
      [['same', 'unresolved', 'new', 'gone'], 0],
      [['faster'], 0],
      [['unresolved', 'skipped', 'new'], 2],
      [[], 2],
    ] as const)('of %j is %i', (all, code) => {
      expect(exitCodeOf(all)).toBe(code)
    })
  })
})
