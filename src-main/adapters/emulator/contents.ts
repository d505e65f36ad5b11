/** The buffers of a case as the runner fills them, in memory that threads share. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { fillBuffer, type FillRule } from '../../domain/emulator/fills'
import { message } from '../../domain/messages/message'
import { dtypeOf } from '../../domain/task/dtype'
import { buffersOf, type CaseBuffer } from '../../domain/task/layout'
import { valueOf, type Case } from '../../domain/task/problem'
import type { Formula, Task, TaskFill } from '../../domain/task/task'

export interface FilledBuffer extends CaseBuffer {
  bytes: number
  /** null for what is only written. */
  contents: Uint8Array | null
}

function ruleOf(task: Task, own: Case, fill: Exclude<TaskFill, { kind: 'file' }>): FillRule {
  const number = (formula: Formula): number => valueOf(task, own, formula)!
  switch (fill.kind) {
    case 'uniform':
      return { kind: 'uniform', low: number(fill.lo), high: number(fill.hi) }
    case 'normal':
      return { kind: 'normal', mean: number(fill.mean), deviation: number(fill.sd) }
    case 'constant':
      return { kind: 'constant', value: number(fill.value) }
    case 'zero':
      return { kind: 'constant', value: 0 }
    default:
      return { kind: fill.kind }
  }
}

const headerAt = 8

/** What follows the header of a .npy file, whose type and shape were checked when the ladder was read. */
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

/** `folder` has the files that fill buffers. */
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
      if (!fill) return { ...buffer, bytes, contents: null }
      const contents = new Uint8Array(new SharedArrayBuffer(bytes))
      if (fill.kind === 'file')
        contents.set(await npyContents(join(folder ?? '', fill.path), bytes))
      else
        try {
          fillBuffer(contents, dtype, ruleOf(task, own, fill), seed, stream)
        } catch {
          throw inputError(message('emulation.unknownType', { dtype }))
        }
      return { ...buffer, bytes, contents }
    }),
  )
}
