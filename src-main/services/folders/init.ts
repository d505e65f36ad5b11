/** Creates a ladder folder from a shipped template. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import type { Setup } from '../../adapters/machine/machine'
import { diskError, errorCode, makeFolder, pathExists } from '../../adapters/disk/disk'
import { readCatalog, type Catalog } from '../../adapters/catalog/catalog'
import {
  readLadderFolder,
  shownPath,
  type LadderFolder,
} from '../../adapters/catalog/ladder-folder'
import { inputError } from '../../domain/errors'
import { ladderSchema, ladderSchemaFile } from '../../domain/ladder/ladder-document'
import { Identifier } from '../../domain/ladder/rung'
import { trustFolder } from './folder-trust'

export const templateNames = async ({ assets }: Setup): Promise<string[]> =>
  (await readdir(assets.templatesDir)).sort()

/** Template file that lists the shipped kernels to copy into the folder. */
const shippedList = 'shipped.json'

async function copyTemplate({ assets }: Setup, template: string, folder: string): Promise<void> {
  await cp(join(assets.templatesDir, template), folder, { recursive: true })
  const list = join(folder, shippedList)
  if (!(await pathExists(list))) return
  const files = z.array(z.string()).parse(JSON.parse(await readFile(list, 'utf8')))
  for (const file of files) {
    const text = await readFile(join(assets.kernelsDir, file), 'utf8')
    await writeFile(join(folder, basename(file)), withoutAfter(text, files))
  }
  await rm(list)
}

/** Removes `@after` from a shipped rung if `@after` names a rung that is not copied. */
const withoutAfter = (text: string, files: readonly string[]): string =>
  text.replace(/^\/\/ @after +(\S+)\n/m, (line, rung: string) =>
    files.some((file) => basename(file) === `${rung}.cu`) ? line : '',
  )

/**
 * Returns a new ladder's path and id. The id is the folder's name unless a shipped ladder has that
 * name. Throws an error if the folder is not empty.
 */
export async function newLadderFolder(
  setup: Setup,
  folder: string,
  fallbackName: string,
): Promise<{ path: string; id: string; shipped: Catalog }> {
  const path = resolve(folder)
  const entries = await readdir(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw errorCode(error) === 'ENOTDIR'
      ? inputError(`${shownPath(path)} is a file.`, 'Choose a new or empty folder.')
      : diskError(error, path, 'read', 'other')
  })
  if (entries.length > 0)
    throw inputError(
      `${shownPath(path)} holds ${entries.length === 1 ? entries[0]! : `${entries.length} files`} already.`,
      'Choose a new or empty folder.',
    )
  const shipped = await readCatalog(setup.assets.kernelsDir)
  const name = Identifier.safeParse(basename(path)).success ? basename(path) : fallbackName
  const id = shipped.ladders.some((ladder) => ladder.id === name) ? `my-${name}` : name
  return { path, id, shipped }
}

/** Writes the schema that editors use for completion in ladder.yaml. */
export const writeSchema = (folder: string): Promise<void> =>
  writeFile(join(folder, ladderSchemaFile), `${JSON.stringify(ladderSchema(), null, 2)}\n`)

/** Copies a template. Throws an error if the folder is not empty. */
export async function initLadder(
  setup: Setup,
  folder: string,
  template: string,
): Promise<LadderFolder> {
  const names = await templateNames(setup)
  if (!names.includes(template))
    throw inputError(
      `There is no template ${JSON.stringify(template)}.`,
      `The templates are: ${names.join(', ')}.`,
    )
  const { path, id, shipped } = await newLadderFolder(setup, folder, template)
  try {
    await makeFolder(path)
    await copyTemplate(setup, template, path)
    const file = join(path, 'ladder.yaml')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(/^id: \S+/m, `id: ${id}`))
    await writeSchema(path)
  } catch (error) {
    throw diskError(error, path, 'write', 'other')
  }
  await trustFolder(setup.machine.folders, path)
  return readLadderFolder(path, shipped)
}
