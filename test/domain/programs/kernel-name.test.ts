import { describe, expect, it } from 'vitest'
import {
  distinctTitles,
  parseKernelName,
  shortened,
  shortName,
} from '../../../src-main/domain/programs/kernel-name'

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
  ])('%s', (name, path, base, template, parameters) => {
    expect(parseKernelName(name)).toEqual({ path, base, template, parameters })
  })

  it('is shortened in the middle, and only where it is longer', () => {
    expect(shortened('abcdefgh', 8)).toBe('abcdefgh')
    expect(shortened('abcdefghi', 8)).toBe('abcd…ghi')
    const long = shortName(`void f<${'Argument, '.repeat(40)}128>(int)`)
    expect(long).toMatch(/^f<Argument, .*….*128>$/)
    expect([...long]).toHaveLength(60)
  })
})

it('kernels of one name have different titles: by shape, then by number', () => {
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
