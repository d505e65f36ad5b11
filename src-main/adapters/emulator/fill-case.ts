/**
 * Fills a case's buffers with the same data as the runner. The buffers are in memory that the
 * threads share.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { fillBuffer, type FillRule } from '../../domain/emulator/fills'
import { dtypeOf } from '../../domain/task/dtype'
import { buffersOf, type CaseBuffer } from '../../domain/task/layout'
import { hasSpecials, specialOf, valueOf, type Case } from '../../domain/task/problem'
import type { Formula, Task, TaskFill } from '../../domain/task/task'

export interface FilledBuffer extends CaseBuffer {
  bytes: number
  /** Initial contents. Null for a write-only buffer, whose elements start as NaN. */
  contents: Uint8Array | null
}

function ruleOf(
  task: Task,
  own: Case,
  fill: Exclude<TaskFill, { kind: 'file' | 'computed' }>,
  shape: readonly number[],
): FillRule {
  const number = (formula: Formula): number => valueOf(task, own, formula)!
  const every = specialOf(task, own, fill)
  const special = every > 0 ? { special: { every, length: shape.at(-1)! } } : {}
  switch (fill.kind) {
    case 'uniform':
      return { kind: 'uniform', low: number(fill.lo), high: number(fill.hi), ...special }
    case 'normal':
      return { kind: 'normal', mean: number(fill.mean), deviation: number(fill.sd), ...special }
    case 'constant':
      return { kind: 'constant', value: number(fill.value) }
    case 'zero':
      return { kind: 'constant', value: 0 }
    default:
      return { kind: fill.kind }
  }
}

/**
 * Byte that fills unwritten elements if NaN can be a correct result. In every floating-point type,
 * this byte yields a number far from typical results. The runner uses the same byte.
 */
const unwritten = 0x7b

const headerAt = 8

/**
 * Returns the data that follows a .npy file's header. The type and shape were already checked when
 * the ladder was read.
 */
async function npyContents(path: string, bytes: number): Promise<Uint8Array> {
  const file = await readFile(path).catch(() => null)
  const start =
    file && file.length > 12
      ? file[6]! < 2
        ? headerAt + 2 + file.readUInt16LE(headerAt)
        : headerAt + 4 + file.readUInt32LE(headerAt)
      : 0
  if (!file || file.length - start !== bytes)
    throw inputError(message('emulation.noFile', { path, bytes }), message('asked.saveAnew'))
  return file.subarray(start)
}

/** Fills a case's buffers. `folder` contains the files that provide buffer contents. */
export async function fillCase(
  task: Task,
  own: Case,
  folder: string | null,
  seed: number,
): Promise<FilledBuffer[]> {
  return Promise.all(
    buffersOf(task, own).map(async (buffer): Promise<FilledBuffer> => {
      const { dtype, shape, fill, stream } = buffer
      const bytes = shape.reduce((count, extent) => count * extent, dtypeOf(dtype).bytes)
      if (!fill && !hasSpecials(task, own)) return { ...buffer, bytes, contents: null }
      const contents = new Uint8Array(new SharedArrayBuffer(bytes))
      if (!fill) return { ...buffer, bytes, contents: contents.fill(unwritten) }
      // Fill computed buffers last, because they are computed from the other buffers.
      if (fill.kind === 'computed') return { ...buffer, bytes, contents }
      if (fill.kind === 'file')
        contents.set(await npyContents(join(folder ?? '', fill.path), bytes))
      else
        try {
          fillBuffer(contents, dtype, ruleOf(task, own, fill, shape), seed, stream)
        } catch {
          throw inputError(message('emulation.unknownType', { dtype }))
        }
      return { ...buffer, bytes, contents }
    }),
  )
}
