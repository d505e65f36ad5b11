/** A Vite plugin that escapes all non-ASCII characters in the output of a build. */
import type { Plugin } from 'vite'

/**
 * Returns equivalent JavaScript in ASCII. Non-ASCII characters occur only in strings, regular
 * expressions and comments, where escapes are allowed.
 */
export const asAscii = (code: string): string =>
  code.replaceAll(
    // Match UTF-16 code units, so that a surrogate pair becomes two escapes.
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Escapes non-ASCII characters in every chunk. If a source has even a single character outside
 * Latin-1, V8 stores it with two bytes per character. The one-file program would then need 10 MB
 * more memory.
 */
export const asciiOnly = (): Plugin => ({
  name: 'kernel-ladder:ascii',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = asAscii(part.code)
  },
})
