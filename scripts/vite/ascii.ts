/** A Vite plugin that escapes everything outside of ASCII in a build. */
import type { Plugin } from 'vite'

/** JavaScript of the same meaning in ASCII alone: other characters stand in strings, patterns and comments, where they can be escaped. */
export const asAscii = (code: string): string =>
  code.replaceAll(
    // Code unit by code unit, so that a pair becomes two escapes.
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** One character beyond Latin makes V8 keep the whole of a source in two bytes a character: 10 MB more for the one-file program. */
export const asciiOnly = (): Plugin => ({
  name: 'kernel-ladder:ascii',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = asAscii(part.code)
  },
})
