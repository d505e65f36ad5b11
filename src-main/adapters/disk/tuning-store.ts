/**
 * Stores finished tuning sweeps in the data folder, one file per sweep. Point journals are stored
 * in the same folder. A sweep's file is written once and never edited.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError, errorCode, makeFolder, readPlainFile } from './disk'
import { KeptTuning } from '../../domain/tune/kept-tuning'

const ending = '.tuning.json'

/**
 * Stores a sweep under its id and returns the id. If the id is taken, uses a similar, available id.
 */
export async function keepTuning(folder: string, tuning: KeptTuning): Promise<string> {
  try {
    await makeFolder(folder)
    for (let number = 1; ; number += 1) {
      const id = number === 1 ? tuning.id : `${tuning.id}-${number}`
      try {
        await writeFile(join(folder, id + ending), `${JSON.stringify({ ...tuning, id })}\n`, {
          flag: 'wx',
        })
        return id
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error
      }
    }
  } catch (error) {
    throw diskError(error, folder, 'write', 'other')
  }
}

/** Reads a sweep. Throws an error if the id is unknown or the file is damaged. */
export async function readTuning(folder: string, id: string): Promise<KeptTuning> {
  const path = join(folder, id + ending)
  let text: string
  try {
    text = await readPlainFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw inputError(message('tunings.none', { id }))
    throw diskError(error, path, 'read')
  }
  try {
    return KeptTuning.parse(JSON.parse(text))
  } catch {
    throw inputError(message('tunings.damaged', { file: path }), message('tunings.tuneAgain'))
  }
}

/** Returns the ids of all sweeps, unsorted. */
export async function tuningIds(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
}
