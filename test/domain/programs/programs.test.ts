/** Tests sessions of kernels under ncu, from a program or an import. */
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import {
  functionOf,
  hottest,
  kernelKey,
  previewKernels,
  shortestWindow,
  type PreviewLaunch,
} from '../../../src-main/domain/programs/choose'
import { message } from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/english'
import {
  distinctTitles,
  parseKernelName,
  shortened,
  shortName,
} from '../../../src-main/domain/programs/kernel-names'
import { profiledTime } from '../../../src-main/domain/programs/profiled-time'

export interface SampleKernel {
  name: string
  grid?: number
  block?: number
  range?: string
  /** The time of each launch in ms. */
  ms: number | number[]
}

const base = await readSession('resources/recordings/gemm-fp32-h200-1024')
export const ladder: Session = base

const rungOf = ({ name, grid = 64, block = 256, range, ms }: SampleKernel, index: number) => {
  const id = `${String(index).padStart(2, '0')}_kernel`
  const rung: RungResult = {
    ...base.rungs[0]!,
    id,
    title: name,
    timing: null,
    profiledTime: profiledTime([ms].flat())!,
    profile: {
      passes: 1,
      kernels: [
        {
          name,
          grid: [grid, 1, 1],
          block: [block, 1, 1],
          passes: 1,
          ...(range === undefined ? {} : { range }),
        },
      ],
    },
  }
  return rung
}

export const kernels = (id: string, list: readonly SampleKernel[]): Session => ({
  ...base,
  id,
  target: { kind: 'imported', name: `${id}.ncu-rep` },
  problem: null,
  rungs: list.map(rungOf),
})

const launch = (name: string, ms = 1, grid = 1): PreviewLaunch => ({
  ...{ name, ms, range: null },
  grid: [grid, 1, 1],
  block: [32, 1, 1],
})
const keysOf = (...names: string[]) => new Set(names.map((name) => kernelKey(launch(name))))

it('launches with the same name and shape are one kernel', () => {
  expect(
    previewKernels([launch('a', 1), launch('b', 2), launch('a', 3), launch('a', 4, 2)]).map(
      ({ name, launchesMs, totalMs }) => [name, launchesMs, totalMs],
    ),
  ).toEqual([
    ['a', [1, 3], 4],
    ['b', [2], 2],
    ['a', [4], 4],
  ])
})

it('the hottest kernels are the one to twenty kernels that took 95 % of the time', () => {
  const names = (launches: PreviewLaunch[]) =>
    hottest(previewKernels(launches)).map(({ name }) => name)
  expect(names([launch('a', 4), launch('b', 90), launch('c', 6)])).toEqual(['b', 'c'])
  expect(names([launch('a', 0), launch('b', 0)])).toEqual(['a'])
  expect(names(Array.from({ length: 50 }, (_, n) => launch(`k${n}`)))).toHaveLength(20)
})

describe('the shortest window', () => {
  const launches = ['a', 'b', 'a', 'a', 'c', 'b', 'a'].map((name) => launch(name))

  it.each([
    [['a'], { skip: 0, count: 1 }],
    [['c'], { skip: 4, count: 1 }],
    [['a', 'c'], { skip: 3, count: 2 }],
    [['a', 'b', 'c'], { skip: 3, count: 3 }],
  ] as const)('contains a launch of each kernel in %j', (names, window) => {
    expect(shortestWindow(launches, keysOf(...names))).toEqual(window)
  })

  it('is null if a kernel is missing', () => {
    expect(shortestWindow(launches, keysOf('a', 'd'))).toBeNull()
    expect(shortestWindow([], keysOf('a'))).toBeNull()
  })
})

it("the name for ncu's kernel filter is the function name", () => {
  expect(functionOf('void at::<unnamed>::norm_kernel<float, 0>(int, T2)')).toBe('norm_kernel')
})

