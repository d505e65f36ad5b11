/** Caches an answer that depends only on files, until one of them changes. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { makeFolder, replaceFile } from './disk'

interface Kept<T> {
  /** The cache file. */
  file: string
  /** A hash of everything that the answer depends on, including the program's version. */
  key: string
  schema: z.ZodType<T>
  make: () => Promise<T>
}

/** Returns the cached answer for the key, or computes it. Cache failures cost only time. */
export async function keptAnswer<T>({ file, key, schema, make }: Kept<T>): Promise<T> {
  const Entry = z.object({ key: z.literal(key), answer: schema })
  try {
    return Entry.parse(JSON.parse(await readFile(file, 'utf8'))).answer
  } catch {
    // The entry is absent, damaged, or from other files.
  }
  const answer = await make()
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, JSON.stringify({ key, answer }))
  } catch {
    // The answer is computed again next time.
  }
  return answer
}
