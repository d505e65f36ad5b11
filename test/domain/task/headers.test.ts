import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { referenceHeader, taskHeader } from '../../../src-main/domain/task/headers'
import { launchLayout } from '../../../src-main/domain/task/layout'
import { Task } from '../../../src-main/domain/task/task'
import { gemm } from '../../gemm'

const captures = join(import.meta.dirname, '../../captures/task/gemm')
const captured = (name: string) => readFileSync(join(captures, name), 'utf8')

/** Two flags that share a field, a buffer in each access, a type of each size. */
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

describe('the headers that are generated from a task', () => {
  it.each([
    ['kl_task.h', taskHeader],
    ['kl_reference.h', referenceHeader],
  ])('%s of gemm is what its rungs have been compiled with', (name, header) => {
    expect(header(gemm)).toBe(captured(name))
  })

  it('end no comment early, and include what declares a type', () => {
    const header = taskHeader(row)
    expect(header).toContain('/* Generated from the task rows: Rows * / and columns. */\n#ifndef')
    expect(header).toContain('#include <cuda_fp16.h>\n')
    expect(header).toContain('  const __half* x;')
    expect(header).toContain('  int* y;')
    expect(header).not.toContain('enum')
  })

  it('give the reference the exact type where a result must be exact, else double', () => {
    const header = referenceHeader(row)
    expect(header).toContain('  int* y;')
    expect(header).toContain('  const float* z_in;')
    expect(header).toContain('  double* z;')
    expect(header).not.toContain('z_scale')
  })

  it('lay fields at their natural alignment', () => {
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
