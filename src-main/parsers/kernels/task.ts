/** cuda-kernels/<task>/task.yaml, parsed strictly: every fault becomes a sentence with file, line and column. */
import { taskFaults } from '../../domain/task/faults'
import { Task } from '../../domain/task/task'
import { readYaml, refuse, schemaFaults } from './yaml-places'

/** `file` is only named in errors. */
export function parseTask(text: string, file: string): Task {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  const parsed = Task.safeParse(yaml.value)
  if (!parsed.success) return refuse(file, schemaFaults(yaml, Task, parsed.error.issues))
  const faults = taskFaults(parsed.data).map(({ path, message }) => yaml.at(path, message))
  return faults.length > 0 ? refuse(file, faults) : parsed.data
}
