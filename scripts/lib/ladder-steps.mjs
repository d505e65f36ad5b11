// @ts-check
/**
 * Measures how much of a rung's source the next rung reuses. A reader needs to study only the lines
 * that are not reused, which form the diff.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { diffArrays } from 'diff'
import { root } from './project.mjs'

/** @typedef {import('../../src-main/domain/ladder/ladder.ts').LadderFile} LadderFile */
/**
 * @typedef {{ of: number, kept: number, changed: number }} Change counts of lines: in the first
 * source, kept in the second source, and added or removed
 */
/** @typedef {{ ladder: string, from: string, to: string, rung: Change, withHeaders: Change }} Step */

/**
 * Returns a source's lines of code and comments. Omits the header, because it is different in every
 * rung.
 * @param {string} text
 */
const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('// @'))

/** @param {readonly string[]} a @param {readonly string[]} b @returns {Change} */
export function changeBetween(a, b) {
  let [kept, changed] = [0, 0]
  for (const { added, removed, value } of diffArrays([...a], [...b]))
    if (added || removed) changed += value.length
    else kept += value.length
  return { of: a.length, kept, changed }
}

/**
 * Returns the task headers that a source includes directly or indirectly.
 * @param {string} folder
 * @param {string} text
 * @returns {string[]}
 */
function headersOf(folder, text) {
  const own = new Set(readdirSync(folder))
  /** @type {Set<string>} */
  const found = new Set()
  const visit = (/** @type {string} */ source) => {
    for (const [, name] of source.matchAll(/^#include "([^"]+)"/gm))
      if (name !== undefined && own.has(name) && !found.has(name)) {
        found.add(name)
        visit(readFileSync(join(folder, name), 'utf8'))
      }
  }
  visit(text)
  return [...found].sort()
}

/**
 * Returns the steps of a ladder. A step consists of a CUDA C++ rung and the rung that it builds on.
 * Excludes the reference, and variants that differ only in parameters.
 * @param {LadderFile} ladder
 * @param {string} [kernels] the folder of the tasks
 * @returns {Step[]}
 */
export function stepsOf({ id, task, reference, rungs }, kernels = join(root, 'cuda-kernels')) {
  const folder = join(kernels, task)
  const own = rungs
    .filter((entry, index) => rungs.findIndex((other) => other.id === entry.id) === index)
    .map((entry) => entry.id)
    .filter((rung) => rung !== reference && readdirSync(folder).includes(`${rung}.cu`))
  const textOf = (/** @type {string} */ rung) => readFileSync(join(folder, `${rung}.cu`), 'utf8')
  const withHeaders = (/** @type {string} */ text, /** @type {readonly string[]} */ headers) => [
    ...headers.flatMap((name) => linesOf(readFileSync(join(folder, name), 'utf8'))),
    ...linesOf(text),
  ]
  return own.flatMap((to, index) => {
    const text = textOf(to)
    const after = /^\/\/ @after\s+(\S+)/m.exec(text)?.[1]
    const from = after !== undefined && own.includes(after) ? after : own[index - 1]
    if (from === undefined) return []
    const before = textOf(from)
    const [old, fresh] = [headersOf(folder, before), headersOf(folder, text)]
    const only = (/** @type {string[]} */ a, /** @type {string[]} */ b) =>
      a.filter((name) => !b.includes(name))
    return [
      {
        ...{ ladder: id, from, to },
        rung: changeBetween(linesOf(before), linesOf(text)),
        withHeaders: changeBetween(
          withHeaders(before, only(old, fresh)),
          withHeaders(text, only(fresh, old)),
        ),
      },
    ]
  })
}
