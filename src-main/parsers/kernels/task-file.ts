/**
 * Parses cuda-kernels/<task>/task.yaml. The parser is strict and reports every error with its file,
 * line, and column.
 */
import { Task } from '../../domain/task/task'
import { taskFaults } from '../../domain/task/faults'
import { readYaml, refuse, schemaFaults } from './yaml-places'

/** Parses a task. `file` is used only in error messages. */
export function parseTask(text: string, file: string): Task {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  const parsed = Task.safeParse(yaml.value)
  if (!parsed.success) return refuse(file, schemaFaults(yaml, Task, parsed.error.issues))
  const faults = taskFaults(parsed.data).map((fault) => yaml.at(fault.path, fault.message))
  return faults.length > 0 ? refuse(file, faults) : parsed.data
}
