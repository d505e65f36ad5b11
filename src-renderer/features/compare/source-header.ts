/** Hides a rung's header comment: it differs in every pair, and its contents are shown next to the source. */

/** Number of lines of a source's header comment; 0 if it has none. */
export function headerLines(text: string): number {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !/^\s*\/\//.test(line))
  const count = first < 0 ? lines.length : first
  return lines.slice(0, count).some((line) => /^\s*\/\/\s*@rung\b/.test(line)) ? count : 0
}

export interface SourceText {
  /** The text shown. */
  text: string
  /** Path relative to the session's sources, as in its profile. */
  file: string
  /** Number of lines hidden above the text. */
  offset: number
}

export function withoutHeader(text: string, file: string): SourceText {
  const offset = headerLines(text)
  return offset === 0
    ? { text, file, offset }
    : { text: text.split('\n').slice(offset).join('\n'), file, offset }
}

export const whole = (text: string, file: string): SourceText => ({ text, file, offset: 0 })
