/** Parses a ladder folder's ladder.yaml or ladder.json strictly: every fault has file, line and column. */
import { LadderFile } from '../../domain/ladder/ladder'
import { Task } from '../../domain/task/task'
import { LadderDocument, ladderOf } from '../../domain/ladder/ladder-document'
import { programFaults, ProgramLadderDocument } from '../../domain/ladder/program-ladder'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import { taskFaults } from '../../domain/task/faults'
import { readYaml, refuse, schemaFaults } from './yaml-places'
import { ladderFaults } from '../../domain/ladder/ladder-faults'

export interface ParsedLadder {
  task: Task
  ladder: LadderFile
  /** Prefixes a sentence with the location of a key: `ladder.yaml:12:5: …`. */
  at(path: readonly (string | number)[], fault: Statement): AnyMessage
}

/** Keys of the document that have another name in a ladder. */
const keys: Record<string, string> = {
  sizes: 'at',
  testAt: 'test_at',
  reference: 'reference_rung',
}

const isMapWith = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)

/** A ladder of programs; null if the document describes a task, or nothing. `file` is only named in errors. */
export function parseProgramLadder(text: string, file: string): ProgramLadderDocument | null {
  const yaml = readYaml(text)
  if (!isMapWith(yaml.value, 'programs') || isMapWith(yaml.value, 'task')) return null
  const parsed = ProgramLadderDocument.safeParse(yaml.value)
  if (!parsed.success)
    return refuse(file, schemaFaults(yaml, ProgramLadderDocument, parsed.error.issues))
  const faults = programFaults(parsed.data).map((fault) => yaml.at(fault.path, fault.message))
  return faults.length > 0 ? refuse(file, faults) : parsed.data
}

/** `file` is only named in errors. JSON is YAML. */
export function parseLadderDocument(text: string, file: string): ParsedLadder {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  if (isMapWith(yaml.value, 'programs') && isMapWith(yaml.value, 'task'))
    refuse(file, [yaml.at(['programs'], message('task.orPrograms'))])
  const parsed = LadderDocument.safeParse(yaml.value)
  if (!parsed.success) return refuse(file, schemaFaults(yaml, LadderDocument, parsed.error.issues))
  const { task, ladder } = ladderOf(parsed.data)
  const ofTask = taskFaults(task).map((fault) => yaml.at(['task', ...fault.path], fault.message))
  // Expressions are evaluated only if all of them are valid.
  if (ofTask.length > 0) return refuse(file, ofTask)
  const faults = ladderFaults(task, ladder).map(({ path: [first, ...rest], message: fault, of }) =>
    of === 'task'
      ? yaml.at(['task', first!, ...rest], fault)
      : yaml.at([keys[first!] ?? first!, ...rest], fault),
  )
  if (faults.length > 0) return refuse(file, faults)
  return {
    task,
    ladder,
    at: (path, fault) => {
      const { line, column } = yaml.at(path, fault)
      return message('written.fault', { place: `${file}:${line}:${column}`, fault })
    },
  }
}
