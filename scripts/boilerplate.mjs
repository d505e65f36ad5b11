// @ts-check
/**
 * `node scripts/boilerplate.mjs [FOLDER…]` counts the lines of each rung that are not part of its
 * kernel. These lines contain the `extern "C"` functions, the KL_ macros and the local #include
 * directives. The script prints the median and the range over the rungs in each folder.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './lib/project.mjs'

/** @param {string} text @returns {number} */
function boilerplateOf(text) {
  let lines = 0
  let depth = 0
  let within = false
  for (const line of text.split('\n')) {
    if (/^#include "/.test(line)) lines += 1
    within ||= /^(extern "C"|KL_[A-Z]+\()/.test(line)
    if (!within) continue
    if (line.trim() !== '') lines += 1
    depth += line.split('{').length - line.split('}').length
    if (depth === 0 && /[};)]\s*$/.test(line)) within = false
  }
  return lines
}

/** @param {string} folder @returns {number[]} */
const countsIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)\d+[^/]*\.cu$/.test(path) && !path.startsWith('labs/'))
    .map((path) => boilerplateOf(readFileSync(join(root, folder, path), 'utf8')))
    .toSorted((a, b) => a - b)

const folders = process.argv.slice(2)
for (const folder of folders.length > 0
  ? folders
  : ['cuda-kernels', 'resources/templates', 'resources/examples', 'docs/examples']) {
  const counts = countsIn(folder)
  const median = counts[Math.floor(counts.length / 2)]
  say(
    `${folder}: median ${median} lines in ${counts.length} rungs, ${counts[0]} to ${counts.at(-1)}`,
  )
}
