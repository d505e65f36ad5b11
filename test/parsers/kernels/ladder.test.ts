import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseLadderFile } from '../../../src-main/parsers/kernels/ladder'
import { gemm } from '../../gemm'

const tasks = new Map([['gemm', gemm]])
const ladder = {
  schema: 2,
  id: 'gemm-fp32',
  title: 'FP32',
  summary: 'From naive to tiled.',
  task: 'gemm',
  sizes: [{ m: 4096, n: 4096, k: 4096 }],
  reference: '00_cublas',
  rungs: [
    { id: '00_cublas' },
    { id: '01_naive' },
    { id: '01_naive', as: '01_big', params: { TM: 16 } },
  ],
}
const parse = (change: object) =>
  parseLadderFile(JSON.stringify({ ...ladder, ...change }), 'ladders/a.json', tasks)

describe('a ladder file', () => {
  it('is read, what it does not say of the problem being the task’s', () => {
    expect(parse({})).toEqual({ ...ladder, scalars: {}, options: {} })
    const scalars = { beta: 0.5 }
    expect(parse({ scalars, reference: null })).toMatchObject({ scalars, reference: null })
  })

  const shipped = join(import.meta.dirname, '../../../cuda-kernels/gemm/ladders')
  it.each(readdirSync(shipped).filter((name) => name.endsWith('.json')))('%s is sound', (name) => {
    expect(
      `${parseLadderFile(readFileSync(join(shipped, name), 'utf8'), name, tasks).id}.json`,
    ).toBe(name)
  })
})

describe('a fault is one sentence with the file and the place', () => {
  it.each([
    [
      'a size of zero',
      { sizes: [{ m: 0, n: 1, k: 1 }] },
      /a\.json is not a ladder: sizes\[0\]\.m: /,
    ],
    ['no rungs', { rungs: [] }, /: rungs: /],
    ['no title', { title: undefined }, /: title: /],
    ['a later version', { schema: 3 }, /: schema: /],
    ['a task that is not there', { task: 'none' }, /names the task none/],
    [
      'a choice that is none',
      { options: { dtype: 'fp8' } },
      /sizes\[0\]: dtype = fp8 is not a valid type/,
    ],
    ['a scalar that the task lacks', { scalars: { gamma: 1 } }, /nothing named "gamma"/],
    [
      'a size too few',
      { sizes: [{ m: 1, n: 1 }] },
      /sizes\[0\]: m, n and k must be given together/,
    ],
    [
      'a rung’s choice that is none',
      { rungs: [{ id: 'a', options: { dtype: 'fp8' } }] },
      /rungs\[0\]\.options: dtype = fp8/,
    ],
    [
      'a parameter that is no number',
      { rungs: [{ id: 'a', params: { TM: '8' } }] },
      /rungs\[0\]\.params\.TM/,
    ],
    ['a misspelt key', { sises: [] }, /sises/],
    ['a misspelt key of a rung', { rungs: [{ id: 'a', parms: {} }] }, /rungs\[0\]: .*parms/],
    [
      'a name twice',
      { rungs: [{ id: 'a' }, { id: 'b', as: 'a' }] },
      /rungs\[1\]: It repeats the name a/,
    ],
  ])('%s', (_, change, expected) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ kind: 'input', message: expect.stringMatching(expected) }),
    )
    expect(() => parse(change)).toThrow(/^[^\n]+$/)
  })

  it('text that is not JSON', () => {
    expect(() => parseLadderFile('{"schema": 1,\n', 'ladders/a.json', tasks)).toThrow(
      /^ladders\/a\.json is not JSON: [^\n]+$/,
    )
  })

  it('JSON that is no object', () => {
    expect(() => parseLadderFile('[]', 'ladders/a.json', tasks)).toThrow(
      /not a ladder: the document: /,
    )
  })
})
