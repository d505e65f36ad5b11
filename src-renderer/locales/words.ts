/// <reference types="vite/types/importMeta.d.ts" />
/** The words of a language are in a file a screen; what is here makes one tree of them. */
export type Words = { [key: string]: string | Words }

/** A key that several files have, as `title`, holds the words of each. */
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