describe('a kernel’s name', () => {
  it.each([
    ['scale(float *, int)', 'scale', 'scale', null, 'float *, int'],
    ['void tile<32>(const float *)', 'tile', 'tile', '32', 'const float *'],
    ['<unnamed>::offset(float *, int)', 'unnamed::offset', 'offset', null, 'float *, int'],
    ['(anonymous namespace)::offset(int)', 'unnamed::offset', 'offset', null, 'int'],
    ['void <unnamed>::f<(int)2>(int)', 'unnamed::f', 'f', '2', 'int'],
    ['sm80_xmma_gemm_f32', 'sm80_xmma_gemm_f32', 'sm80_xmma_gemm_f32', null, null],
    [
      'void at::native::elementwise_kernel<128, 4, void at::native::gpu_impl<f<float>>(T1 &)::[lambda(int) (instance 1)]>(int, T3)',
      'at::native::elementwise_kernel',
      'elementwise_kernel',
      '128, 4, void at::native::gpu_impl<f<float>>(T1 &)::[lambda(int) (instance 1)]',
      'int, T3',
    ],
    ['void each<main::[lambda(int)->void]>(T1)', 'each', 'each', 'main::[lambda(int)->void]', 'T1'],
    ['', 'unnamed', 'unnamed', null, null],
    ['<unnamed>', 'unnamed', 'unnamed', null, null],
    ['void broken<32', 'broken', 'broken', '32', null],
  ])('the kernel name %s is parsed into its parts', (name, path, base, template, parameters) => {
    expect(parseKernelName(name)).toEqual({ path, base, template, parameters })
  })

  it('is shortened in the middle if it is too long', () => {
    expect(shortened('abcdefgh', 8)).toBe('abcdefgh')
    expect(shortened('abcdefghi', 8)).toBe('abcd…ghi')
    const long = shortName(`void f<${'Argument, '.repeat(40)}128>(int)`)
    expect(long).toMatch(/^f<Argument, .*….*128>$/)
    expect([...long]).toHaveLength(60)
  })
})

it('the titles of kernels with the same name include the launch shape, and a number if the shapes match', () => {
  const at = (name: string, grid: number, block = 256) => ({
    name,
    grid: [grid, 1, 1] as [number, number, number],
    block: [block, 1, 1] as [number, number, number],
  })
  expect(
    distinctTitles([
      at('void f<1>(int)', 64),
      at('void f<1>(int)', 32),
      at('void f<1>(int)', 64),
      at('g()', 1),
      at('h()', 1),
      at('h()', 1),
    ]),
  ).toEqual([
    'f<1>, grid 64, block 256 #1',
    'f<1>, grid 32, block 256',
    'f<1>, grid 64, block 256 #2',
    'g',
    'h #1',
    'h #2',
  ])
})

const tile = (width: number, ms: number | number[], more: Partial<SampleKernel> = {}) => ({
  name: `void tile<${width}>(float *)`,
  ms,
  ...more,
})

/**
 * Returns 14 launches. Twelve launches use the same template, some with equal arguments. The other
 * two launches run different kernels.
 */
const fourteen = (): SampleKernel[] => [
  ...['first', 'second'].flatMap((range) => [
    tile(1, 0.1, { range }),
    tile(2, 0.2, { range }),
    tile(4, 0.4, { range }),
    tile(4, 0.3, { range, grid: 32, block: 512 }),
    tile(1, 0.11, { range }),
    tile(8, 0.8, { range }),
  ]),
  { name: '<unnamed>::offset(float *, int)', ms: 0.5 },
  { name: 'finish()', ms: 0.05 },
]

describe('two reports of 14 launches', () => {
  const before = kernels('before', fourteen())
  const edited = fourteen()
  edited[2] = { ...edited[2]!, ms: 0.4 * 1.3 }
  edited[9] = { ...edited[9]!, ms: 0.3 * 0.8 }

  it.each([0, 4, 6, 10, 13])('without launch %i are paired correctly', (missing) => {
    const after = kernels(
      'after',
      edited.filter((_, index) => index !== missing),
    )
    const { pairs, onlyA, onlyB, changes, total, comparable } = compareSessions(before, after)
    expect(comparable.ok).toBe(true)
    expect(pairs).toHaveLength(13)
    for (const { a, b } of pairs) {
      const [left, right] = [Number(a.slice(0, 2)), Number(b.slice(0, 2))]
      expect(right, a).toBe(left < missing ? left : left - 1)
    }
    expect(onlyA.map(({ id }) => Number(id.slice(0, 2)))).toEqual([missing])
    expect(onlyB).toEqual([])
    expect(changes.map(({ kind }) => kind)).toEqual(['removed'])
    const told = pairs.filter(({ verdict }) => verdict !== 'same')
    expect(told.map(({ a, verdict }) => [a, verdict])).toEqual([
      ['02_kernel', 'slower'],
      ['09_kernel', 'faster'],
    ])
    expect(told.map(({ ratio }) => ratio!.toFixed(3))).toEqual(['1.300', '0.800'])
    const removed = fourteen()[missing]!.ms as number
    expect(total.timeB).toBeCloseTo(total.timeA! - removed + 0.12 - 0.06, 9)
    expect(total.ratio).toBeCloseTo(total.timeB! / total.timeA!, 12)
  })

  it('are paired, and each pair states how it was found', () => {
    const { pairs } = compareSessions(before, kernels('after', edited))
    expect(pairs[0]!.by).toBe('function+template+grid+block+range+order')
    expect(pairs[5]!.by).toBe('function+template+grid+block+range')
    expect(pairs[13]!.by).toBe('function+grid+block')
  })
})

