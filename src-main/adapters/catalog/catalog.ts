/**
 * Reads the kernels on disk. For every task, reads its ladders and the headers and sources of its
 * rungs.
 */
import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { together, type Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import type { LadderFile } from '../../domain/ladder/ladder'
import { isPythonFile, rungFileId, type RungHeader } from '../../domain/ladder/rung'
import { referenceFile, type Task } from '../../domain/task/task'
import { parseRungHeader } from '../../parsers/kernels/rung-header'
import { pythonRungFiles } from '../../domain/task/python-rung'
import { parseLadderFile } from '../../parsers/kernels/ladder-file'
import { parseTask } from '../../parsers/kernels/task-file'
import { faultLine } from '../../parsers/kernels/rung-header-edit'

export interface RungSource {
  header: RungHeader
  /** Path relative to cuda-kernels, with `/` as the separator. */
  file: string
  text: string
  /** Contents of a binary file, for which `text` is only a description. */
  bytes?: Uint8Array
  /** Headers that replace the task's headers, by path. */
  headers?: ReadonlyMap<string, string>
}

/** A task's source file that is not a rung. */
export interface TaskSource extends Pick<RungSource, 'file' | 'text'> {
  /**
   * Path to show in messages, in the form that the author used. Absent for a shipped file, whose
   * `file` is shown instead.
   */
  shown?: string
}

export interface Catalog {
  root: string
  /** Path of the ladder folder from which this library was read. Absent for the shipped library. */
  own?: string
  /** Tasks by id. The id is also the name of the task's folder. */
  tasks: Map<string, Task>
  /** The references against which rungs are verified, by task id. */
  references: Map<string, TaskSource>
  /** Folders that contain the files that fill buffers, by task id. */
  folders: Map<string, string>
  /**
   * Text of each task's own headers, by task id and path. Rungs can include a task's headers in the
   * same way as the shared headers.
   */
  headers: Map<string, ReadonlyMap<string, string>>
  ladders: LadderFile[]
  rungs: Map<string, RungSource>
  /** Reasons why files are unusable, by task, rung, or ladder id. */
  faults: Map<string, Statement>
  /** Notes to report when the library is used in a run. */
  notes?: readonly Statement[]
}

const taskFile = 'task.yaml'

/**
 * Caches a parsed file until its text or the parse context changes. A host reads the library on
 * every call, but few files change between calls.
 */
function remembering<With, Parsed>(
  parse: (text: string, file: string, using: With) => Parsed,
  isSame = (before: With, now: With, _parsed: Parsed) => before === now,
): typeof parse {
  const last = new Map<string, { text: string; using: With; parsed: Parsed }>()
  return (text, file, using) => {
    const known = last.get(file)
    if (known?.text === text && isSame(known.using, using, known.parsed)) return known.parsed
    const parsed = parse(text, file, using)
    last.set(file, { text, using, parsed })
    return parsed
  }
}

const taskOf = remembering((text, file, _: null) => parseTask(text, file))
const headerOf = remembering((text, file, task: Task) => parseRungHeader(text, file, task))
const ladderOf = remembering(
  parseLadderFile,
  (before, now, { task }) => before.get(task) === now.get(task),
)

const entriesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(() => [])).sort()

/** Returns only the tasks, by id. Skips unusable tasks and reports them to `onFault`. */
export async function readTasks(
  root: string,
  onFault: (id: string, fault: Statement) => void = () => undefined,
): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>()
  const folders = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
  for (const folder of folders) {
    const text = await readFile(join(root, folder, taskFile), 'utf8').catch(() => null)
    if (text === null) continue
    try {
      const task = taskOf(text, `${folder}/${taskFile}`, null)
      if (task.id === folder) tasks.set(task.id, task)
      else
        onFault(
          folder,
          `${folder}/${taskFile} declares the task ${task.id}; its folder must have that name.`,
        )
    } catch (error) {
      onFault(folder, sentenceOf(error))
    }
  }
  return tasks
}

/** Returns an error's message and remedy as a single statement. */
export function sentenceOf(error: unknown): Statement {
  const { message: fault, remedy } = toErrorShape(error)
  return together(fault, remedy)
}

