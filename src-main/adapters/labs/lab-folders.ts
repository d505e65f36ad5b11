/**
 * Reads labs on disk. A lab's folder <root>/<id> contains lab.md, its starter, its solution, and
 * its images.
 *
 * A lab is untrusted. Links that lead out of the lab's folder are not followed, and large files are
 * not read.
 */
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { inEnglish } from '../../domain/text/english'
import {
  faultSentence,
  findCycle,
  isLadderPath,
  type Lab,
  type LabFault,
  type LabFile,
} from '../../domain/labs/lab'
import { Identifier } from '../../domain/ladder/rung'
import {
  ladderPathIn,
  parseLab,
  readLabText,
  type LabReferences,
  type LabText,
  type ParsedLab,
} from '../../parsers/labs/lab'
import { errorCode } from '../disk/disk'
import { sentenceOf, type Catalog } from '../catalog/catalog'
import { readLadderFolder } from '../catalog/ladder-folder'
import { withInputs } from '../../domain/labs/lab-inputs'

export interface LabFolder {
  id: string
  folder: string
  lab: Lab
  /**
   * Library that contains the lab's ladder: the shipped library, or the library of a ladder folder
   * inside the lab.
   */
  catalog: Catalog
  starter: string
  solution: string
  /** Each image's bytes, by the image's path in the lab's text. */
  pictures: ReadonlyMap<string, Uint8Array>
  /**
   * SHA-256 hash of all files in the folder, in hexadecimal. If a file changes, the user must trust
   * the lab again.
   */
  contentHash: string
  /** Sorted paths of all files, relative to the folder. */
  files: string[]
}

export interface LabLibrary {
  labs: LabFolder[]
  faults: LabFault[]
}

export const labFile = 'lab.md'
const maxFileBytes = 1024 * 1024
const maxFiles = 100
const pictureTypes = ['.svg', '.png']

/**
 * Returns the ids to which a lab may refer. If the lab contains a ladder folder, `path` replaces
 * the ladder id.
 */
const labReferences = (catalog: Catalog, path?: string): LabReferences => ({
  ladders: new Map(
    catalog.ladders.map(({ id, rungs }) => [
      path ?? id,
      new Set(rungs.map((rung) => rung.as ?? rung.id)),
    ]),
  ),
  tasks: new Map(
    catalog.ladders.flatMap(({ id, task }) => {
      const found = catalog.tasks.get(task)
      return found ? [[path ?? id, found] as const] : []
    }),
  ),
  rungs: new Set(catalog.rungs.keys()),
})

/** Returns every file in a folder with its size. Reports links and special files as errors. */
async function survey(
  folder: string,
  shown: string,
): Promise<{ files: string[]; faults: LabFault[] }> {
  const files: string[] = []
  const faults: LabFault[] = []
  const refuse = (file: string, message: string): void => {
    faults.push({ file: posix.join(shown, file), line: null, message })
  }
  const visit = async (below: string): Promise<void> => {
    for (const name of (await readdir(join(folder, below))).sort()) {
      if (files.length + faults.length >= maxFiles) return
      const path = posix.join(below, name)
      const found = await lstat(join(folder, path))
      if (found.isSymbolicLink())
        refuse(path, 'It is a symbolic link, which is not allowed in a lab; use the file itself.')
      else if (found.isDirectory()) await visit(path)
      else if (!found.isFile()) refuse(path, 'It is not a regular file.')
      else if (found.size > maxFileBytes)
        refuse(path, `It has ${found.size} bytes; files of a lab can have at most ${maxFileBytes}.`)
      else files.push(path)
    }
  }
  await visit('')
  if (files.length + faults.length >= maxFiles)
    refuse('', `The folder contains ${maxFiles} files or more; a lab must have fewer.`)
  return { files, faults }
}

function checkPaths(parsed: ParsedLab, files: readonly string[], file: string): LabFault[] {
  const faults: LabFault[] = []
  const need = (path: string, line: number, endings: readonly string[]): void => {
    if (!endings.some((ending) => path.endsWith(ending)))
      faults.push({
        file,
        line,
        message: `${path} does not have a supported file type (${endings.join(', ')}).`,
      })
    else if (!files.includes(posix.normalize(path)) || posix.isAbsolute(path))
      faults.push({ file, line, message: `${path} is not in the lab’s folder.` })
  }
  for (const { path, line } of parsed.files) need(path, line, ['.cu'])
  for (const { path, line } of parsed.pictures) need(path, line, pictureTypes)
  return faults
}

