/** Describes what is wrong with a rung's results. */
import { message, type Statement } from '../../domain/messages/message'
import type { Verify } from '../../domain/session/session'
import { bufferTitle, elementPlace, outputsOf, type Task } from '../../domain/task/task'

const titles = (task: Task, buffers: readonly string[]): string =>
  buffers.map((buffer) => bufferTitle(task, buffer)).join(', ')

export function wrongness(verify: Verify, task: Task): Statement {
  const { outOfBounds, changedInputs, firstMismatch: first, mismatches: count } = verify
  if (outOfBounds.length > 0)
    return message('records.writesOutside', { buffers: titles(task, outOfBounds) })
  if (changedInputs.length > 0)
    return message('records.changesInputs', { buffers: titles(task, changedInputs) })
  const buffers = titles(task, outputsOf(task))
  if (!first) return message('records.mismatches', { count, buffers })
  const isExact = 'exact' in (task.check[first.buffer] ?? {})
  return message(isExact ? 'records.differAt' : 'records.mismatchesAt', {
    count,
    buffers,
    place: elementPlace(task, first.buffer, first.index),
    actual: first.actual ?? 'NaN',
    expected: first.expected ?? 'NaN',
  })
}
