/**
 * Reads a ladder folder as a library with one ladder. The folder contains ladder.yaml and its
 * rungs.
 *
 * The folder is untrusted. Links that lead out of the folder are not followed, and large files are
 * not read. Only headers and files named in the ladder are read.
 */
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, posix, relative, resolve, sep } from 'node:path'
import { inputError, inputErrors } from '../../domain/errors'
import { message, together, type AnyMessage, type Statement } from '../../domain/messages/message'
import type { LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { isInFolder } from '../../domain/ladder/build-settings'
import {
  compiledEndings,
  isBinaryFile,
  isCompiledFile,
  isKernelFile,
  sourceEndings,
  type RungHeader,
} from '../../domain/ladder/rung'
import { isPython } from '../../domain/task/python'
import { fillFiles, referenceFile, type Task } from '../../domain/task/task'
import {
  parseLadderDocument,
  parseProgramLadder,
  type ParsedLadder,
} from '../../parsers/kernels/ladder-document'
import { inWords, parseRungHeader } from '../../parsers/kernels/rung-header'
import { sha256 } from '../disk/build-cache'
import { errorCode, pathExists } from '../disk/disk'
import { builtWith, sentenceOf, type Catalog } from './catalog'
import { referenceHeaderFile, taskHeaderFile } from '../../domain/task/task-headers'
import { pythonHeaderFile } from '../../domain/task/python-reference'

/** Adds a variant of a rung to a folder's ladder. */
export { addVariant } from '../../parsers/kernels/ladder-edit'
export { allowValues } from '../../parsers/kernels/rung-header-edit'

export interface LadderFolder {
  /** The folder's absolute path. */
  folder: string
  ladder: LadderFile
  task: Task
  /**
   * Library that contains the ladder, its task, and its rungs. Its root is the folder of the
   * shipped kernels, which contains the runner and the shared headers.
   */
  catalog: Catalog
  /** Relative paths of all files that were read. ladder.yaml comes first. */
  files: string[]
}

/** Allowed names for the ladder file. A folder has exactly one ladder file. */
export const ladderFileNames = ['ladder.yaml', 'ladder.yml', 'ladder.json'] as const

/**
 * Names of generated headers. A ladder folder must not contain files with these names, because the
 * compiler would include them instead of the generated headers.
 */
const generated = [taskHeaderFile, referenceHeaderFile].map((path) => basename(path))

/** Matches header file names. Also matches .c files, because some programs include them. */
export const headerName = /\.(h|hh|hpp|hxx|cuh|inl|inc|ipp|tpp|c)$/

const maxTextBytes = 1024 * 1024
const maxHeaders = 200

/** Returns a path relative to the current folder, for messages. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near === '' ? '.' : near.startsWith('..') ? path : near
}

async function ladderFilesIn(folder: string): Promise<string[]> {
  const found = await Promise.all(ladderFileNames.map((name) => pathExists(join(folder, name))))
  return ladderFileNames.filter((_, index) => found[index])
}

/** Returns the name of the ladder file in a folder, or null if the folder has no ladder file. */
export const ladderFileIn = async (folder: string): Promise<string | null> =>
  (await ladderFilesIn(folder))[0] ?? null

/** Returns the reason why a file in the folder cannot be used, or null if the file can be used. */
export async function refusalOf(folder: string, name: string): Promise<AnyMessage | null> {
  const real = await realpath(join(folder, name)).catch((error: unknown) => errorCode(error))
  if (real === 'ENOENT' || real === 'ENOTDIR') return message('folders.absent', { file: name })
  if (real === undefined || !real.includes(sep))
    return message('folders.unreadable', { file: name, text: real ?? '?' })
  if (!real.startsWith((await realpath(folder)) + sep))
    return message('folders.leadsOut', { file: name })
  const found = await stat(real)
  return found.isFile() ? null : message('files.notFile', { file: name })
}

const maxBinaryBytes = 256 * 1024 * 1024

/** Reads a file's bytes. Throws an input error if the file is too large. */
async function readBytesIn(folder: string, name: string): Promise<Uint8Array> {
  const { size } = await stat(join(folder, name))
  if (size > maxBinaryBytes)
    throw inputError(`${shownPath(join(folder, name))} has ${size} bytes; the limit is 256 MiB.`)
  return new Uint8Array(await readFile(join(folder, name)))
}

const describeBytes = (name: string, bytes: Uint8Array): string =>
  `${name}: ${bytes.length} bytes, SHA-256 ${sha256(bytes)}\n`

/**
 * Returns a file as text that the user can review before trusting its folder. For a binary file,
 * the text is a description that identifies the file.
 */
export async function shownFile(folder: string, name: string): Promise<string> {
  const bytes = await readFile(join(folder, name))
  return isBinaryFile(name) ? describeBytes(name, bytes) : bytes.toString('utf8')
}

/** Reads a text file. Throws an input error if the file is binary or too large. */
export async function readTextIn(folder: string, name: string): Promise<string> {
  const { size } = await stat(join(folder, name))
  if (size > maxTextBytes)
    throw inputError(`${shownPath(join(folder, name))} has ${size} bytes; the limit is 1 MiB.`)
  const bytes = await readFile(join(folder, name))
  if (bytes.includes(0))
    throw inputError(
      `${shownPath(join(folder, name))} is not a text file: it contains a zero byte.`,
    )
  return bytes.toString('utf8')
}

/** Returns all headers in the folder and its subfolders, except hidden headers. */
export async function headersBelow(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = posix.join(below, entry.name)
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (entry.isDirectory()) found.push(...(await headersBelow(folder, path)))
    else if (headerName.test(entry.name)) found.push(path)
    if (found.length > maxHeaders)
      throw inputError(
        `${shownPath(join(folder, below))} contains more than ${maxHeaders} headers.`,
        'A ladder folder should contain only its own headers.',
      )
  }
  return found
}