const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

interface ReadLab {
  lab: LabFolder | null
  needsLine: number
  faults: LabFault[]
}

interface LabLadder {
  catalog: Catalog
  references: LabReferences
  /** Reasons why the ladder folder cannot be used. */
  faults: string[]
}

/**
 * Reads the built-in library or the ladder folder that contains a lab's ladder. A ladder folder
 * inside the lab is displayed, trusted, and hashed as part of the lab.
 */
async function readLadderOf(
  folder: string,
  text: LabText | null,
  shipped: Catalog,
): Promise<LabLadder> {
  const path = ladderPathIn(text)
  if (path === null) return { catalog: shipped, references: labReferences(shipped), faults: [] }
  try {
    const { catalog } = await readLadderFolder(join(folder, path), shipped)
    const faults = [...catalog.faults.values()].map(inEnglish)
    return { catalog, references: labReferences(catalog, path), faults }
  } catch (error) {
    return {
      catalog: shipped,
      references: labReferences(shipped),
      faults: [inEnglish(sentenceOf(error))],
    }
  }
}

/** Returns a copy of the library in which the lab's task has the inputs that the lab specifies. */
function withLabInputs(catalog: Catalog, lab: LabFile): Catalog {
  const ladder = catalog.ladders.find(({ id }) => isLadderPath(lab.ladder) || id === lab.ladder)
  const task = ladder && catalog.tasks.get(ladder.task)
  if (!task || Object.keys(lab.inputs).length === 0) return catalog
  return {
    ...catalog,
    tasks: new Map(catalog.tasks).set(task.id, withInputs(task, lab.inputs).task),
  }
}

async function readOne(folder: string, shipped: Catalog): Promise<ReadLab> {
  const id = basename(folder)
  const file = `${id}/${labFile}`
  const { files, faults } = await survey(folder, id)
  const fail = (more: readonly LabFault[], needsLine = 1): ReadLab => ({
    lab: null,
    needsLine,
    faults: [...faults, ...more],
  })
  if (!Identifier.safeParse(id).success)
    return fail([
      {
        file: id,
        line: null,
        message:
          'The folder name is the lab’s id and can contain letters, digits, "_", "-" and ".".',
      },
    ])
  if (!files.includes(labFile))
    return fail(
      // Don't report a missing file if the file was already rejected or the folder was not listed
      // completely.
      faults.some((fault) => fault.file === file || fault.file === id)
        ? []
        : [{ file, line: null, message: `The folder has no ${labFile}.` }],
    )
  const bytes = new Map<string, Uint8Array>()
  for (const path of files) bytes.set(path, await readFile(join(folder, path)))
  const text = readLabText(asText(bytes.get(labFile)!))
  const ladder = await readLadderOf(folder, text, shipped)
  const parsed = parseLab(text, file, ladder.references)
  // Don't report a rejected file as missing, because its error is already listed.
  const there = [...files, ...faults.map((fault) => posix.relative(id, fault.file))]
  const missing = [
    ...ladder.faults.map((message) => ({ file, line: parsed.ladderLine, message })),
    ...checkPaths(parsed, there, file),
  ]
  for (const [path, content] of bytes)
    if (/\.(cu|md|svg)$/.test(path) && content.includes(0))
      missing.push({
        file: `${id}/${path}`,
        line: null,
        message: 'It is not a text file: it contains a zero byte.',
      })
  if (!parsed.lab || faults.length + missing.length > 0)
    return fail([...parsed.faults, ...missing], parsed.needsLine)

  const hash = createHash('sha256')
  for (const [path, content] of bytes) hash.update(`${path}\0${content.length}\0`).update(content)
  return {
    needsLine: parsed.needsLine,
    faults: [],
    lab: {
      id,
      folder,
      lab: { ...parsed.lab, id, body: parsed.body },
      catalog: withLabInputs(ladder.catalog, parsed.lab),
      starter: asText(bytes.get(posix.normalize(parsed.lab.starter))!),
      solution: asText(bytes.get(posix.normalize(parsed.lab.solution))!),
      pictures: new Map(
        parsed.pictures.map(({ path }) => [path, bytes.get(posix.normalize(path))!]),
      ),
      contentHash: hash.digest('hex'),
      files,
    },
  }
}

