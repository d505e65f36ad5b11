/** Buffer contents defined by a lab, which replace the fills of the lab's task. */
import { TaskFill, type Task } from '../task/task'
import { message } from '../messages/message'
import { taskFaults, type TaskFault } from '../task/faults'

type LabInputs = Readonly<Record<string, TaskFill>>

/**
 * Returns the task with the lab's fills, and any errors. An error's path starts with the buffer
 * name.
 */
export function withInputs(task: Task, inputs: LabInputs): { task: Task; faults: TaskFault[] } {
  const filled = Object.entries(inputs)
  if (filled.length === 0) return { task, faults: [] }
  const unknown = filled.flatMap(([name, { kind }]): TaskFault[] => {
    const buffer = task.buffers[name]
    if (!buffer || buffer.access === 'out')
      return [{ path: [name], message: message('task.labNoBuffer', { task: task.id, name }) }]
    // File fills refer to files in the task's folder, and a lab cannot add files to that folder.
    if (kind === 'file') return [{ path: [name, 'kind'], message: message('task.labFile') }]
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
    faults: taskFaults(own).map((fault) => ({
      ...fault,
      path: fault.path[0] === 'buffers' ? fault.path.slice(1) : fault.path,
    })),
  }
}