export async function readCatalog(root: string): Promise<Catalog> {
  const faults = new Map<string, Statement>()
  const tasks = await readTasks(root, (id, fault) => faults.set(id, fault))
  const catalog: Catalog = {
    root,
    tasks,
    references: new Map(),
    folders: new Map([...tasks.keys()].map((id) => [id, join(root, id)])),
    headers: new Map(),
    ladders: [],
    rungs: new Map(),
    faults,
  }
  for (const task of tasks.values()) {
    await readReference(catalog, task)
    const names = await entriesOf(join(root, task.id))
    catalog.headers.set(
      task.id,
      await readTexts(
        root,
        names.filter(isHeader).map((name) => `${task.id}/${name}`),
      ),
    )
    for (const name of names)
      if (rungFileId(name) !== null && name !== referenceFile(task))
        await readRung(catalog, task, `${task.id}/${name}`)
    for (const name of await entriesOf(join(root, task.id, 'ladders')))
      if (name.endsWith('.json')) await readLadder(catalog, `${task.id}/ladders/${name}`)
  }
  const place = ({ order }: LadderFile): number => order ?? Number.MAX_SAFE_INTEGER
  catalog.ladders.sort((a, b) => place(a) - place(b) || (a.id < b.id ? -1 : 1))
  return catalog
}

async function readReference(catalog: Catalog, task: Task): Promise<void> {
  const { id } = task
  const reference = referenceFile(task)
  if (reference === null) return
  const file = `${id}/${reference}`
  const text = await readFile(join(catalog.root, file), 'utf8').catch(() => null)
  if (text !== null) catalog.references.set(id, { file, text })
  else catalog.faults.set(id, `${file}, the reference of the task ${id}, cannot be read.`)
}

async function readLadder(catalog: Catalog, file: string): Promise<void> {
  try {
    const text = await readFile(join(catalog.root, file), 'utf8')
    catalog.ladders.push(ladderOf(text, file, catalog.tasks))
  } catch (error) {
    catalog.faults.set(basename(file, '.json'), toErrorShape(error).message)
  }
}

async function readRung(catalog: Catalog, task: Task, file: string): Promise<void> {
  const id = rungFileId(basename(file))!
  try {
    const text = await readFile(join(catalog.root, file), 'utf8')
    const header = headerOf(text, file, task)
    if (header.id !== id)
      catalog.faults.set(id, `${file} declares @rung ${header.id}; the file must have that name.`)
    else if (catalog.rungs.has(id))
      catalog.faults.set(id, `${file} and ${catalog.rungs.get(id)!.file} have the same rung id.`)
    else catalog.rungs.set(id, { header, file, text, ...(await builtWith(catalog.root, file)) })
  } catch (error) {
    catalog.faults.set(id, sentenceOf(error))
  }
}

/**
 * Returns the headers that replace the task's headers for a file. A Python rung is built only
 * with this program's files. `root` is the folder of the shipped library.
 */
export async function builtWith(root: string, file: string): Promise<Pick<RungSource, 'headers'>> {
  return isPythonFile(file) ? { headers: await readTexts(root, pythonRungFiles) } : {}
}

/** Returns a library folder's compiled files, which are hashed and stored in the session. */
export async function readSharedFiles(root: string, folder: string): Promise<Map<string, string>> {
  const files = (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && (isHeader(entry.name) || /\.(cu|cpp)$/.test(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .map((file) => file.replaceAll('\\', '/'))
  return readTexts(root, files.sort())
}

const isHeader = (name: string): boolean => /\.(cuh|hpp|h)$/.test(name)

/** Reads files from the library and returns their contents by relative path. */
async function readTexts(root: string, files: readonly string[]): Promise<Map<string, string>> {
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  return new Map(files.map((file, index) => [file, texts[index]!]))
}

export { faultLine }

/** Parses the compile-time parameters in a rung's source. */
export { parseRule, rulesOf } from '../../parsers/kernels/integer-constants'

/** Returns whether a source or header mentions the macro outside comments. */
export const mentionsMacro = (texts: Iterable<string>, name: string): boolean =>
  [...texts].some((text) =>
    new RegExp(`\\b${name}\\b`).test(text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ')),
  )
