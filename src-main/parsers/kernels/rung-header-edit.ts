/** Edits rung headers. Writes the header of a rung's copy, and adds allowed parameter values. */

interface CopyHeader {
  rung: string
  title: string
  after: string
  idea: string
}

const isHeaderLine = (line: string): boolean => line.startsWith('//')

const keyOf = (line: string): string | null => /^\/\/\s*@(\S+)/.exec(line)?.[1] ?? null

const continues = (line: string): boolean => /^\/\/(?: {2,}|\t)/.test(line)

/**
 * Whether a line is a recorded measurement. In sources from older sessions, measurements follow the
 * header keys.
 */
const isMeasured = (line: string): boolean => line.startsWith('// Measured on ')

/**
 * Returns the source with the header for a copy of the rung. Removes the original rung's
 * expectations (`@expect`) and measurements, because they describe a different optimization step.
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

/**
 * Returns the line number in a header error's message (`gemm/05_tile.cu:3: …`), or null if the
 * message has no line number.
 */
export const faultLine = (message: string): number | null => {
  const line = /\.cu:(\d+):/.exec(message)?.[1]
  return line === undefined ? null : Number(line)
}

/** Returns the source with the given values added to the allowed values in its `@param` lines. */
export const allowValues = (source: string, values: Readonly<Record<string, number>>): string =>
  source.replace(
    /^(\/\/\s*@param\s+([A-Z][A-Z0-9_]*)\s+-?\d+\s*\{)([^}]*)(\})/gm,
    (line, start: string, name: string, allowed: string, end: string) => {
      const value = values[name]
      if (value === undefined) return line
      const all = [...new Set([...allowed.split(',').map(Number), value])].sort((a, b) => a - b)
      return `${start}${all.join(',')}${end}`
    },
  )
