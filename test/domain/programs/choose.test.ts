import { describe, expect, it } from 'vitest'
import {
  functionOf,
  hottest,
  kernelKey,
  previewKernels,
  shortestWindow,
  type PreviewLaunch,
} from '../../../src-main/domain/programs/choose'

const launch = (name: string, ms = 1, grid = 1): PreviewLaunch => ({
  ...{ name, ms, range: null },
  grid: [grid, 1, 1],
  block: [32, 1, 1],
})
const keysOf = (...names: string[]) => new Set(names.map((name) => kernelKey(launch(name))))

it('launches of one name and shape are one kernel', () => {
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

it('the hottest are those that took 95 % of the time, at most twenty, and at least one', () => {
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
  ] as const)('with one of each of %j', (names, window) => {
    expect(shortestWindow(launches, keysOf(...names))).toEqual(window)
  })

  it('is null where a kernel is missing', () => {
    expect(shortestWindow(launches, keysOf('a', 'd'))).toBeNull()
    expect(shortestWindow([], keysOf('a'))).toBeNull()
  })
})

it('a function’s name is the one that ncu filters by', () => {
  expect(functionOf('void at::<unnamed>::norm_kernel<float, 0>(int, T2)')).toBe('norm_kernel')
})
