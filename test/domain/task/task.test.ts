/** Tests the task: expressions, problems, and generated headers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { evaluate, namesIn, parseExpression } from '../../../src-main/domain/task/expression'
import {
  caseOf,
  flops,
  gflops,
  isTensor,
  leastBytes,
  optionsLabel,
  sizesLabel,
  sizesWord,
} from '../../../src-main/domain/task/problem'
import { gemm, gemmProblem, saying } from '../../support'
import { taskFaults } from '../../../src-main/domain/task/faults'
import { inEnglish } from '../../../src-main/domain/text/english'
import { launchLayout } from '../../../src-main/domain/task/layout'
import { Task } from '../../../src-main/domain/task/task'
import { problemFaults } from '../../../src-main/domain/task/problem-faults'
import { referenceHeader, taskHeader } from '../../../src-main/domain/task/task-headers'
import { chosen, problemAt } from '../../../src-main/domain/task/problem-request'

describe('arithmetic', () => {
  const valueOf = (text: string, names: Record<string, number> = {}): number | null =>
    evaluate(parseExpression(text), (name) => names[name] ?? null)

  describe('an expression', () => {
    it.each([
      ['1 + 2 * 3', 7],
      ['(1 + 2) * 3', 9],
      ['7 - 2 - 1', 4],
      ['-2 * -3', 6],
      ['17 % 5', 2],
      ['1.5e3 / 2', 750],
      ['ceil(7 / 2) + floor(7 / 2)', 7],
      ['min(4, 2, 8) + max(1, 3)', 5],
      ['pow(2, 10) - log2(1024) * sqrt(4)', 1004],
    ])('%s is %d', (text, value) => {
      expect(valueOf(text)).toBe(value)
    })

    it('gets the values of its names from the caller', () => {
      expect(valueOf('ceil(m / 128) / smCount', { m: 4096, smCount: 16 })).toBe(2)
      expect(valueOf('your.sharedLoads / 2', { 'your.sharedLoads': 8 })).toBe(4)
      expect(namesIn(parseExpression('m * max(m, your.timeMs)'))).toEqual(['m', 'your.timeMs'])
    })

    it('has no value if a name has no value, or if the result is not finite', () => {
      expect(valueOf('smCount * 2')).toBeNull()
      expect(valueOf('1 / 0')).toBeNull()
    })

    it.each([
      ['1 +', 'It ends where a value is expected.'],
      ['2 * 1e999', 'Character 5: the number is too large.'],
      ['2 x', 'Character 3, "x", is unexpected.'],
      ['process.exit()', 'there is no function process.exit'],
      ['constructor("x")', 'Character 13'],
      ['min()', 'Character 5, ")", is unexpected.'],
      ['pow(2)', 'pow takes 2, not 1'],
      ['m; n', 'Character 2, ";"'],
      ['__proto__', 'Character 1, "_"'],
    ])('rejects %s', (text, sentence) => {
      expect(() => parseExpression(text)).toThrow(sentence)
    })
  })
})

describe('tasks', () => {
  describe('sizes as text', () => {
    it.each([
      [{ m: 4096, n: 4096, k: 4096 }, '4096³', '4096'],
      [{ m: 1023, n: 777, k: 1111 }, '1023×777×1111', '1023x777x1111'],
      [{ ROWS: 512, COLS: 512 }, '512²', '512'],
      [{ N: 100 }, 'N = 100', '100'],
    ])('for %j include a label and a form for file names', (sizes, label, word) => {
      expect(sizesLabel(sizes)).toBe(label)
      expect(sizesWord(sizes)).toBe(word)
    })
  })

  describe("a problem's work", () => {
    const problem = gemmProblem(64, 32, 16)
    it('is computed from the task’s expressions', () => {
      expect(flops(gemm, problem)).toBe(2 * 64 * 32 * 16)
      expect(gflops(gemm, problem, 1)).toBe((2 * 64 * 32 * 16) / 1e6)
      expect(leastBytes(gemm, problem)).toBe(4 * (64 * 16 + 16 * 32 + 64 * 32))
      const read = gemmProblem(64, 32, 16, { beta: -0.5, dtype: 'bf16' })
      expect(leastBytes(gemm, read)).toBe(2 * (64 * 16 + 16 * 32) + 2 * 4 * 64 * 32)
    })

    it('is unknown without a task, or if the task does not count operations', () => {
      expect(flops(null, problem)).toBeNull()
      expect(gflops({ ...gemm, work: { reads: 0, writes: 0 } }, problem, 1)).toBeNull()
    })

    it('runs on tensor cores for the choices listed in the task', () => {
      expect(isTensor(gemm, problem)).toBe(false)
      expect(isTensor(gemm, gemmProblem(8, 8, 8, { dtype: 'f16' }))).toBe(true)
    })

    it('is labeled with the common name of the data type', () => {
      expect(optionsLabel(gemmProblem(8, 8, 8, { dtype: 'bf16' }))).toBe('BF16')
    })

    it('may use options and flags that a rung sets', () => {
      expect(caseOf(problem, { options: { dtype: 'f16' }, flags: ['bias'] })).toEqual({
        ...problem,
        options: { dtype: 'f16' },
        flags: ['bias'],
      })
    })
  })

  describe('a choice', () => {
    const usual = { sizes: { m: 4, n: 4, k: 4 }, scalars: { beta: 1 } }
    it('takes missing values from the ladder, or else from the task', () => {
      expect(problemAt(gemm, {}, usual)).toEqual(gemmProblem(4, 4, 4, { beta: 1 }))
      expect(problemAt(gemm, { size: 8, at: { alpha: 2, dtype: 'f16' } }, usual)).toEqual(
        gemmProblem(8, 8, 8, { alpha: 2, beta: 1, dtype: 'f16' }),
      )
      // Omitted values keep their defaults.
      expect(problemAt(gemm, { at: { m: 8 } }, usual).sizes).toEqual({ m: 8, n: 4, k: 4 })
      expect(chosen(gemm, { at: { beta: 0 } })).toEqual({
        sizes: null,
        scalars: { beta: 0 },
        options: {},
      })
    })

    it.each([
      [
        { at: { q: 1 } },
        'The task gemm has no size, scalar or option "q".',
        'm, n, k, alpha, beta, dtype',
      ],
      [
        { size: 8, at: { m: 1, n: 1, k: 1 } },
        '--size cannot be combined with m, n and k.',
        'one or',
      ],
      [{ at: { m: 1, n: 2.5, k: 1 } }, 'n = 2.5 is not a valid size.', 'from 1 to 268435456'],
      [{ size: 0 }, 'm = 0 is not a valid size.', 'from 1 to 268435456'],
      [{ at: { alpha: 'much' } }, 'alpha = much is not a number.', 'alpha=0.5'],
      [
        { at: { dtype: 'fp8' } },
        'dtype = fp8 is not a valid type of the inputs.',
        'f32, f16, bf16',
      ],
    ])('of %j is rejected with an error message and a remedy', (choice, message, remedy) => {
      expect(() => problemAt(gemm, choice, usual)).toThrow(
        expect.objectContaining({
          kind: 'input',
          message,
          remedy: saying(remedy),
        }) as Error,
      )
    })
  })
})

describe('generated headers', () => {
  const captures = join(import.meta.dirname, '../../captures/task/gemm')
  const captured = (name: string) => readFileSync(join(captures, name), 'utf8')

  /**
   * A task with two flags that share a field, one buffer per access kind, and types of each size.
   */
  const row = Task.parse({
    id: 'rows',
    title: 'Rows */ and columns',
    sizes: { ROWS: {} },
    scalars: { eps: { dtype: 'f64', value: 0 }, steps: { dtype: 'i32', value: 1 } },
    flags: {
      header: 'after',
      values: { relu: { field: 'act', value: 1 }, gelu: { field: 'act', value: 2 } },
    },
    buffers: {
      x: { dtype: 'f16', shape: ['ROWS', 2], access: 'in', fill: { kind: 'iota' } },
      y: { dtype: 'i32', shape: ['ROWS'], access: 'out' },
      z: { dtype: 'f32', shape: ['ROWS'], access: 'inout', fill: { kind: 'zero' } },
    },
    reference: 'reference.cu',
    check: { y: { exact: true }, z: { rtol: 1e-5, atol: 0 } },
    work: { reads: 'ROWS', writes: 'ROWS' },
  })

  it('an input-only scalar appears in no struct, and only in problems that set it', () => {
    const { scalars, ...rest } = row
    const special = { dtype: 'i32' as const, value: 0, inputs: true as const }
    const task = Task.parse({ ...rest, scalars: { ...scalars, special } })
    expect(taskHeader(task)).toBe(taskHeader(row))
    expect(referenceHeader(task)).toBe(referenceHeader(row))
    const usual = problemAt(row, { size: 4 }, {})
    expect(problemAt(task, { size: 4 }, {})).toEqual(usual)
    expect(problemAt(task, { size: 4, at: { special: 0 } }, {})).toEqual(usual)
    const { scalars: asked } = problemAt(task, { size: 4, at: { special: 3 } }, {})
    expect(asked).toEqual({ eps: 0, steps: 1, special: 3 })
  })

  it('infinities and NaN require an integer number of rows and a floating-point buffer', () => {
    const faults = (dtype: string, special: number | string, at = {}): string[] => {
      const x = {
        dtype,
        shape: ['ROWS'],
        access: 'in',
        fill: { kind: 'uniform', lo: 0, hi: 1, special },
      }
      const task = Task.parse({
        ...{ ...row, flags: undefined, check: { y: { exact: true } } },
        buffers: { x, y: row.buffers.y },
      })
      const own = caseOf(problemAt(task, { size: 4, at }, {}))
      return [...taskFaults(task), ...problemFaults(task, own)].map(({ message }) =>
        inEnglish(message),
      )
    }
    expect(faults('f32', 'steps')).toEqual([])
    expect(faults('i32', 'steps')[0]).toMatch(
      /^Infinities and NaN fill only floating-point buffers/,
    )
    expect(faults('f32', 'steps', { steps: -1 })[0]).toMatch(/special is -1, but it must be 0 or/)
    expect(faults('f32', 'steps / 2')[0]).toMatch(/special is 0.5, but it must be 0 or/)
  })

  describe('for a task', () => {
    it.each([
      ['kl_task.h', taskHeader],
      ['kl_reference.h', referenceHeader],
    ])('%s for gemm equals the header with which its rungs were compiled', (name, header) => {
      expect(header(gemm)).toBe(captured(name))
    })

    it('do not end a comment early, and include the headers that declare their types', () => {
      const header = taskHeader(row)
      expect(header).toContain('/* Generated from the task rows: Rows * / and columns. */\n#ifndef')
      expect(header).toContain('#include <cuda_fp16.h>\n')
      expect(header).toContain('  const __half* x;')
      expect(header).toContain('  int* y;')
      expect(header).not.toContain('enum')
    })

    it('give the reference the exact type if a result must be exact, and double otherwise', () => {
      const header = referenceHeader(row)
      expect(header).toContain('  int* y;')
      expect(header).toContain('  const float* z_in;')
      expect(header).toContain('  double* z;')
      expect(header).not.toContain('z_scale')
    })

    it('place fields at their natural alignment', () => {
      const { fields, bytes } = launchLayout(row)
      expect(fields.map(({ name, offset }) => [name, offset])).toEqual([
        ['ROWS', 0],
        ['eps', 8],
        ['steps', 16],
        ['x', 24],
        ['y', 32],
        ['z', 40],
        ['workspace', 48],
        ['workspaceBytes', 56],
        ['act', 64],
      ])
      expect(bytes).toBe(72)
    })
  })
})
