// @ts-check
/** Generated files look as `npm run format` leaves them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'oxfmt'
import { root } from './project.mjs'

const { ignorePatterns: _, ...style } = JSON.parse(
  readFileSync(join(root, '.oxfmtrc.json'), 'utf8'),
)

/** @param {string} path its ending names the language @param {string} text */
export async function formatted(path, text) {
  const { code, errors } = await format(path, text, style)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  return code
}