/**
 * Reads a folder of labs, or a single lab. A prerequisite must be in the same folder or in `known`.
 * Throws an error if the folder is unreadable. All other problems with the labs are listed in
 * `faults`.
 */
export async function readLabs(
  folder: string,
  catalog: Catalog,
  known: readonly Lab[] = [],
): Promise<LabLibrary> {
  let names: string[]
  try {
    names = (await readdir(folder)).sort()
  } catch (error) {
    throw inputError(
      message('labs.notFolder', { folder, text: errorCode(error) ?? String(error) }),
      message('labs.nameFolder'),
    )
  }
  const single = names.includes(labFile)
  const folders = single
    ? [folder]
    : (
        await Promise.all(
          names.map(async (name) => [name, await lstat(join(folder, name))] as const),
        )
      )
        .filter(([name, found]) => found.isDirectory() && !name.startsWith('.'))
        .map(([name]) => join(folder, name))
  if (folders.length === 0) throw inputError(message('labs.empty', { folder, file: labFile }))
  const read = await Promise.all(folders.map((one) => readOne(one, catalog)))
  const faults = read.flatMap((one) => one.faults)
  const labs = read.flatMap(({ lab }) => (lab ? [lab] : []))

  const lines = new Map(read.flatMap(({ lab, needsLine }) => (lab ? [[lab.id, needsLine]] : [])))
  const all = new Map([...known, ...labs.map(({ lab }) => lab)].map((lab) => [lab.id, lab]))
  const fail = (id: string, message: string): void => {
    faults.push({ file: `${id}/${labFile}`, line: lines.get(id) ?? null, message })
  }
  // An unreadable prerequisite is already reported, so do not report an error for the labs that
  // require it.
  const present = new Set([...all.keys(), ...folders.map((path) => basename(path))])
  for (const { id, lab } of labs)
    for (const need of lab.needs.labs)
      // A single lab may require labs that are not in the folder.
      if (!present.has(need) && !single)
        fail(id, `It requires the lab ${need}, which does not exist.`)
  const cycle = findCycle(new Map([...all].map(([id, { needs }]) => [id, needs.labs])))
  if (cycle) fail(cycle[0]!, `Its prerequisites form a cycle: ${[...cycle, cycle[0]].join(' → ')}.`)
  return { labs: labs.sort((a, b) => a.lab.order - b.lab.order), faults }
}

/** Reads a folder that contains a single lab. Throws a single error that lists all problems. */
export async function readLab(folder: string, catalog: Catalog): Promise<LabFolder> {
  const { labs, faults } = await readLabs(folder, catalog)
  if (faults.length > 0)
    throw inputError(
      message('labs.thisCannotBeUsed', { faults: faults.map(faultSentence).join(' ') }),
    )
  const [lab] = labs
  if (!lab || labs.length > 1)
    throw inputError(
      message('labs.several', { folder, count: labs.length }),
      message('labs.nameOne', { file: labFile }),
    )
  return lab
}

export const labsDir = (kernelsDir: string): string => join(kernelsDir, 'labs')

/** Reads the shipped labs. Returns an empty library if the program ships without labs. */
export async function readShippedLabs(catalog: Catalog): Promise<LabLibrary> {
  const folder = labsDir(catalog.root)
  const entries = await readdir(folder).catch(() => [])
  return entries.length === 0 ? { labs: [], faults: [] } : readLabs(folder, catalog)
}

/** Reads one shipped lab. Returns null if no lab has the given id. */
export async function readShippedLab(catalog: Catalog, id: string): Promise<LabLibrary | null> {
  const folder = labsDir(catalog.root)
  const ids = await readdir(folder).catch((): string[] => [])
  return ids.includes(id) ? readLabs(join(folder, id), catalog) : null
}
