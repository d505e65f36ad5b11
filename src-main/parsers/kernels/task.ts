/** cuda-kernels/<task>/task.yaml, read strictly: every fault as a sentence at its file, line and column. */
import { inputError } from '../../domain/errors'
import { taskFaults } from '../../domain/task/faults'
import { Task } from '../../domain/task/task'
import { readYaml, schemaFaults, type PlacedFault } from './yaml-places'

/** `file` is only named in errors. */
export function parseTask(text: string, file: string): Task {
  const yaml = readYaml(text)
  const refuse = (faults: readonly PlacedFault[]): never => {
    const [first, ...more] = faults.map(
      ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
    )
    throw inputError(first!, more.length > 0 ? more.join('\n') : undefined)
  }
  if (yaml.faults.length > 0) refuse(yaml.faults)
  const parsed = Task.safeParse(yaml.value)
  if (!parsed.success) return refuse(schemaFaults(yaml, parsed.error.issues))
  const faults = taskFaults(parsed.data).map(({ path, message }) => yaml.at(path, message))
  return faults.length > 0 ? refuse(faults) : parsed.data
}
