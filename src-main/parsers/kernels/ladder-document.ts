/** A ladder folder's ladder.yaml or ladder.json, parsed strictly: every fault is reported with file, line and column. */
import type { LadderFile } from '../../domain/ladder/ladder'
import { LadderDocument, ladderOf } from '../../domain/ladder/ladder-document'
import { ladderFaults } from '../../domain/ladder/ladder-faults'
import { taskFaults } from '../../domain/task/faults'
import type { Task } from '../../domain/task/task'
import { readYaml, refuse, schemaFaults } from './yaml-places'

export interface ParsedLadder {
  task: Task
  ladder: LadderFile
  /** Prefixes a sentence with the location of a key: `ladder.yaml:12:5: …`. */
  at(path: readonly (string | number)[], message: string): string
}

/** Keys of the document that have another name in a ladder. */
const keys: Record<string, string> = {
  sizes: 'at',
  testAt: 'test_at',
  reference: 'reference_rung',
}

/** `file` is only named in errors. JSON is YAML. */
export function parseLadderDocument(text: string, file: string): ParsedLadder {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  const parsed = LadderDocument.safeParse(yaml.value)
  if (!parsed.success) return refuse(file, schemaFaults(yaml, LadderDocument, parsed.error.issues))
  const { task, ladder } = ladderOf(parsed.data)
  const ofTask = taskFaults(task).map(({ path, message }) => yaml.at(['task', ...path], message))
  // Expressions are evaluated only if all of them are valid.
  if (ofTask.length > 0) return refuse(file, ofTask)
  const faults = ladderFaults(task, ladder).map(({ path: [first, ...rest], message, of }) =>
    of === 'task'
      ? yaml.at(['task', first!, ...rest], message)
      : yaml.at([keys[first!] ?? first!, ...rest], message),
  )
  if (faults.length > 0) return refuse(file, faults)
  return {
    task,
    ladder,
    at: (path, message) => {
      const { line, column } = yaml.at(path, message)
      return `${file}:${line}:${column}: ${message}`
    },
  }
}