describe('a pair', () => {
  const pairsOf = (a: SampleKernel[], b: SampleKernel[]) =>
    compareSessions(kernels('a', a), kernels('b', b)).pairs.map((pair) => [
      pair.sideA.title,
      pair.sideB.title,
      pair.by,
    ])

  it('shares as many template arguments, shapes, and ranges as possible', () => {
    expect(
      pairsOf(
        [tile(1, 1), tile(2, 1), { name: 'g()', ms: 1, range: 'x' }],
        [tile(2, 1, { grid: 128 }), { name: 'g()', ms: 1, range: 'y' }, tile(3, 1)],
      ),
    ).toEqual([
      ['void tile<1>(float *)', 'void tile<3>(float *)', 'function+grid+block'],
      ['void tile<2>(float *)', 'void tile<2>(float *)', 'function+template'],
      ['g()', 'g()', 'function+grid+block'],
    ])
  })

  it('never combines two different functions', () => {
    expect(pairsOf([{ name: 'f()', ms: 1 }], [{ name: 'g()', ms: 1 }])).toEqual([])
    expect(pairsOf([{ name: 'a::f()', ms: 1 }], [{ name: 'b::f()', ms: 1 }])).toEqual([])
  })

  it("does not depend on the kernels' positions in the list", () => {
    expect(
      pairsOf(
        [
          { name: 'f()', ms: 1 },
          { name: 'g()', ms: 1 },
        ],
        [
          { name: 'g()', ms: 1 },
          { name: 'f()', ms: 1 },
        ],
      ).map(([a, b]) => a === b),
    ).toEqual([true, true])
  })

  it('can be chosen by the user', () => {
    const [a, b] = [kernels('a', [{ name: 'f()', ms: 2 }]), kernels('b', [{ name: 'g()', ms: 1 }])]
    expect(compareSessions(a, b, { byHand: [['00_kernel', '00_kernel']] }).pairs).toMatchObject([
      { by: 'hand', ratio: 0.5, verdict: 'faster' },
    ])
  })
})

describe('a verdict', () => {
  const verdict = (a: number | number[], b: number | number[]) =>
    compareSessions(kernels('a', [tile(1, a)]), kernels('b', [tile(1, b)])).pairs[0]!.verdict

  it('on individual launches is undecided within the usual launch-to-launch variation', () => {
    expect([1, 1.03, 1.05, 1.08, 0.9].map((ms) => verdict(1, ms))).toEqual([
      'same',
      'same',
      'unresolved',
      'slower',
      'faster',
    ])
  })

  it('is based on the spread if there are several launches', () => {
    const around = (ms: number, spread: number) =>
      Array.from({ length: 20 }, (_, n) => ms * (1 + spread * (n / 19 - 0.5)))
    expect(verdict(around(1, 0.02), around(1.05, 0.02))).toBe('slower')
    expect(verdict(around(1, 0.02), around(1.01, 0.02))).toBe('same')
    expect(verdict(around(1, 1), around(1.05, 1))).toBe('unresolved')
    expect(verdict(around(1, 1), around(1, 1))).toBe('unresolved')
  })

  it('is undecided if there are no times', () => {
    expect(verdict(0, 1)).toBe('unresolved')
  })
})

