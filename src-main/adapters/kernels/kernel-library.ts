/** The kernels on disk: every rung's header and source, every ladder. Reads; decides nothing. */
import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { inEnglish } from '../../domain/messages/wording'
import { together } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import type { LadderFile } from '../../domain/ladder/ladder'
import type { RungHeader } from '../../domain/ladder/rung'
import { parseLadderFile } from '../../parsers/kernels/ladder'
import { parseRungHeader } from '../../parsers/kernels/rung-header'

export interface RungSource {
  header: RungHeader
  /** Below cuda-kernels, with `/`. */
  file: string
  text: string
}

export interface KernelLibrary {
  root: string
  ladders: LadderFile[]
  rungs: Map<string, RungSource>
  /** Files that could not be used, by rung or ladder id, each with the sentence that says why. */
  faults: Map<string, string>
}

/** Folders of cuda-kernels that hold no rungs. */
const notRungs = new Set(['runner', 'include', 'ladders', 'labs', 'probe'])

export async function readKernelLibrary(root: string): Promise<KernelLibrary> {
  const library: KernelLibrary = { root, ladders: [], rungs: new Map(), faults: new Map() }
  const folders = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && !notRungs.has(entry.name))
    .map((entry) => entry.name)
    .sort()
  for (const folder of folders) {
    const files = (await readdir(join(root, folder))).filter((file) => file.endsWith('.cu')).sort()
    for (const name of files) await readRung(library, `${folder}/${name}`)
  }
  const ids = (await readdir(join(root, 'ladders')))
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
  for (const id of ids) {
    const file = `ladders/${id}.json`
    try {
      library.ladders.push(parseLadderFile(await readFile(join(root, file), 'utf8'), file))
    } catch (error) {
      library.faults.set(id, inEnglish(toErrorShape(error).message))
    }
  }
  const place = ({ order }: LadderFile): number => order ?? Number.MAX_SAFE_INTEGER
  library.ladders.sort((a, b) => place(a) - place(b) || (a.id < b.id ? -1 : 1))
  return library
}

async function readRung(library: KernelLibrary, file: string): Promise<void> {
  const id = basename(file, '.cu')
  try {
    const text = await readFile(join(library.root, file), 'utf8')
    const header = parseRungHeader(text, file)
    if (header.id !== id)
      library.faults.set(
        id,
        `${file} declares @rung ${header.id}; the name of the file must be the same.`,
      )
    else if (library.rungs.has(id))
      library.faults.set(id, `${file} and ${library.rungs.get(id)!.file} have the same rung id.`)
    else library.rungs.set(id, { header, file, text })
  } catch (error) {
    const { message, remedy } = toErrorShape(error)
    library.faults.set(id, inEnglish(together(message, remedy)))
  }
}

/** A text file below the library, for hashing and for keeping with a session. */
export async function readSharedFiles(root: string, folder: string): Promise<Map<string, string>> {
  const names = (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(cu|cuh|cpp|hpp|h)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const texts = await Promise.all(names.map((name) => readFile(name, 'utf8')))
  return new Map(
    names.map((name, index) => [name.slice(root.length + 1).replaceAll('\\', '/'), texts[index]!]),
  )
}
