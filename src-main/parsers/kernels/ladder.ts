/** Ladder files, parsed strictly: those that ship, those of a folder, and edits that keep comments and layout. */
import { z } from 'zod'
import { isMap, isSeq, parseDocument } from 'yaml'
import { inputError } from '../../domain/errors'
import { LadderEntry, LadderFile, Published, ladderFaults } from '../../domain/ladder/ladder'
import { Task } from '../../domain/task/task'
import { LadderDocument, ladderOf } from '../../domain/ladder/ladder-document'
import { programFaults, ProgramLadderDocument } from '../../domain/ladder/program-ladder'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import { taskFaults } from '../../domain/task/faults'
import { inEnglish } from '../../domain/text/text'
import { readYaml, refuse, schemaFaults } from './yaml-places'

// A ladder file, cuda-kernels/<task>/ladders/<id>.json, parsed strictly: a misspelled key is a fault and not
// ignored. Any fault becomes one sentence with the file and the location in the document.

const StrictLadderFile = LadderFile.extend({
  published: Published.strict().optional(),
  rungs: z.array(LadderEntry.strict()).min(1),
}).strict()

/** `rungs[2].params.TM` */
const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw inputError(`${file} is not JSON: ${reason.replace(/\s+/g, ' ')}.`)
  }
}

/** `tasks` are the tasks that a ladder may name, by id. */
export function parseLadderFile(
  text: string,
  file: string,
  tasks: ReadonlyMap<string, Task>,
): LadderFile {
  const parsed = StrictLadderFile.safeParse(parseJson(text, file))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message: fault }) => `${place(path) || 'the document'}: ${fault}`,
    )
    throw inputError(`${file} is not a ladder: ${faults.join('; ')}.`)
  }
  const task = tasks.get(parsed.data.task)
  if (!task)
    throw inputError(
      `${file} names the task ${parsed.data.task}, which does not exist or cannot be used.`,
    )
  const [fault] = ladderFaults(task, parsed.data)
  if (fault)
    throw inputError(`${file} is not a ladder: ${place(fault.path)}: ${inEnglish(fault.message)}`)
  return parsed.data
}

// A ladder folder's ladder.yaml or ladder.json, parsed strictly: every fault is reported with file, line and column.

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

// Edits of a ladder file that keep its comments and its layout.

/** Adds an entry after the rung with this id, or at the end; `text` is a valid ladder.yaml or ladder.json. */
export function addVariant(text: string, after: string, entry: LadderEntry): string {
  const document = parseDocument(text)
  const rungs = document.get('rungs')
  if (!isSeq(rungs)) throw new Error('The ladder has no list of rungs.')
  const at = rungs.items.findIndex(
    (item) => isMap(item) && (item.get('as') ?? item.get('id')) === after,
  )
  const like = rungs.items[at]
  const node = document.createNode(entry)
  // As its neighbor is written: `{ id: … }` on a line, or in a block.
  if (isMap(like) && isMap(node)) node.flow = like.flow ?? false
  rungs.items.splice(at < 0 ? rungs.items.length : at + 1, 0, node)
  return document.toString({ lineWidth: 0 })
}

// cuda-kernels/<task>/task.yaml, parsed strictly: every fault becomes a sentence with file, line and column.

/** `file` is only named in errors. */
export function parseTask(text: string, file: string): Task {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  const parsed = Task.safeParse(yaml.value)
  if (!parsed.success) return refuse(file, schemaFaults(yaml, Task, parsed.error.issues))
  const faults = taskFaults(parsed.data).map((fault) => yaml.at(fault.path, fault.message))
  return faults.length > 0 ? refuse(file, faults) : parsed.data
}
