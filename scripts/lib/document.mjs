// @ts-check
/**
 * Replaces the generated parts of handwritten documents. The output has the same format as after
 * `npm run format`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'oxfmt'
import { root, PlainError } from './project.mjs'

const { ignorePatterns: _, ...style } = JSON.parse(
  readFileSync(join(root, '.oxfmtrc.json'), 'utf8'),
)

/** @param {string} path whose extension selects the language @param {string} text */
export async function formatted(path, text) {
  const { code, errors } = await format(path, text, style)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  return code
}

/**
 * Replaces the block between the two marker comments that have the given name.
 * @param {string} text
 * @param {string} name
 * @param {string} block
 */
export function between(text, name, block) {
  const pattern = new RegExp(`(<!-- ${name}:begin -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`)
  if (!pattern.test(text)) throw new PlainError(`There are no markers named ${name}.`)
  return text.replace(pattern, (_all, begin, end) => `${begin}\n${block}\n\n${end}`)
}

/**
 * Returns the formatted document with the blocks inserted.
 * @param {string} path from the root of the repository
 * @param {Iterable<readonly [name: string, block: string]>} blocks
 */
export async function documentWith(path, blocks) {
  const file = join(root, path)
  let text = readFileSync(file, 'utf8')
  for (const [name, block] of blocks) text = between(text, name, block)
  return formatted(path, text)
}