interface LadderText {
  /** The folder's absolute path. */
  path: string
  /** The ladder file's name and text. */
  file: string
  text: string
}

/**
 * Reads the ladder file in a folder. Throws an input error if the folder has no ladder file or more
 * than one.
 */
export async function readLadderText(folder: string): Promise<LadderText> {
  const path = resolve(folder)
  const shown = shownPath(path)
  const isFolder =
    (await lstat(path).catch(() => null)) !== null && (await stat(path)).isDirectory()
  const [file, ...others] = isFolder ? await ladderFilesIn(path) : []
  if (file !== undefined && others.length > 0)
    throw inputError(
      `${shown} contains ${[file, ...others].join(' and ')}, which both describe its ladder.`,
      'Keep one of them.',
    )
  if (file === undefined)
    throw inputError(
      message(isFolder ? 'folders.noLadder' : 'folders.none', { folder: shown }),
      message('folders.create', { folder: isFolder ? 'DIR' : shown }),
    )
  return { path, file, text: await readOwn(path, file) }
}

async function readOwn(folder: string, name: string): Promise<string> {
  const why = await refusalOf(folder, name)
  if (why !== null)
    throw inputError(message('written.fault', { place: join(shownPath(folder), name), fault: why }))
  return readTextIn(folder, name)
}

/**
 * Reads a ladder folder. Throws an input error with the file, line, and column if the ladder is
 * invalid. For an invalid rung, adds an entry to the library's `faults` instead.
 */
