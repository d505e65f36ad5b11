import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Task } from '../../../src-main/domain/task/task'
import { taskOfVersion1 } from '../../../src-main/domain/session/upgrade/from-1'
import { parseTask } from '../../../src-main/parsers/kernels/ladder'
import { gemm } from '../../gemm'

const text = readFileSync(join(import.meta.dirname, '../../../cuda-kernels/gemm/task.yaml'), 'utf8')

/** Every fault, as it is told. */
function faultsOf(from: string | RegExp, to: string): string {
  expect(text).toMatch(from)
  try {
    parseTask(text.replace(from, to), 'gemm/task.yaml')
  } catch (error) {
    const { message, remedy = '' } = error as { message: string; remedy?: string }
    return `${message}\n${remedy}`
  }
  throw new Error('It was accepted.')
}

describe('a task file', () => {
  it('is read, and stays the same in a session', () => {
    expect(gemm).toMatchObject({ id: 'gemm', struct: 'KlGemm', sizes: { m: { max: 2 ** 28 } } })
    expect(Task.parse(JSON.parse(JSON.stringify(gemm)))).toEqual(gemm)
  })

  it('of gemm computes what sessions of version 1 did', () => {
    expect(gemm).toEqual(taskOfVersion1)
  })

  it.each([
    [
      'a key that is none',
      /^struct: KlGemm/m,
      'strict: KlGemm',
      /:6:1: There is no key "strict"\./,
    ],
    ['no YAML', 'id: gemm', 'id: [gemm', /^gemm\/task\.yaml:\d+:\d+: /],
    ['an alias', 'id: gemm', 'id: &a gemm\nformula: *a', /task\.yaml:\d+:\d+: /],
    [
      'a name in an expression',
      "'2*m*n*k'",
      "'2*m*n*q'",
      /:\d+:3: work\.\w+ uses q; the task has m, n, k/,
    ],
    [
      'an expression that is none',
      "'2*m*n*k'",
      "'2*m*'",
      /:\d+:3: work\.\w+ is not a valid expression\./,
    ],
    ['a shape of nothing', 'shape: [m, k]', 'shape: [m, z]', /buffers\.\w+\.shape\[\d\] uses z/],
    [
      'a buffer that is not checked',
      /^ {2}c: \{ scale[^\n]*/m,
      '  d: { exact: true }',
      /c is written but has no check/,
    ],
    [
      'a type that is none',
      'dtype: f32, shape: [n]',
      'dtype: f8, shape: [n]',
      /f8 is neither a type nor an option/,
    ],
    ['a number of a type', 'f16: 1', 'f16: 7', /The number of f16 is 1\./],
    ['a flag that is not there', 'when: bias', 'when: basis', /There is no flag named basis/],
    [
      'a scalar that is not there',
      'read_when: beta',
      'read_when: gamma',
      /There is no scalar named gamma/,
    ],
    ['a size and a scalar of one name', '  alpha: {', '  m: {', /m is already the name of another/],
    [
      'a word of C',
      /  k: \{ title: 'columns/,
      "  int: { title: 'columns",
      /int cannot be a field of the struct/,
    ],
    [
      'a size that compute-sanitizer lacks',
      'm: 131, n: 136, k: 72',
      'm: 131, n: 136',
      /k is missing/,
    ],
    ['a size of zero', 'max: 268435456', 'max: 0', /sizes\.m\.max/],
  ])('with %s is refused at its line and column', (_what, from, to, expected) => {
    expect(faultsOf(from, to)).toMatch(expected)
    expect(faultsOf(from, to)).toMatch(/^gemm\/task\.yaml:\d+:\d+: /)
  })
})
