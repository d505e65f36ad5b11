import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseLadderFile } from '../../../src-main/parsers/kernels/ladder'

const ladder = {
  schema: 1,
  id: 'gemm-fp32',
  title: 'FP32',
  summary: 'From naive to tiled.',
  dtype: 'f32',
  sizes: [{ m: 4096, n: 4096, k: 4096 }],
  reference: '00_cublas',
  rungs: [
    { id: '00_cublas' },
    { id: '01_naive' },
    { id: '01_naive', as: '01_big', params: { TM: 16 } },
  ],
}
const parse = (change: object) =>
  parseLadderFile(JSON.stringify({ ...ladder, ...change }), 'ladders/a.json')

describe('a ladder file', () => {
  it('is read, alpha and beta being 1 and 0 where they are not given', () => {
    expect(parse({})).toEqual({ ...ladder, alpha: 1, beta: 0 })
    expect(parse({ beta: 0.5, reference: null })).toMatchObject({ beta: 0.5, reference: null })
  })

  const shipped = join(import.meta.dirname, '../../../cuda-kernels/ladders')
  it.each(readdirSync(shipped).filter((name) => name.endsWith('.json')))('%s is sound', (name) => {
    expect(`${parseLadderFile(readFileSync(join(shipped, name), 'utf8'), name).id}.json`).toBe(name)
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
    ['a later version', { schema: 2 }, /: schema: /],
    ['a type that is none', { dtype: 'fp8' }, /: dtype: /],
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
      /rungs\[1\] has the name a again/,
    ],
  ])('%s', (_, change, expected) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ kind: 'input', message: expect.stringMatching(expected) }),
    )
    expect(() => parse(change)).toThrow(/^[^\n]+$/)
  })

  it('text that is not JSON', () => {
    expect(() => parseLadderFile('{"schema": 1,\n', 'ladders/a.json')).toThrow(
      /^ladders\/a\.json is not JSON: [^\n]+$/,
    )
  })

  it('JSON that is no object', () => {
    expect(() => parseLadderFile('[]', 'ladders/a.json')).toThrow(/not a ladder: the document: /)
  })
})
