/**
 * Handles files that the desktop environment asks the program to open.
 *
 * The paths are in this program's arguments, a second instance's arguments, or a macOS event.
 */
import { resolve } from 'node:path'

/**
 * File types that `import` reads. electron-builder.yml associates these types, except HTML, with
 * this program. Users must pass HTML files explicitly, because HTML files belong to other programs.
 */
const readable = /\.(ncu-repz?|html)$/i

/** Returns the file paths in a command line. The command line also contains Electron's switches. */
export const filesOf = (argv: readonly string[], folder: string): string[] =>
  argv
    .slice(1)
    .filter((word) => !word.startsWith('-') && readable.test(word))
    .map((word) => resolve(folder, word))
