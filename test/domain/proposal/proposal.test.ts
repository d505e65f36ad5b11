import { describe, expect, it } from 'vitest'
import { fillOf, unknownFill } from '../../../src-main/domain/proposal/contents'
import {
  blocksOf,
  cppText,
  elementsOf,
  expressionText,
  shapeText,
} from '../../../src-main/domain/proposal/counts'
import { propose, type KernelLaunch } from '../../../src-main/domain/proposal/proposal'
import { parameterKind, signatureOf } from '../../../src-main/domain/proposal/signature'
import { ladderText, rungText, type Origin } from '../../../src-main/domain/proposal/write'

describe("a kernel's signature", () => {
  it.each([
    ['add(float const*, float*, int)', 'add', 'add', ['float const*', 'float*', 'int']],
    ['void sum<float, 512>(float*, int)', 'sum<float, 512>', 'sum', ['float*', 'int']],
    ['void (anonymous namespace)::f<(bool)1>(int)', 'f<(bool)1>', 'f', ['int']],
    ['void f<g(int)>(char)', 'f<g(int)>', 'f', ['char']],
    ['plain', 'plain', 'plain', null],
    ['none()', 'none', 'none', []],
  ])('%s is parsed into a name and parameter types', (name, call, base, types) => {
    expect(signatureOf(name)).toEqual({ call, base, types })
  })

  it.each([
    ['float const*', { kind: 'pointer', dtype: 'f32', lanes: 1, isConst: true, pointee: 'float' }],
    ['float4*', { kind: 'pointer', dtype: 'f32', lanes: 4, isConst: false, pointee: 'float4' }],
    ['unsigned long', { kind: 'integer', signed: false, bytes: 8 }],
    ['bool', { kind: 'integer', signed: false, bytes: 1 }],
    ['const double', { kind: 'real', dtype: 'f64' }],
    ['Point', { kind: 'unsupported', why: 'is Point by value' }],
    ['float**', { kind: 'unsupported', why: 'is a pointer to pointers' }],
    [
      'Point*',
      { kind: 'unsupported', why: 'points to Point, which is no element type of a ladder' },
    ],
  ])(
    'a parameter of type %s can be passed by a ladder, or is rejected with the reason',
    (type, kind) => {
      expect(parameterKind(type)).toEqual(kind)
    },
  )
})

describe('an element count', () => {
  const sizes = [
    { name: 'rows', value: 128 },
    { name: 'cols', value: 1000 },
  ]
  const shape = (elements: number) => {
    const found = elementsOf('x', elements, sizes)
    return found && shapeText(found.count)
  }

  it.each([
    [1, ['1']],
    [1000, ['cols']],
    [128_000, ['rows', 'cols']],
    [256_000, ['rows', 'cols', '2']],
    [1001, ['cols + 1']],
    [1_000_000, ['cols', 'cols']],
  ])('%i is expressed as a product of sizes', (elements, expected) => {
    expect(shape(elements)).toEqual(expected)
  })

  it('is unexplained if no formula matches', () => {
    expect(shape(77_777)).toBeNull()
  })

  it('has alternatives if sizes are equal', () => {
    const square = ['M', 'N', 'K'].map((name) => ({ name, value: 64 }))
    expect(shapeText(elementsOf('d_B', 4096, square)!.count)).toEqual(['K', 'N'])
    expect(elementsOf('d_B', 4096, square)!.others).toContain('M * N')
  })
})

describe('a block count', () => {
  const sizes = [
    { name: 'width', value: 1000 },
    { name: 'height', value: 1000 },
  ]

  it('is the size divided by the threads per block, rounded up', () => {
    const { count } = blocksOf(0, 63, 16, sizes, [])
    expect([expressionText(count), cppText(count)]).toEqual([
      'ceil(width / 16)',
      '(p->width + 15) / 16',
    ])
  })

  it('depends on different sizes along x and y', () => {
    expect(expressionText(blocksOf(1, 63, 16, sizes, ['width']).count)).toBe('ceil(height / 16)')
  })

  it('remains constant if no size explains the count', () => {
    expect(expressionText(blocksOf(0, 17, 256, sizes, []).count)).toBe('17')
  })
})

describe('a fill', () => {
  const piece = (values: Float32Array | Int32Array) => [
    { at: 0, data: new Uint8Array(values.buffer) },
  ]

  it.each([
    ['f32', new Float32Array([-0.9375, 0.5]), '{ kind: uniform, lo: -0.94, hi: 0.5 }'],
    ['f32', new Float32Array([2, 2, 2]), '{ kind: constant, value: 2 }'],
    ['i32', new Int32Array([0, 1, 2, 3]), '{ kind: iota }'],
    ['i32', new Int32Array([0, 0]), '{ kind: zero }'],
    ['i32', new Int32Array([98, 3]), '{ kind: uniform, lo: 3, hi: rows - 1 }'],
    ['i32', new Int32Array([40, 3]), '{ kind: uniform, lo: 3, hi: 40 }'],
  ] as const)('of %s matches the program’s values %s', (dtype, values, text) => {
    expect(fillOf(piece(values), dtype, [['rows', 100]]).text).toBe(text)
  })

  it('is a guess if the program wrote no data', () => {
    expect(unknownFill('i32').text).toBe('{ kind: zero }')
  })
})

