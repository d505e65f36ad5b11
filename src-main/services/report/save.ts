/** Puts a report on the disk whole or not at all, and over nothing that is there. */
import { randomBytes } from 'node:crypto'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { diskError, pathExists } from '../../adapters/disk'
import { inputError } from '../../domain/errors'

/** Also of a link that leads nowhere: writing there would make what it points to. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(
      `${path} exists already.`,
      'Choose a file that does not exist yet with --out; nothing is overwritten.',
    )
}

/** Says before the work whether there is a place for its result. */
export async function checkPlace(file: string): Promise<void> {
  const path = resolve(file)
  await refuseTaken(path)
  if (!(await pathExists(dirname(path))))
    throw inputError(
      `Could not write ${path}: there is no folder ${dirname(path)}.`,
      'Make the folder, or choose another path with --out.',
    )
}

export async function saveReport(file: string, content: string | Uint8Array): Promise<void> {
  await checkPlace(file)
  const path = resolve(file)
  const partial = join(
    dirname(path),
    `.${basename(path)}.partial-${process.pid}-${randomBytes(4).toString('hex')}`,
  )
  try {
    const handle = await open(partial, 'wx')
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await refuseTaken(path)
    await rename(partial, path)
  } catch (error) {
    throw diskError(error, path, 'write')
  } finally {
    // What could not be made cannot be removed either; the error above is the one to tell.
    await rm(partial, { force: true }).catch(() => undefined)
  }
}
