/** Caches a result that depends only on files. The cached result is valid until a file changes. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { makeFolder, replaceFile } from './disk'

interface Kept<T> {
  /** The cache file's path. */
  file: string
  /** Hash of everything on which the result depends, including the program's version. */
  key: string
  schema: z.ZodType<T>
  make: () => Promise<T>
}

/**
 * Returns the cached result for the key, or computes the result. Cache failures are ignored,
 * because their only cost is computing the result again.
 */
export async function keptAnswer<T>({ file, key, schema, make }: Kept<T>): Promise<T> {
  const Entry = z.object({ key: z.literal(key), answer: schema })
  try {
    return Entry.parse(JSON.parse(await readFile(file, 'utf8'))).answer
  } catch {
    // The cache entry is missing, damaged, or for a different key.
  }
  const answer = await make()
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, JSON.stringify({ key, answer }))
  } catch {
    // Ignore write errors. The next call computes the result again.
  }
  return answer
}
