import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parameterFlags, parseRungHeader } from '../../../src-main/parsers/kernels/rung-header'
import type { Statement } from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/english'
import { gemm } from '../../support'
import { Task } from '../../../src-main/domain/task/task'
import { parseTask } from '../../../src-main/parsers/kernels/task-file'

const header = `// @rung    05_thread_tile_2d
// @title   2D thread tile
// @after   04_thread_tile_1d
// @idea    each thread computes a tile of C
//          from registers
// @expect  sharedLoads down, fmaUtilization up, registersPerThread same
// @param   TN 8 {4,8}
// @param   TM 8 {4, 8, 16}
// @dtype   f32, bf16
// @requires sm_90a

#include "gemm_common.cuh"
// @title   not of the header
`
const parse = (text: string) => parseRungHeader(text, 'gemm/05.cu', gemm)
const change = (from: string | RegExp, to: string) => parse(header.replace(from, to))

/** Returns the error message, followed by its remedy. */
function faultOf(text: string): string {
  try {
    parse(text)
  } catch (error) {
    expect(error).toMatchObject({ name: 'KernelLadderError', kind: 'input' })
    const { message, remedy } = error as { message: string; remedy?: Statement }
    return remedy ? `${message} ${inEnglish(remedy)}` : message
  }
  throw new Error('It was accepted.')
}

describe('a header', () => {
  it('is parsed completely', () => {
    expect(parse(header)).toEqual({
      id: '05_thread_tile_2d',
      title: '2D thread tile',
      after: '04_thread_tile_1d',
      idea: 'each thread computes a tile of C from registers',
      expect: [
        { metric: 'sharedLoads', direction: 'down' },
        { metric: 'fmaUtilization', direction: 'up' },
        { metric: 'registersPerThread', direction: 'same' },
      ],
      params: [
        { name: 'TN', default: 8, allowed: [4, 8] },
        { name: 'TM', default: 8, allowed: [4, 8, 16] },
      ],
      options: { dtype: ['f32', 'bf16'] },
      flags: [],
      requires: 'sm_90a',
    })
  })

  it('requires no predecessor, prediction, parameter, or architecture', () => {
    expect(parse('// @rung 03_shared_tile\n// @idea i\n// @dtype f32\n').title).toBe('Shared tile')
    expect(parse('// @rung 07\n// @idea i\n// @dtype f32\n').title).toBe('07')
    expect(parse('// @rung a\n// @title A\n// @idea i\n// @dtype f32\n')).toMatchObject({
      after: null,
      expect: [],
      params: [],
      requires: null,
    })
  })

  it('lists the fused operations, in the order in which they are applied', () => {
    expect(change('// @requires', '// @epilogue relu, bias\n// @requires').flags).toEqual([
      'bias',
      'relu',
    ])
    expect(change('// @requires', '// @epilogue bias\n// @requires').flags).toEqual(['bias'])
    expect(parse(header).flags).toEqual([])
  })

  it('may follow a license, and have comments and Windows line endings', () => {
    const text = `\uFEFF// SPDX-License-Identifier: MIT\n//\n${header}`.replaceAll('\n', '\r\n')
    expect(parse(text)).toEqual(parse(header))
  })

  it('is not continued by an ordinary comment', () => {
    expect(change('//          from registers', '// from registers\n//     and more').idea).toBe(
      'each thread computes a tile of C',
    )
  })

  it.each(
    readdirSync(join(import.meta.dirname, '../../../cuda-kernels/gemm'))
      .filter((name) => name.endsWith('.cu') && name !== gemm.reference)
      .map((name) => basename(name, '.cu')),
  )("in the shipped rung %s is complete and has the rung's name", (id) => {
    const text = readFileSync(
      join(import.meta.dirname, `../../../cuda-kernels/gemm/${id}.cu`),
      'utf8',
    )
    expect(parseRungHeader(text, `gemm/${id}.cu`, gemm).id).toBe(id)
  })
})