const launch: KernelLaunch = {
  parameters: [
    {
      name: 'x',
      kind: { kind: 'pointer', dtype: 'f32', lanes: 1, isConst: true, pointee: 'float' },
      value: 0,
      pointer: { allocation: 0, offset: 0, bytes: 400_000, pieces: null },
    },
    {
      name: 'y',
      kind: { kind: 'pointer', dtype: 'f32', lanes: 1, isConst: false, pointee: 'float' },
      value: 0,
      pointer: { allocation: 1, offset: 0, bytes: 400_000, pieces: null },
    },
    { name: 'n', kind: { kind: 'integer', signed: true, bytes: 4 }, value: 100_000, pointer: null },
    { name: 'max', kind: { kind: 'real', dtype: 'f32' }, value: 0.5, pointer: null },
  ],
  grid: [391, 1, 1],
  block: [256, 1, 1],
  dynamicSharedBytes: 0,
  wasRecorded: true,
}

const origin: Origin = {
  id: 'scale',
  file: 'scale.cu',
  included: 'original/scale.cuh',
  rung: '01_scale',
  call: 'scale',
  requires: null,
  launcher: null,
  symbols: [{ name: 'factor', data: '0000803f' }],
  wasRecorded: true,
  build: {},
  libraries: [],
  reference: null,
}

describe('a proposed ladder', () => {
  const proposal = propose(launch)

  it('has sizes, scalars, and buffers from the launch', () => {
    expect(proposal.sizes).toEqual([{ name: 'n', value: 100_000, why: null }])
    expect(proposal.scalars).toEqual([{ name: 'max_value', dtype: 'f32', value: 0.5 }])
    expect(proposal.buffers.map(({ name, access }) => [name, access])).toEqual([
      ['x', 'in'],
      ['y', 'inout'],
    ])
    expect(proposal.arguments).toEqual([
      '(const float*)p->x',
      '(float*)p->y',
      '(int)p->n',
      'p->max_value',
    ])
  })

  it('is linked with the libraries whose headers the file includes, and marks these libraries as a guess', () => {
    expect(ladderText(proposal, origin)).not.toContain('build:')
    const text = ladderText(proposal, { ...origin, libraries: ['cufft', 'curand'] })
    expect(text).toMatch(/^build:\n {2}libraries: \[cufft, curand\] # guess: /m)
  })

  it('has fixed sizes if no formula matches the number of blocks', () => {
    expect(propose({ ...launch, grid: [132, 1, 1] }).fixed).not.toBeNull()
    expect(proposal.fixed).toBeNull()
  })

  it('has one buffer for two pointers into one allocation', () => {
    const [x, y, ...rest] = launch.parameters
    const shared = { ...y!, pointer: { ...x!.pointer!, offset: 400, bytes: 399_600 } }
    const both = propose({ ...launch, parameters: [x!, shared, ...rest] })
    expect(both.buffers).toHaveLength(1)
    expect(both.arguments[1]).toBe('(float*)(p->x + 100)')
    expect(both.buffers[0]!.access).toBe('inout')
  })

  it('sizes a buffer with one result per block by the number of blocks', () => {
    const [x, y, , max] = launch.parameters
    const results = { ...y!, pointer: { ...y!.pointer!, bytes: 4 * 391 } }
    const { buffers, sizes } = propose({ ...launch, parameters: [x!, results, max!] })
    expect(sizes.map(({ name }) => name)).toEqual(['x_count'])
    expect(shapeText(buffers[1]!.shape)).toEqual(['ceil(x_count / 256)'])
    expect(buffers[1]!.guesses).toEqual(['one element per block'])
  })

  it('never derives two grid dimensions from the same number of elements', () => {
    const [x, y] = launch.parameters
    const square: KernelLaunch = { ...launch, grid: [391, 391, 1], parameters: [x!, y!] }
    expect(propose(square).fixed).not.toBeNull()
  })

  it('marks each line that is a guess', () => {
    const text = ladderText(proposal, origin)
    expect(text).toContain('    n: 100000\n')
    expect(text).toMatch(/ {4}y: .*# guess: fill invented/)
    expect(text).toMatch(/reference: \{ rung: 01_scale \} # guess:/)
    const invented = ladderText(proposal, { ...origin, wasRecorded: false })
    expect(invented).toMatch(/ {4}n: 100000 # guess: the program’s own numbers are not known/)
  })

  it("includes the file unchanged, sets the file's variables, and launches its kernel", () => {
    const text = rungText(proposal, origin)
    expect(text).toContain(
      '"-Wunused-function"\n#include "original/scale.cuh"\n#pragma GCC diagnostic pop',
    )
    expect(text).toContain('cudaMemcpyToSymbolAsync(factor,')
    expect(text).toContain('const dim3 grid(unsigned((p->n + 255) / 256), 1, 1); // guess:')
    expect(text).toContain(
      'scale<<<grid, block, 0, stream>>>((const float*)p->x, (float*)p->y, (int)p->n, p->max_value);',
    )
  })
})
