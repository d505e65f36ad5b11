/**
 * Parses ladder.yaml or ladder.json in a ladder folder. The parser is strict and reports every
 * error with its file, line, and column.
 */
import type { z } from 'zod'
import { LadderFile } from '../../domain/ladder/ladder'
import { Task } from '../../domain/task/task'
import { LadderDocument, ladderOf } from '../../domain/ladder/ladder-document'
import { programFaults, ProgramLadderDocument } from '../../domain/ladder/program-ladder'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import { taskFaults } from '../../domain/task/faults'
import { inBranch, readYaml, refuse, schemaFaults } from './yaml-places'
import { ladderFaults } from '../../domain/ladder/ladder-faults'

export interface ParsedLadder {
  task: Task
  ladder: LadderFile
  /** Adds a key's location to a message: `ladder.yaml:12:5: …`. */
  at(path: readonly (string | number)[], fault: Statement): AnyMessage
}

/** Document keys whose names differ from the ladder's field names. */
const keys: Record<string, string> = {
  sizes: 'at',
  testAt: 'test_at',
  reference: 'reference_rung',
}

const isMapWith = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)

/** Returns the value without the keys that `issues` reports as unrecognized. */
function withoutUnknown(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy = structuredClone(value)
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const map = issue.path.reduce<unknown>(
      (inner, step) => (inner as Record<PropertyKey, unknown>)[step],
      copy,
    )
    for (const key of issue.keys) Reflect.deleteProperty(map as object, key)
  }
  return copy
}

/**
 * Parses a ladder of programs. Returns null if the document describes a task or is empty. `file` is
 * used only in errors.
 */
export function parseProgramLadder(text: string, file: string): ProgramLadderDocument | null {
  const yaml = readYaml(text)
  if (!isMapWith(yaml.value, 'programs') || isMapWith(yaml.value, 'task')) return null
  const parsed = ProgramLadderDocument.safeParse(yaml.value)
  const issues = (parsed.error?.issues ?? []).flatMap(inBranch)
  const rest = ProgramLadderDocument.safeParse(withoutUnknown(yaml.value, issues))
  const faults = [
    ...schemaFaults(yaml, ProgramLadderDocument, issues),
    ...(rest.success ? programFaults(rest.data) : []).map((fault) =>
      yaml.at(fault.path, fault.message),
    ),
  ]
  return !parsed.success || faults.length > 0 ? refuse(file, faults) : parsed.data
}

/** Returns errors that the schema cannot detect, even if the document's structure is invalid. */
function furtherFaults(value: unknown): ReturnType<typeof ladderFaults> {
  const parsed = LadderDocument.safeParse(value)
  if (parsed.success) {
    const { task, ladder } = ladderOf(parsed.data)
    const ofTask = taskFaults(task).map((fault) => ({ ...fault, of: 'task' as const }))
    return [...ofTask, ...ladderFaults(task, ladder, ofTask.length === 0)]
  }
  const task = LadderDocument.shape.task.safeParse((value as { task?: unknown } | null)?.task)
  if (!task.success) return []
  const rest = { kernel_ladder: 1 as const, id: '', title: '', summary: '', rungs: [] }
  const faults = taskFaults(ladderOf({ ...rest, task: task.data }).task)
  return faults.map((fault) => ({ ...fault, of: 'task' }))
}

/**
 * Parses a ladder document in YAML or JSON. (JSON is a subset of YAML.) Throws an input error that
 * lists all errors by line. `file` is used only in error messages.
 */
export function parseLadderDocument(text: string, file: string): ParsedLadder {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  if (isMapWith(yaml.value, 'programs') && isMapWith(yaml.value, 'task'))
    refuse(file, [yaml.at(['programs'], message('task.orPrograms'))])
  const parsed = LadderDocument.safeParse(yaml.value)
  const issues = (parsed.error?.issues ?? []).flatMap(inBranch)
  // A misspelled key is already reported as an error, so don't also report the correct key as
  // missing.
  const misspelled = issues.flatMap(({ code, path }) =>
    code === 'unrecognized_keys' ? String(path) : [],
  )
  const further = furtherFaults(withoutUnknown(yaml.value, issues))
    .map(({ path: [first, ...rest], message: fault, of }) => ({
      path: of === 'task' ? ['task', first!, ...rest] : [keys[first!] ?? first!, ...rest],
      fault,
    }))
    .filter(({ path }) => !misspelled.includes(String(path)))
    .map(({ path, fault }) => yaml.at(path, fault))
  const faults = [...schemaFaults(yaml, LadderDocument, issues), ...further]
  if (!parsed.success || faults.length > 0) return refuse(file, faults)
  return {
    ...ladderOf(parsed.data),
    at: (path, fault) => {
      const { line, column } = yaml.at(path, fault)
      return message('written.fault', { place: `${file}:${line}:${column}`, fault })
    },
  }
}
