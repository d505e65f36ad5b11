/** What the buffers of a lab hold where it says so, in place of the task's own fills. Pure. */
import { taskFaults, type TaskFault } from '../task/faults'
import type { Task, TaskFill } from '../task/task'

export type LabInputs = Readonly<Record<string, TaskFill>>

/** The task with these fills, and what is wrong with them; a fault's path begins with the buffer's name. */
export function withInputs(task: Task, inputs: LabInputs): { task: Task; faults: TaskFault[] } {
  const filled = Object.entries(inputs)
  if (filled.length === 0) return { task, faults: [] }
  const unknown = filled.flatMap(([name, { kind }]): TaskFault[] => {
    const buffer = task.buffers[name]
    if (!buffer || buffer.access === 'out')
      return [{ path: [name], message: `The task ${task.id} reads no buffer named ${name}.` }]
    // The files of a fill lie in the task's folder, where a lab has none.
    if (kind === 'file')
      return [{ path: [name, 'kind'], message: 'A lab cannot fill a buffer from a file.' }]
    return []
  })
  if (unknown.length > 0) return { task, faults: unknown }
  const buffers = Object.fromEntries(
    Object.entries(task.buffers).map(([name, buffer]) => [
      name,
      Object.hasOwn(inputs, name) ? { ...buffer, fill: inputs[name]! } : buffer,
    ]),
  )
  const own = { ...task, buffers }
  return {
    task: own,
    faults: taskFaults(own).map(({ path, message }) => ({
      path: path[0] === 'buffers' ? path.slice(1) : path,
      message,
    })),
  }
}
