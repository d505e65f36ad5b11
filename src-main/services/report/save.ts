/** Saves a report atomically and never overwrites a file. */
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { diskError, pathExists } from '../../adapters/disk/disk'
import { inputError } from '../../domain/errors'

/** An image that is saved next to a report. */
export interface Picture {
  /** File name. */
  name: string
  text: string
  /** Width in CSS pixels. */
  width: number
  height: number
}

/** Returns the folder for a report's images, such as `report.assets` for `report.md`. */
export const picturesFolder = (file: string): string =>
  join(dirname(file), `${basename(file, extname(file))}.assets`)

/**
 * Whether a path exists. A dangling link counts as existing, because writing to the link would
 * create its target.
 */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(
      `${path} already exists.`,
      'Use --out to choose a file that does not exist yet; nothing is overwritten.',
    )
}

/** Throws an error if the report and its images cannot be saved. */
export async function checkPlace(file: string, withPictures = false): Promise<void> {
  const path = resolve(file)
  await refuseTaken(path)
  if (withPictures) await refuseTaken(picturesFolder(path))
  if (!(await pathExists(dirname(path))))
    throw inputError(
      `Could not write ${path}: there is no folder ${dirname(path)}.`,
      'Create the folder, or choose another path with --out.',
    )
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Saves a report. All files are first written under temporary names. The report is renamed after
 * its images, so that it never exists without them.
 */
export async function saveReport(
  file: string,
  content: string | Uint8Array,
  pictures: readonly Pick<Picture, 'name' | 'text'>[] = [],
): Promise<void> {
  const path = resolve(file)
  const folder = picturesFolder(path)
  await checkPlace(path, pictures.length > 0)
  const mark = `partial-${randomBytes(8).toString('hex')}`
  const hidden = (target: string): string => join(dirname(target), `.${basename(target)}.${mark}`)
  const left = new Set([hidden(path), hidden(folder)])
  try {
    await write(hidden(path), content)
    if (pictures.length > 0) {
      await mkdir(hidden(folder))
      for (const { name, text } of pictures) await write(join(hidden(folder), name), text)
    }
    await refuseTaken(path)
    if (pictures.length > 0) {
      await rename(hidden(folder), folder)
      left.add(folder)
    }
    await rename(hidden(path), path)
    left.delete(folder)
  } catch (error) {
    throw diskError(error, path, 'write')
  } finally {
    // Cleanup may fail for the same reason as the save, so report only the original error.
    for (const rest of left) await rm(rest, { recursive: true, force: true }).catch(() => undefined)
  }
}
