/** Caches an answer that follows from files alone, until one of them changes. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { makeFolder, replaceFile } from './disk'

interface Kept<T> {
  /** A file in the cache. */
  file: string
  /** Equal as long as the answer is: a hash of everything that it is made from, the program's version included. */
  key: string
  schema: z.ZodType<T>
  make: () => Promise<T>
}

/** Makes the answer, unless it was kept under the same key. A cache that cannot be read or written costs only time. */
export async function keptAnswer<T>({ file, key, schema, make }: Kept<T>): Promise<T> {
  const Entry = z.object({ key: z.literal(key), answer: schema })
  try {
    return Entry.parse(JSON.parse(await readFile(file, 'utf8'))).answer
  } catch {
    // Absent, damaged, or made from other files.
  }
  const answer = await make()
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, JSON.stringify({ key, answer }))
  } catch {
    // It is made again next time.
  }
  return answer
}
