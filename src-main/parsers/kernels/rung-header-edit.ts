/** Edits of a rung's header: that of a copy, and the comment that says what was measured of the rung. */

export interface CopyHeader {
  rung: string
  title: string
  after: string
  idea: string
}

const isHeaderLine = (line: string): boolean => line.startsWith('//')
const keyOf = (line: string): string | null => /^\/\/\s*@(\S+)/.exec(line)?.[1] ?? null
const continues = (line: string): boolean => /^\/\/(?: {2,}|\t)/.test(line)
const isMeasured = (line: string): boolean => line.startsWith('// Measured on ')

/**
 * The same source with the header of a copy. What the original expected of its own change (`@expect`), and
 * what was measured of it, are left out: they were said of another step.
 */
export function copyHeader(source: string, header: CopyHeader): string {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  const start = lines.findIndex((line) => line.trim() !== '')
  let end = start
  while (end < lines.length && isHeaderLine(lines[end] ?? '')) end += 1
  const kept: string[] = []
  let dropping = false
  for (const line of lines.slice(start, end)) {
    const key = keyOf(line)
    if (key !== null) dropping = ['rung', 'title', 'after', 'idea', 'expect'].includes(key)
    else if (!continues(line)) dropping = isMeasured(line)
    if (!dropping) kept.push(line)
  }
  return [
    `// @rung    ${header.rung}`,
    `// @title   ${header.title}`,
    `// @after   ${header.after}`,
    `// @idea    ${header.idea}`,
    ...kept,
    ...lines.slice(end),
  ].join('\n')
}

/** Where a line may be broken: not between a figure and its unit, nor before an arrow. */
const breaks = / (?!(?:->|[mu]?s|[TGMk])(?!\w))/

/** Words as a comment of a header: wrapped, all lines but the first indented. */
function commentLines(words: string): string[] {
  const lines: string[] = []
  let line = '//'
  for (const word of words.split(breaks)) {
    if (line.length + 1 + word.length > 110) {
      lines.push(line)
      line = '//  '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

/**
 * The same source with `words` ("Measured on …") as the comment below its header's keys, in place of one
 * that is there; null takes it away.
 */
export function withMeasured(source: string, words: string | null): string {
  const lines = source.split('\n')
  const old = lines.findIndex(isMeasured)
  if (old >= 0) {
    let end = old + 1
    while (continues(lines[end] ?? '')) end += 1
    lines.splice(old, end - old)
  }
  const end = lines.findIndex((line) => !isHeaderLine(line))
  let last = lines.slice(0, end).findLastIndex((line) => keyOf(line) !== null)
  while (continues(lines[last + 1] ?? '')) last += 1
  if (words !== null) lines.splice(last + 1, 0, ...commentLines(words))
  return lines.join('\n')
}

/** The line of a header fault's sentence (`gemm/05_tile.cu:3: …`); null where it names none. */
export const faultLine = (message: string): number | null => {
  const line = /\.cu:(\d+):/.exec(message)?.[1]
  return line === undefined ? null : Number(line)
}
