/** Tests the search spaces, the rules in sources, and the search strategies. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  makeStrategy,
  strategyNames,
  usualStrategy,
} from '../../../src-main/domain/tune/search-strategy'
import {
  parseConstant,
  parseRule,
  rulesOf,
} from '../../../src-main/parsers/kernels/integer-constants'
import {
  combinations,
  countAllowed,
  emptyingRule,
  neighbors,
  pointKey,
  pointsOf,
  type Point,
  type Space,
} from '../../../src-main/domain/tune/search-space'

const source = (rung: string): string =>
  readFileSync(join(import.meta.dirname, `../../../cuda-kernels/gemm/${rung}.cu`), 'utf8')
const names = (space: Space) => new Set(space.axes.map(({ name }) => name))
const axes = (all: Record<string, number[]>): Space['axes'] =>
  Object.entries(all).map(([name, values]) => ({ name, values }))

describe('integer constants', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3 % 5', 4],
    ['-7 / 2', -3],
    ['1 << 4 | 1', 17],
    ['0x10u == 16 && !0', 1],
    ['A > B ? A : B', 8],
    ['A / 0', NaN],
    ['0 && A / 0', NaN],
    ['C', NaN],
    ['010', 8],
  ])('%s is %d', (text, value) => {
    expect(parseConstant(text)!.value({ A: 8, B: 4 })).toBe(value)
  })

  it.each(['', 'sizeof(float)', 'max(A, B)', '1.5', 'A +', '(A', 'A B', 'f<A>()', '!'.repeat(99)])(
    'do not include %j, which only the compiler evaluates',
    (text) => {
      expect(parseConstant(text)).toBeNull()
    },
  )
})

describe("a source file's rules", () => {
  const space: Space = {
    axes: axes({ BM: [32, 64, 128], BN: [32, 64, 128], BK: [8, 16], TM: [4, 8, 16] }),
    rules: [],
  }
  const rules = rulesOf(source('04_thread_tile_1d'), names(space))

  it('consist of its static_asserts, with constants inserted, and their messages', () => {
    expect(rules).toHaveLength(5)
    expect(rules.map(({ why }) => why)).toContain(
      'BM / TM * BN must be at most 1024, the limit of threads per block',
    )
    expect(rules.find(({ text }) => text.startsWith('kThreads % BK'))!.why).toMatch(/increase BK$/)
    expect(rules.every((rule) => rule.names.every((name) => names(space).has(name)))).toBe(true)
  })

  it('exclude exactly the configurations that nvcc would reject', () => {
    const allowed = [...pointsOf({ ...space, rules })]
    const byHand = [...pointsOf(space)].filter(({ BM = 0, BN = 0, BK = 0, TM = 0 }) => {
      const threads = Math.trunc(BM / TM) * BN
      const [rowsA, rowsB] = [Math.trunc(threads / BK), Math.trunc(threads / BN)]
      return (
        BM % TM === 0 &&
        threads <= 1024 &&
        threads % 32 === 0 &&
        threads % BK === 0 &&
        BM % rowsA === 0 &&
        BK % rowsB === 0
      )
    })
    expect(allowed).toEqual(byHand)
    expect(allowed.length).toBeGreaterThan(0)
    expect(allowed.length).toBeLessThan(combinations(space))
  })

  it('are ignored if they are in a comment or if a name is ambiguous', () => {
    const both =
      'constexpr int k = A;\nvoid f() { constexpr int k = 2 * A; }\nstatic_assert(k < 1);'
    expect(rulesOf(both, new Set(['A']))).toEqual([])
    expect(
      rulesOf('// static_assert(A < 1);\n/* static_assert(A < 2); */', new Set(['A'])),
    ).toEqual([])
    expect(rulesOf('static_assert(A < 4, "a \\"(\\" b");', new Set(['A']))).toMatchObject([
      { text: 'A < 4' },
    ])
  })

  it('that a user adds may refer only to parameters', () => {
    expect(parseRule('A * B <= 64', new Set(['A', 'B']))!.holds({ A: 8, B: 9 })).toBe(false)
    expect(parseRule('A * C <= 64', new Set(['A', 'B']))).toBeNull()
  })
})