export async function readLadderFolder(folder: string, shipped: Catalog): Promise<LadderFolder> {
  const { path, file, text } = await readLadderText(folder)
  const shown = shownPath(path)
  if (parseProgramLadder(text, join(shown, file)) !== null)
    throw inputError(
      message('programs.ofPrograms', { folder: shown }),
      message('programs.runOnly', { folder: shown }),
    )
  const read = (name: string): Promise<string> => readOwn(path, name)
  const parsed = parseLadderDocument(text, join(shown, file))
  const { task, ladder } = parsed
  await requireUsable(parsed, path, shipped)
  const catalog: Catalog = {
    root: shipped.root,
    own: path,
    tasks: new Map([[task.id, task]]),
    references: new Map(),
    folders: new Map([[task.id, path]]),
    headers: new Map(),
    ladders: [ladder],
    rungs: new Map(),
    faults: new Map(),
  }
  const placed = (name: string): string => `${task.id}/${name}`
  const files: string[] = [file]

  const reference = referenceFile(task)
  if (reference !== null) {
    catalog.references.set(task.id, {
      file: placed(reference),
      text: await read(reference),
      shown: join(shown, reference),
    })
    files.push(reference)
  }

  for (const [index, { id }] of ladder.rungs.entries()) {
    const name = await rungFile(path, id)
    if (files.includes(name)) continue
    try {
      await readRung(catalog, parsed, index, path, shown)
      files.push(name)
    } catch (error) {
      catalog.faults.set(id, sentenceOf(error))
    }
  }

  checkEntries(catalog, parsed, shown)

  const headers = new Map<string, string>()
  if (reference !== null && isPython(reference))
    headers.set(pythonHeaderFile, await readFile(join(shipped.root, pythonHeaderFile), 'utf8'))
  for (const name of await headersBelow(path)) {
    if (generated.includes(basename(name)))
      throw inputError(
        `${join(shown, name)}: ${basename(name)} is generated from ${file}.`,
        'Remove it, or give it another name.',
      )
    headers.set(placed(name), await read(name))
    files.push(name)
  }
  catalog.headers.set(task.id, headers)
  return { folder: path, ladder, task, files, catalog }
}

/**
 * Returns a message if a ladder entry conflicts with the rung's compiled file, or null if there is
 * no conflict. The returned `path` is relative to the ladder entry.
 */
function compiledFault(
  file: string,
  { launch, build }: Pick<LadderEntry, 'launch' | 'build'>,
): { path: string[]; message: AnyMessage } | null {
  if (isKernelFile(file) && !launch)
    return { path: [], message: message('compiled.noLaunch', { file }) }
  if (!isKernelFile(file) && launch)
    return { path: ['launch'], message: message('compiled.launchesItself', { file }) }
  return isBinaryFile(file) && build
    ? { path: ['build'], message: message('compiled.noBuild', { file }) }
    : null
}

/** Throws an input error if the ladder uses a shipped ladder's id or names unusable files. */
async function requireUsable(
  { task, ladder, at }: ParsedLadder,
  folder: string,
  shipped: Catalog,
): Promise<void> {
  const faults: Statement[] = []
  if (shipped.ladders.some(({ id }) => id === ladder.id)) {
    const taken = at(['id'], message('folders.shippedId', { ladder: ladder.id }))
    faults.push(together(taken, message('folders.otherId')))
  }
  const reference = referenceFile(task)
  const named = [
    ...(reference === null ? [] : [{ key: ['task', 'reference'], name: reference }]),
    ...fillFiles(task).map(({ buffer, path }) => ({
      key: ['task', 'buffers', buffer, 'fill', 'path'],
      name: path,
    })),
  ]
  for (const { key, name } of named) {
    const why = await refusalOf(folder, name)
    if (why !== null) faults.push(at(key, why))
  }
  const builds = [
    { key: ['build', 'include'], build: ladder.build },
    ...ladder.rungs.map(({ build }, index) => ({
      key: ['rungs', index, 'build', 'include'],
      build,
    })),
  ]
  for (const { key, build } of builds)
    for (const [index, directory] of (build?.include ?? []).entries())
      if (isInFolder(directory) && !(await pathExists(join(folder, directory))))
        faults.push(at([...key, index], message('folders.absent', { file: directory })))
  const [first, ...more] = faults
  if (first !== undefined) throw inputErrors([first, ...more])
}

