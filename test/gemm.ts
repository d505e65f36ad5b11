/** The task that ships, and problems of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Problem } from '../src-main/domain/task/problem'
import type { Task } from '../src-main/domain/task/task'
import { parseTask } from '../src-main/parsers/kernels/ladder'

const file = join(import.meta.dirname, '..', 'cuda-kernels', 'gemm', 'task.yaml')

export const gemm: Task = parseTask(readFileSync(file, 'utf8'), 'gemm/task.yaml')

export const gemmProblem = (
  m: number,
  n = m,
  k = n,
  { alpha = 1, beta = 0, dtype = 'f32' } = {},
): Problem => ({ sizes: { m, n, k }, scalars: { alpha, beta }, options: { dtype } })