describe('a header of unrealistic size', () => {
  // A regular expression that backtracks over the blanks would exceed the test's time limit.
  it.each([
    ['a value', (blanks: string) => `// @title a${blanks}b`, 600_000],
    ['a continued line', (blanks: string) => `// @title a\n//   b${blanks}c`, 600_000],
    ['the end of a value', (blanks: string) => `// @title a${blanks}`, 600_000],
  ])('is parsed even if %s has an extremely long run of blanks', (_, line, count) => {
    const blanks = ' \t'.repeat(count / 2)
    const { title } = parse(`// @rung a\n${line(blanks)}\n// @idea i\n// @dtype f32\n`)
    expect([`a${blanks}b`, `a b${blanks}c`, 'a']).toContain(title)
  })

  it('is parsed even if a value has 50,000 lines', () => {
    const more = '//   word\n'.repeat(50_000)
    const { idea } = parse(`// @rung a\n// @title t\n// @idea i\n${more}// @dtype f32\n`)
    expect(idea).toBe(`i${' word'.repeat(50_000)}`)
  })
})

describe('a fault is reported with the file, line, key, and a correction', () => {
  it('together with all other faults of the header, in file order', () => {
    const text = header
      .replace('@title ', '@titel ')
      .replace('sharedLoads down', 'sharedLoads less')
      .replace('8 {4,8}', '9 {4,8}')
      .replace('sm_90a', 'h200')
      .replace('// @dtype   f32, bf16\n', '')
    const begins = faultOf(text).match(/gemm\/05\.cu[^@]*@\w+/g)
    expect(begins).toEqual([
      'gemm/05.cu:2: the header has no key @titel',
      'gemm/05.cu:6: @expect',
      'gemm/05.cu:7: @param',
      'gemm/05.cu:9: @requires',
      'gemm/05.cu: the header has no @dtype',
    ])
  })

  it.each(['rung', 'idea', 'dtype'])('if @%s is missing', (key) => {
    const text = header.replace(new RegExp(`^// @${key} .*\n(?:// {2,}.*\n)?`, 'm'), '')
    expect(faultOf(text)).toBe(
      `gemm/05.cu: the header has no @${key}. Add a line "// @${key} …" to the block at the top.`,
    )
  })

  it('if there is no header', () => {
    expect(faultOf('__global__ void k() {}\n// @rung a\n')).toMatch(/^gemm\/05\.cu: .*has no @rung/)
  })

  const replaced = (from: string | RegExp, to: string) => faultOf(header.replace(from, to))
  it.each([
    [
      'an unknown key',
      replaced('@title ', '@titel '),
      /^gemm\/05\.cu:2: the header has no key @titel\. The keys are: @rung, @title/,
    ],
    [
      'a repeated key',
      replaced('// @dtype', '// @title  Again\n// @dtype'),
      /^gemm\/05\.cu:9: @title is repeated; it first appears on line 2\./,
    ],
    [
      'an invalid epilogue',
      replaced('// @requires', '// @epilogue gelu\n// @requires'),
      /^gemm\/05\.cu:10: @epilogue has the unknown value "gelu"\. Use any of: bias, relu/,
    ],
    [
      'a repeated epilogue part',
      replaced('// @requires', '// @epilogue bias bias\n// @requires'),
      /:10: @epilogue lists a word twice/,
    ],
    ['a key without a value', replaced('2D thread tile', ''), /:2: @title has no value/],
    ['an invalid id', replaced('05_thread_tile_2d', '../05'), /:1: @rung contains "\.\.\/05"/],
    [
      'an invalid predecessor',
      replaced('04_thread', '04 thread'),
      /:3: @after contains "04 thread/,
    ],
    [
      'an unknown metric',
      replaced('fmaUtilization up', 'sharedLoad up'),
      /:6: @expect uses sharedLoad, which is not in the metric registry\. Did you mean sharedLoads\?/,
    ],
    [
      'an invalid direction',
      replaced('fmaUtilization up', 'fmaUtilization higher'),
      /:6: @expect contains "fmaUtilization higher"/,
    ],
    ['an extra comma', replaced('same\n', 'same,\n'), /:6: @expect contains ""/],
    [
      'a parameter without values',
      replaced('TN 8 {4,8}', 'TN 8'),
      /:7: @param contains "TN 8", which is not valid\. .*"TM 8 \{4,8,16\}"/,
    ],
    ['a lowercase parameter', replaced('TN 8', 'tn 8'), /:7: @param contains "tn 8/],
    [
      'a default that is not allowed',
      replaced('TN 8 {4,8}', 'TN 6 {4,8}'),
      /:7: @param TN has the default 6.*\{4,8\}/,
    ],
    [
      'a repeated value',
      replaced('TN 8 {4,8}', 'TN 8 {8,8}'),
      /:7: @param TN lists an allowed value twice/,
    ],
    [
      'a value that is too large',
      replaced('{4,8}', `{8,${'9'.repeat(400)}}`),
      /:7: @param contains/,
    ],
    ['a value that is not a number', replaced('{4,8}', '{4,x}'), /:7: @param contains/],
    ['a repeated parameter', replaced('TM 8', 'TN 8'), /:8: @param TN is repeated/],
    [
      'an invalid type',
      replaced('bf16', 'fp8'),
      /:9: @dtype has the unknown value "fp8".*f32, f16, bf16/,
    ],
    ['an invalid architecture', replaced('sm_90a', '9.0'), /:10: @requires contains "9\.0"/],
  ])('for %s', (_, fault, expected) => expect(fault).toMatch(expected))
})

describe('parameters become nvcc flags', () => {
  it('sorted by name, so that equal parameters yield equal command lines', () => {
    expect(parameterFlags({ TM: 8, BK: 16, TN: -1 })).toEqual(['-DBK=16', '-DTM=8', '-DTN=-1'])
    expect(parameterFlags({})).toEqual([])
  })
})

const text = readFileSync(join(import.meta.dirname, '../../../cuda-kernels/gemm/task.yaml'), 'utf8')

/** Returns the error message with its remedy, as printed. */
function faultsOf(from: string | RegExp, to: string): string {
  expect(text).toMatch(from)
  try {
    parseTask(text.replace(from, to), 'gemm/task.yaml')
  } catch (error) {
    const { message, remedy = '' } = error as { message: string; remedy?: Statement }
    return `${message}\n${inEnglish(remedy)}`
  }
  throw new Error('It was accepted.')
}

describe('a task file', () => {
  it('is parsed, and is stored unchanged in a session', () => {
    expect(gemm).toMatchObject({ id: 'gemm', struct: 'KlGemm', sizes: { m: { max: 2 ** 28 } } })
    expect(Task.parse(JSON.parse(JSON.stringify(gemm)))).toEqual(gemm)
  })

  it.each([
    ['an unknown key', /^struct: KlGemm/m, 'strict: KlGemm', /:6:1: There is no key "strict"\./],
    ['invalid YAML', 'id: gemm', 'id: [gemm', /^gemm\/task\.yaml:\d+:\d+: /],
    ['an alias', 'id: gemm', 'id: &a gemm\nformula: *a', /task\.yaml:\d+:\d+: /],
    [
      'an unknown name in an expression',
      "'2*m*n*k'",
      "'2*m*n*q'",
      /:\d+:3: work\.\w+ uses q, but the task has only m, n, k/,
    ],
    [
      'an invalid expression',
      "'2*m*n*k'",
      "'2*m*'",
      /:\d+:3: work\.\w+ is not a valid expression\./,
    ],
    [
      'an unknown name in a shape',
      'shape: [m, k]',
      'shape: [m, z]',
      /buffers\.\w+\.shape\[\d\] uses z/,
    ],
    [
      'an unchecked buffer',
      /^ {2}c: \{ scale[^\n]*/m,
      '  d: { exact: true }',
      /c is written but has no check/,
    ],
    [
      'an invalid type',
      'dtype: f32, shape: [n]',
      'dtype: f8, shape: [n]',
      /f8 is neither a type nor an option/,
    ],
    ['a wrong type number', 'f16: 1', 'f16: 7', /The number of f16 must be 1\./],
    ['a missing flag', 'when: bias', 'when: basis', /There is no flag named basis/],
    ['a missing scalar', 'read_when: beta', 'read_when: gamma', /There is no scalar named gamma/],
    [
      'a size and a scalar with the same name',
      '  alpha: {',
      '  m: {',
      /m is already the name of another/,
    ],
    [
      'a C keyword',
      /  k: \{ title: 'columns/,
      "  int: { title: 'columns",
      /int cannot be a field of the struct/,
    ],
    [
      'a missing size for compute-sanitizer',
      'm: 131, n: 136, k: 72',
      'm: 131, n: 136',
      /k is missing/,
    ],
    ['a size of zero', 'max: 268435456', 'max: 0', /sizes\.m\.max/],
  ])('with %s is rejected with the line and column', (_what, from, to, expected) => {
    expect(faultsOf(from, to)).toMatch(expected)
    expect(faultsOf(from, to)).toMatch(/^gemm\/task\.yaml:\d+:\d+: /)
  })
})
