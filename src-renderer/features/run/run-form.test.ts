import { describe, expect, it } from 'vitest'
import { RunRequest } from '../../../src-main/contract'
import { maxSize } from '../../../src-main/domain/task/task'
import {
  customSize,
  formFault,
  freshForm,
  parameterChoices,
  parseExtent,
  parseScalar,
  runRequest,
} from './run-form'
import { ladder } from '../../../test/renderer/samples'

const fresh = (target = 'local') => freshForm(ladder, target)

describe('extents', () => {
  it.each([
    ['1', 1],
    [' 777 ', 777],
    [String(maxSize), maxSize],
    [String(maxSize + 1), null],
    ['0', null],
    ['-4', null],
    ['1e3', null],
    ['4.5', null],
    ['', null],
  ])('%j is %s', (text, value) => {
    expect(parseExtent(text)).toBe(value)
  })
})

describe('a request', () => {
  it('asks for the whole ladder at its first size by default', () => {
    const request = runRequest(fresh(), ladder)
    expect(request).toEqual({
      ladder: 'gemm-fp32',
      target: 'local',
      profile: 'card',
      at: { m: 4096, n: 4096, k: 4096 },
      params: {},
    })
    expect(RunRequest.safeParse(request).success).toBe(true)
  })

  it('names the reference beside the chosen rungs', () => {
    expect(runRequest({ ...fresh(), rungs: ['02_tile'] }, ladder).rungs).toEqual([
      '00_ref',
      '02_tile',
    ])
  })

  it('takes a custom size and a parameter that a chosen rung allows', () => {
    const form = {
      ...fresh(),
      size: customSize,
      custom: { m: '1023', n: '777', k: '1111' },
      params: { BM: '32', GONE: '1' },
    }
    expect(runRequest(form, ladder)).toMatchObject({
      at: { m: 1023, n: 777, k: 1111 },
      params: { BM: 32 },
    })
    expect(runRequest({ ...form, rungs: ['03_wide'] }, ladder).params).toEqual({})
  })

  it('asks a recording for neither size nor parameters', () => {
    const request = runRequest({ ...fresh('recorded:h200'), params: { BM: '32' } }, ladder)
    expect(request).toEqual({ ladder: 'gemm-fp32', target: 'recorded:h200', profile: 'card' })
  })
})

describe('scalars and options', () => {
  const form = { ...fresh(), values: { alpha: '0.5', beta: '', dtype: 'f32', gone: '1' } }

  it('are asked for where they were given, beside the size', () => {
    expect(runRequest(form, ladder).at).toEqual({
      m: 4096,
      n: 4096,
      k: 4096,
      alpha: 0.5,
      dtype: 'f32',
    })
  })

  it('keep a run from being started where they are no numbers', () => {
    expect(formFault({ ...form, values: { alpha: 'x' } }, ladder)).toBe('badValue')
  })

  it.each([
    ['1', 'f32', 1],
    ['-1e-3', 'f64', -0.001],
    ['2.5', 'i32', null],
    ['', 'f32', null],
    ['1e999', 'f32', null],
  ] as const)('%j as %s is %j', (text, dtype, value) => {
    expect(parseScalar(text, dtype)).toBe(value)
  })
})

it('names a folder in place of the ladder’s id', () => {
  const form = freshForm(ladder, 'local', '/home/me/softmax')
  expect(runRequest(form, ladder).ladder).toBe('/home/me/softmax')
})

describe('faults', () => {
  it('are named before a run is started', () => {
    expect(formFault(fresh(), ladder)).toBeNull()
    expect(formFault(fresh(''), ladder)).toBe('noTarget')
    expect(formFault({ ...fresh(), rungs: [] }, ladder)).toBe('noRungs')
    expect(formFault({ ...fresh(), size: customSize }, ladder)).toBe('badSize')
    expect(formFault({ ...fresh('recorded:h200'), size: customSize }, ladder)).toBeNull()
  })
})

it('offers each value that one of the chosen rungs allows', () => {
  expect(parameterChoices(ladder, ['02_tile', '03_wide'])).toEqual([
    { name: 'BM', allowed: [32, 64, 128], rungs: ['02_tile', '03_wide'] },
  ])
  expect(parameterChoices(ladder, ['01_naive'])).toEqual([])
})
