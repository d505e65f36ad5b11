/**
 * Selects the part of a rung's source to show: the whole file, the text below its header, or
 * uncommented code. Lines keep their numbers from the file.
 */
import { headerLines, isPythonFile } from '../../../src-main/domain/ladder/rung'
import type { DeepProfile } from '../../../src-main/domain/session/deep'

export interface SourceText {
  /** The text as shown. */
  text: string
  /** Path relative to the session's sources, as in the profile. */
  file: string
  /** The 1-based file line number of each shown line. The numbers ascend. */
  lines: readonly number[]
}

interface Line {
  number: number
  text: string
}
const linesIn = (text: string): Line[] =>
  text.split('\n').map((line, index) => ({ number: index + 1, text: line }))
const shown = (lines: readonly Line[], file: string): SourceText => ({
  text: lines.map(({ text }) => text).join('\n'),
  file,
  lines: lines.map(({ number }) => number),
})

export const whole = (text: string, file: string): SourceText => shown(linesIn(text), file)

/**
 * Returns the source without its header. The header differs in every pair, and the screen shows its
 * contents separately.
 */
export const withoutHeader = (text: string, file: string): SourceText =>
  shown(linesIn(text).slice(headerLines(text)), file)

// Match strings first, because a string can contain text that looks like a comment.
const pythonCommentOrString =
  /"{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/g
const commentOrString = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Returns the source without comments, and without lines that contained only comments. */
export function codeOnly(text: string, file: string): SourceText {
  const bare = text.replace(isPythonFile(file) ? pythonCommentOrString : commentOrString, (found) =>
    /^[/#]/.test(found) ? found.replace(/[^\n]+/g, '') : found,
  )
  return shown(
    linesIn(bare)
      .map(({ number, text: line }) => ({ number, text: line.trimEnd() }))
      .filter(({ text: line }) => line !== ''),
    file,
  )
}

/**
 * Returns the 1-based number of the shown line for a file line. If the line is hidden, returns the
 * next shown line. Returns undefined past the last shown line.
 */
export function shownLine({ lines }: SourceText, fileLine: number): number | undefined {
  const index = lines.findIndex((line) => line >= fileLine)
  return index < 0 ? undefined : index + 1
}

/** Returns whether a line without comments contains code other than an include. */
const tells = (line: string) => !/^\s*#\s*include\b/.test(line)

/** Returns the file lines that contain code other than includes. */
export function tellingLines(text: string, file: string): ReadonlySet<number> {
  const { text: code, lines } = codeOnly(text, file)
  const shownLines = code.split('\n')
  return new Set(lines.filter((_, index) => tells(shownLines[index]!)))
}

/**
 * Returns the lines of a file that the rung's instructions were compiled from, in ascending order.
 */
export const linesWithCode = (profile: DeepProfile, of: string): number[] =>
  [
    ...new Set(
      profile.kernels.flatMap(({ instructions }) =>
        instructions.flatMap(({ file, line }) => (file === of && line !== null ? [line] : [])),
      ),
    ),
  ].sort((a, b) => a - b)
