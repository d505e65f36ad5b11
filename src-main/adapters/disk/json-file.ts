/** Manages a small JSON file with user data, such as the list of trusted folders. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { diskError, makeFolder, replaceFile, type Elsewhere } from './disk'

export interface JsonFile<T> {
  /** Returns the file's value, or `empty` if the file is missing or damaged. */
  read(): Promise<T>
  /**
   * Replaces the value with the return value of `next`. After a crash, the file contains either the
   * old or the new value.
   */
  change(next: (value: T) => T): Promise<T>
}

/**
 * The promise of the last change to each file, by path. Changes within this process run one at a
 * time, so that no change is lost.
 */
const turns = new Map<string, Promise<unknown>>()

/**
 * Returns a handle for the JSON file. If the file is not writable, the error includes `elsewhere`,
 * which tells the user how to choose another location.
 */
export function jsonFile<T>(
  path: string,
  schema: z.ZodType<T>,
  empty: T,
  elsewhere: Elsewhere = 'data',
): JsonFile<T> {
  const read = async (): Promise<T> => {
    try {
      return schema.parse(JSON.parse(await readFile(path, 'utf8')))
    } catch {
      return empty
    }
  }
  const change = async (next: (value: T) => T): Promise<T> => {
    const value = next(await read())
    try {
      await makeFolder(dirname(path))
      await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
    } catch (error) {
      throw diskError(error, path, 'write', elsewhere)
    }
    return value
  }
  return {
    read,
    change(next) {
      const work = (): Promise<T> => change(next)
      const turn = (turns.get(path) ?? Promise.resolve()).then(work, work)
      turns.set(path, turn)
      return turn
    },
  }
}
