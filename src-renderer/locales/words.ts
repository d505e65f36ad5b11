/// <reference types="vite/types/importMeta.d.ts" />
/** Merges a language's files, one per screen, into one tree. */
export type Words = { [key: string]: string | Words }

/** A key that several files have, such as `title`, merges their entries. */
export function wordsOf(files: Record<string, Words>): Words {
  const all: Words = {}
  for (const file of Object.values(files))
    for (const [key, words] of Object.entries(file)) {
      const known = all[key]
      all[key] =
        typeof known === 'object' && typeof words === 'object' ? { ...known, ...words } : words
    }
  return all
}
