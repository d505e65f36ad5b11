/**
 * Files that the desktop asks the program to open.
 *
 * They come from its own arguments, a second start's, or an event of macOS.
 */
import { resolve } from 'node:path'

/** What `import` reads and electron-builder.yml associates; HTML is other people's, so it only comes by hand. */
const readable = /\.(ncu-repz?|html)$/i

/** The files among a command line's words, which hold Electron's own switches as well. */
export const filesOf = (argv: readonly string[], folder: string): string[] =>
  argv
    .slice(1)
    .filter((word) => !word.startsWith('-') && readable.test(word))
    .map((word) => resolve(folder, word))
