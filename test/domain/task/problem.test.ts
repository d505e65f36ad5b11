import { describe, expect, it } from 'vitest'
import { chosen, problemAt } from '../../../src-main/domain/task/choose'
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
import { gemm, gemmProblem } from '../../gemm'
import { saying } from '../../said'

describe('sizes in a word', () => {
  it.each([
    [{ m: 4096, n: 4096, k: 4096 }, '4096³', '4096'],
    [{ m: 1023, n: 777, k: 1111 }, '1023×777×1111', '1023x777x1111'],
    [{ ROWS: 512, COLS: 512 }, '512²', '512'],
    [{ N: 100 }, 'N = 100', '100'],
  ])('%j', (sizes, label, word) => {
    expect(sizesLabel(sizes)).toBe(label)
    expect(sizesWord(sizes)).toBe(word)
  })
})

describe('the work of a problem', () => {
  const problem = gemmProblem(64, 32, 16)
  it('is what the task’s expressions come to', () => {
    expect(flops(gemm, problem)).toBe(2 * 64 * 32 * 16)
    expect(gflops(gemm, problem, 1)).toBe((2 * 64 * 32 * 16) / 1e6)
    expect(leastBytes(gemm, problem)).toBe(4 * (64 * 16 + 16 * 32 + 64 * 32))
    const read = gemmProblem(64, 32, 16, { beta: -0.5, dtype: 'bf16' })
    expect(leastBytes(gemm, read)).toBe(2 * (64 * 16 + 16 * 32) + 2 * 4 * 64 * 32)
  })

  it('is not known without a task, or where the task counts none', () => {
    expect(flops(null, problem)).toBeNull()
    expect(gflops({ ...gemm, work: { reads: 0, writes: 0 } }, problem, 1)).toBeNull()
  })

  it('is done by tensor cores for the choices that the task names', () => {
    expect(isTensor(gemm, problem)).toBe(false)
    expect(isTensor(gemm, gemmProblem(8, 8, 8, { dtype: 'f16' }))).toBe(true)
  })

  it('is called by the type as a reader knows it', () => {
    expect(optionsLabel(gemmProblem(8, 8, 8, { dtype: 'bf16' }))).toBe('BF16')
  })

  it('a rung may have options and flags of its own', () => {
    expect(caseOf(problem, { options: { dtype: 'f16' }, flags: ['bias'] })).toEqual({
      ...problem,
      options: { dtype: 'f16' },
      flags: ['bias'],
    })
  })
})

describe('a choice', () => {
  const usual = { sizes: { m: 4, n: 4, k: 4 }, scalars: { beta: 1 } }
  it('takes what it does not say from the ladder, and then from the task', () => {
    expect(problemAt(gemm, {}, usual)).toEqual(gemmProblem(4, 4, 4, { beta: 1 }))
    expect(problemAt(gemm, { size: 8, at: { alpha: 2, dtype: 'f16' } }, usual)).toEqual(
      gemmProblem(8, 8, 8, { alpha: 2, beta: 1, dtype: 'f16' }),
    )
    expect(chosen(gemm, { at: { beta: 0 } })).toEqual({
      sizes: null,
      scalars: { beta: 0 },
      options: {},
    })
  })

  it.each([
    [{ at: { q: 1 } }, 'The task gemm has nothing named "q".', 'm, n, k, alpha, beta, dtype'],
    [{ at: { m: 1 } }, 'm, n and k must be given together.', 'Give all of them'],
    [{ size: 8, at: { m: 1, n: 1, k: 1 } }, '--size cannot be combined with m, n and k.', 'one or'],
    [{ at: { m: 1, n: 2.5, k: 1 } }, 'n = 2.5 is not a valid size.', 'from 1 to 268435456'],
    [{ size: 0 }, 'm = 0 is not a valid size.', 'from 1 to 268435456'],
    [{ at: { alpha: 'much' } }, 'alpha = much is not a number.', 'alpha=0.5'],
    [{ at: { dtype: 'fp8' } }, 'dtype = fp8 is not a valid type of the inputs.', 'f32, f16, bf16'],
  ])('of %j is refused with the name and what to do', (choice, message, remedy) => {
    expect(() => problemAt(gemm, choice, usual)).toThrow(
      expect.objectContaining({
        kind: 'input',
        message,
        remedy: saying(remedy),
      }) as Error,
    )
  })
})
