/**
 * Files that the desktop asks the program to open.
 *
 * They come from its arguments, a second instance's arguments, or an event of macOS.
 */
import { resolve } from 'node:path'

/**
 * The types that `import` reads. electron-builder.yml associates all but HTML, which belongs to other programs and is
 * only passed explicitly.
 */
const readable = /\.(ncu-repz?|html)$/i

/** Returns the files among a command line's words, which also contain Electron's switches. */
export const filesOf = (argv: readonly string[], folder: string): string[] =>
  argv
    .slice(1)
    .filter((word) => !word.startsWith('-') && readable.test(word))
    .map((word) => resolve(folder, word))