describe('kernels without a counterpart', () => {
  const changesOf = (a: SampleKernel[], b: SampleKernel[]) =>
    compareSessions(kernels('a', a), kernels('b', b)).changes.map(
      ({ kind, a: gone, b: come, ratio }) => [kind, gone.length, come.length, ratio],
    )
  const [f, g] = [
    { name: 'first()', ms: 1 },
    { name: 'last()', ms: 1 },
  ]

  it('are reported as fused, split, or replaced if they are between the same neighbors', () => {
    const parts = [
      { name: 'mean()', ms: 1 },
      { name: 'scale()', ms: 2 },
      { name: 'shift()', ms: 1 },
    ]
    const whole = [{ name: 'norm()', ms: 1 }]
    expect(changesOf([f, ...parts, g], [f, ...whole, g])).toEqual([['fused', 3, 1, 0.25]])
    expect(changesOf([f, ...whole, g], [f, ...parts, g])).toEqual([['split', 1, 3, 4]])
    expect(changesOf([f, ...whole, g], [f, { name: 'other()', ms: 2 }, g])).toEqual([
      ['replaced', 1, 1, 2],
    ])
  })

  it('belong together at any position if they are in the same NVTX range', () => {
    const [x, y] = ['x', 'y'].map((range) => [
      { name: `${range}1()`, ms: 1, range },
      { name: `${range}2()`, ms: 1, range },
    ]) as [SampleKernel[], SampleKernel[]]
    expect(
      changesOf(
        [...x, ...y],
        [
          { name: 'b()', ms: 1, range: 'y' },
          { name: 'a()', ms: 1, range: 'x' },
        ],
      ),
    ).toEqual([
      ['fused', 2, 1, 0.5],
      ['fused', 2, 1, 0.5],
    ])
  })

  it('are reported as added or removed in all other cases', () => {
    expect(changesOf([f, g], [f, { name: 'new()', ms: 1 }, g])).toEqual([['added', 0, 1, null]])
    expect(changesOf([f, { name: 'old()', ms: 1 }, g], [f, g])).toEqual([['removed', 1, 0, null]])
  })
})

describe('sessions of several kinds', () => {
  it('from one ladder are paired by rung, with the runner’s times', () => {
    const { pairs, comparable, onlyA, total } = compareSessions(ladder, ladder)
    expect(comparable).toEqual({ ok: true, reasons: [] })
    expect(pairs).toHaveLength(ladder.rungs.length)
    for (const { a, b, by, verdict, ratio } of pairs)
      expect({ b, by, verdict, ratio }).toEqual({ b: a, by: 'rung', verdict: 'same', ratio: 1 })
    expect(onlyA).toEqual([])
    expect(total.ratio).toBe(1)
  })

  it('from a ladder and an import are paired by kernel, without a comparison of times', () => {
    const rung = ladder.rungs.find(({ profile }) => profile?.kernels.length === 1)!
    const [kernel] = rung.profile!.kernels
    const own = kernels('import', [{ name: kernel!.name, ms: 1 }])
    const { pairs, comparable, total } = compareSessions(ladder, own)
    expect(pairs).toMatchObject([{ a: rung.id, ratio: null, verdict: 'unresolved', change: null }])
    expect(total.ratio).toBeNull()
    expect(comparable.ok).toBe(false)
    expect(comparable.reasons.map(inEnglish).join()).toContain('the runner timed one session')
  })

  it('that have no kernel in common are not comparable for that reason', () => {
    const { comparable } = compareSessions(
      kernels('a', [{ name: 'f()', ms: 1 }]),
      kernels('b', [{ name: 'g()', ms: 1 }]),
    )
    expect(comparable.reasons.map(inEnglish).join()).toContain('No kernel')
  })

  it('with 500 kernels are paired quickly', () => {
    const many = Array.from({ length: 500 }, (_, n) => tile(n % 7, 1 + (n % 13)))
    expect(compareSessions(kernels('a', many), kernels('b', many.slice(3))).pairs).toHaveLength(497)
  })
})

it('a comparison reports whether an import has only the first launches of a report', () => {
  const first: Session = {
    ...kernels('long', [{ name: 'scale', ms: 1 }]),
    warnings: [
      message('records.importedFirst', { file: 'long.ncu-rep', total: 11_000, count: 500 }),
    ],
  }
  const { comparable } = compareSessions(kernels('short', [{ name: 'scale', ms: 1 }]), first)
  expect(comparable.reasons.map(inEnglish)).toContain(
    'The second session: long.ncu-rep contains 11000 launches; the first 500 were imported.',
  )
})