describe('a search space', () => {
  const rule = (text: string, over: string[]) => parseRule(text, new Set(over))!
  const huge: Space = {
    axes: axes(
      Object.fromEntries([...'ABCDEFGHI'].map((name) => [name, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])),
    ),
    rules: [],
  }

  it('skips whole branches, so that a few points in a billion are found immediately', () => {
    const few = { ...huge, rules: [...'ABCDEFGH'].map((name) => rule(`${name} == 3`, [name])) }
    expect(combinations(few)).toBe(1e9)
    expect([...pointsOf(few)]).toHaveLength(10)
    expect(countAllowed(few)).toBeNull()
  })

  it('names the rule that excludes all points', () => {
    const none: Space = {
      axes: axes({ A: [1, 2], B: [3, 4] }),
      rules: [rule('A < B', ['A', 'B']), rule('A > B', ['A', 'B'])],
    }
    expect(countAllowed(none)).toBe(0)
    expect(emptyingRule(none)!.text).toBe('A > B')
  })

  it('lists neighbors with the closest values first', () => {
    const space: Space = {
      axes: axes({ A: [1, 2, 4], B: [8, 16] }),
      rules: [rule('A * B < 64', ['A', 'B'])],
    }
    expect(neighbors(space, { A: 4, B: 8 })).toEqual([
      { A: 2, B: 8 },
      { A: 1, B: 8 },
    ])
  })

  it.each(strategyNames.filter((name) => name !== 'exhaustive'))(
    'with a billion points is searched at random by %s',
    (name) => {
      const strategy = makeStrategy(huge, { name, seed: 3, start: null, first: [] })
      const seen = new Set<string>()
      for (let count = 0; count < 500; count += 1) {
        const point = strategy.next()!
        seen.add(pointKey(point))
        strategy.tell(
          point,
          Object.values(point).reduce((sum, value) => sum + value, 0),
        )
      }
      expect(seen.size).toBe(500)
    },
  )
})

describe('strategies', () => {
  const space: Space = {
    axes: axes({ A: [1, 2, 3, 4, 5, 6], B: [1, 2, 3, 4, 5, 6], C: [1, 2, 3, 4, 5, 6] }),
    rules: [parseRule('A + B + C > 4', new Set(['A', 'B', 'C']))!],
  }
  const allowed = countAllowed(space)!
  /**
   * Returns a time that varies smoothly with the values, as kernel times do with tile sizes. The
   * shortest time is at (4, 2, 5).
   */
  const time = ({ A = 0, B = 0, C = 0 }: Point): number =>
    1 + (A - 4) ** 2 + (B - 2) ** 2 + (C - 5) ** 2

  function search(
    name: (typeof strategyNames)[number],
    budget: number,
    atOnce = 1,
    first: Point[] = [],
  ) {
    const strategy = makeStrategy(space, { name, seed: 1, start: { A: 1, B: 6, C: 1 }, first })
    const order: Point[] = []
    while (order.length < budget) {
      const out: Point[] = []
      for (; out.length < atOnce && order.length + out.length < budget;) {
        const point = strategy.next()
        if (!point) break
        out.push(point)
      }
      if (out.length === 0) break
      order.push(...out)
      for (const point of out) strategy.tell(point, time(point))
    }
    return { order, best: Math.min(...order.map(time)) }
  }

  it.each(strategyNames)('%s tries every allowed point once if the budget allows', (name) => {
    for (const atOnce of [1, 7]) {
      const { order } = search(name, 10_000, atOnce)
      expect(order).toHaveLength(allowed)
      expect(new Set(order.map(pointKey)).size).toBe(allowed)
      expect(order.every(({ A = 0, B = 0, C = 0 }) => A + B + C > 4)).toBe(true)
    }
  })

  it.each(strategyNames)('%s proposes the same points for the same seed', (name) => {
    expect(search(name, 60).order).toEqual(search(name, 60).order)
  })

  it.each(['local', 'genetic'] as const)(
    '%s finds the best point after trying a third of the points',
    (name) => {
      expect(search(name, 70, 4).best).toBe(1)
    },
  )

  it('start with the given points, and do not try them again', () => {
    const first = [
      { A: 6, B: 6, C: 6 },
      { A: 1, B: 1, C: 1 },
      { A: 4, B: 2, C: 5 },
    ]
    for (const name of strategyNames) {
      const { order } = search(name, 10_000, 5, first)
      // The search space excludes the second of the given points.
      expect(order.slice(0, 2)).toEqual([first[0], first[2]])
      expect(new Set(order.map(pointKey)).size).toBe(order.length)
      expect(order).toHaveLength(allowed)
    }
  })

  it('default to an exhaustive search if there are few points', () => {
    expect(usualStrategy(space, allowed)).toBe('exhaustive')
    expect(usualStrategy(space, 2001)).toBe('local')
  })
})
