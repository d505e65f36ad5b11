/** A Vite plugin that escapes all non-ASCII characters in a build. */
import type { Plugin } from 'vite'

/**
 * Returns equivalent JavaScript in ASCII. Other characters occur only in strings, patterns and comments, where they
 * can be escaped.
 */
export const asAscii = (code: string): string =>
  code.replaceAll(
    // By code unit, so that a surrogate pair becomes two escapes.
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Without this, one character beyond Latin-1 makes V8 store the whole source with two bytes per character: 10 MB more
 * for the one-file program.
 */
export const asciiOnly = (): Plugin => ({
  name: 'kernel-ladder:ascii',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = asAscii(part.code)
  },
})
