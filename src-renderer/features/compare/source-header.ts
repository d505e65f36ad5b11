/** The header block of a rung: it differs in every pair, and what it says stands beside the source. */

/** Lines of the comment that a source begins with, if it is a rung's header; 0 for any other source. */
export function headerLines(text: string): number {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !/^\s*\/\//.test(line))
  const count = first < 0 ? lines.length : first
  return lines.slice(0, count).some((line) => /^\s*\/\/\s*@rung\b/.test(line)) ? count : 0
}

export interface SourceText {
  /** What is shown. */
  text: string
  /** Path below the session's sources, as its profile names it. */
  file: string
  /** Lines of the file above what is shown. */
  offset: number
}

export function withoutHeader(text: string, file: string): SourceText {
  const offset = headerLines(text)
  return offset === 0
    ? { text, file, offset }
    : { text: text.split('\n').slice(offset).join('\n'), file, offset }
}

export const whole = (text: string, file: string): SourceText => ({ text, file, offset: 0 })
