// @ts-check
/**
 * Measures the size of the scripts that a browser must load before it shows the first screen. The
 * initial scripts are the page's script and its static imports.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Matches large libraries that are loaded on demand: charts, the editor and formulas. */
const onDemand = /echarts|codemirror|katex/i

/**
 * Returns the initial scripts and their gzip-compressed size. A kilobyte is 1000 bytes.
 * @param {string} folder out/renderer
 * @returns {{ files: string[], libraries: string[], kb: number }} `libraries` lists on-demand
 * libraries found among the initial files
 */
export function initialScripts(folder) {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  /** @type {Set<string>} */
  const files = new Set()
  const visit = (/** @type {string} */ file) => {
    if (files.has(file)) return
    files.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    // Match only static imports, because `import("…")` is loaded on demand.
    for (const [, wanted] of text.matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+\.js)["']/g))
      visit(posix.join(dirname(file), wanted ?? ''))
  }
  for (const [, source] of page.matchAll(/<(?:script|link)[^>]+(?:src|href)="\/?([^"]+\.js)"/g))
    visit(source ?? '')
  const bytes = [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length,
    0,
  )
  return {
    files: [...files],
    libraries: [...files].filter((file) => onDemand.test(file)),
    kb: bytes / 1000,
  }
}