/** Checks that each rung's header is consistent with its ladder entry and with the other rungs. */
function checkEntries(catalog: Catalog, { ladder, at }: ParsedLadder, shown: string): void {
  const names = ladder.rungs.map(({ as, id }) => as ?? id)
  const report = (what: string, fault: AnyMessage): void => {
    catalog.faults.set(what, fault)
  }
  for (const [index, { id, params = {}, launch, build }] of ladder.rungs.entries()) {
    const source = catalog.rungs.get(id)
    if (!source) continue
    const fault = compiledFault(basename(source.file), { launch, build })
    if (fault) {
      catalog.rungs.delete(id)
      catalog.faults.set(id, at(['rungs', index, ...fault.path], fault.message))
      continue
    }
    const { after, params: declared } = source.header
    if (after !== null && !names.includes(after)) {
      const line =
        source.text.split('\n').findIndex((text) => /^(?:\/\/|#)\s*@after\b/.test(text)) + 1
      report(
        `${id} @after`,
        message('written.fault', {
          place: `${join(shown, basename(source.file))}:${line}`,
          fault: message('header.afterNone', { rung: after, rungs: names.join(', ') }),
        }),
      )
    }
    for (const [name, value] of Object.entries(params)) {
      const allowed = declared.find((param) => param.name === name)?.allowed
      const own = declared.map((param) => param.name).join(', ')
      const fault = !allowed
        ? own === ''
          ? message('task.noParameters', { rung: id, name })
          : message('task.noParameter', { rung: id, name, names: own })
        : allowed.includes(value)
          ? null
          : message('task.notAllowed', { name, value, allowed: allowed.join(', ') })
      if (fault !== null)
        report(`${names[index]} ${name}`, at(['rungs', index, 'params', name], fault))
    }
  }
}

/** Returns a rung's source file, or its compiled file if there is no source. */
export async function rungFile(folder: string, id: string): Promise<string> {
  const those = async (endings: readonly string[]): Promise<string[]> => {
    const names = endings.map((ending) => `${id}${ending}`)
    const there = await Promise.all(names.map((name) => pathExists(join(folder, name))))
    return names.filter((_, index) => there[index])
  }
  const sources = await those(sourceEndings)
  const found = sources.length > 0 ? sources : await those(compiledEndings)
  if (found.length > 1)
    throw inputError(
      `${shownPath(folder)} contains ${found.join(' and ')}, which are both the rung ${id}.`,
      'Give one of them another name.',
    )
  return found[0] ?? `${id}${sourceEndings[0]}`
}

async function readRung(
  catalog: Catalog,
  { task, ladder, at }: ParsedLadder,
  index: number,
  folder: string,
  shown: string,
): Promise<void> {
  const { id } = ladder.rungs[index]!
  const name = await rungFile(folder, id)
  const why = await refusalOf(folder, name)
  if (why !== null) throw inputError(at(['rungs', index, 'id'], why))
  if (isCompiledFile(name)) return readCompiled(catalog, { task, ladder, at }, index, folder, name)
  const text = await readTextIn(folder, name)
  const header = parseRungHeader(text, join(shown, name), task)
  if (header.id !== id)
    throw inputError(message('header.otherName', { file: join(shown, name), rung: header.id }))
  const file = `${task.id}/${basename(name)}`
  catalog.rungs.set(id, { header, file, text, ...(await builtWith(catalog.root, file)) })
}

/** Returns the target architecture in the PTX code. */
const targetOf = (ptx: string): string | null =>
  /^\.target\s+(sm_\d{2,3}[af]?)\b/m.exec(ptx)?.[1] ?? null

/**
 * Reads a rung without a header. For a binary file, the text is a description that contains a hash,
 * so that a session can distinguish builds.
 */
async function readCompiled(
  catalog: Catalog,
  { task, ladder, at }: Pick<ParsedLadder, 'task' | 'ladder' | 'at'>,
  index: number,
  folder: string,
  name: string,
): Promise<void> {
  const { id, title, idea } = ladder.rungs[index]!
  if (idea === undefined)
    throw inputError(at(['rungs', index], message('compiled.noIdea', { file: name })))
  const bytes = isBinaryFile(name) ? await readBytesIn(folder, name) : undefined
  const text = bytes ? describeBytes(name, bytes) : await readTextIn(folder, name)
  const header: RungHeader = {
    id,
    title: title ?? inWords(id),
    after: null,
    idea,
    expect: [],
    params: [],
    options: Object.fromEntries(
      Object.entries(task.options).map(([option, { choices }]) => [option, Object.keys(choices)]),
    ),
    flags: [],
    requires: bytes ? null : targetOf(text),
  }
  const file = `${task.id}/${basename(name)}`
  catalog.rungs.set(id, { header, file, text, ...(bytes ? { bytes } : {}) })
}
