// @ts-check
/**
 * Tests whether the output of a build is older than its inputs.
 *
 * A stamp file next to the output lists the inputs with their sizes and times, and contains a hash
 * of their content. Comparing the listings is fast. If the listings differ, as after a checkout,
 * the hashes are compared.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * @typedef {object} Target
 * @property {readonly string[]} inputs files and folders
 * @property {RegExp} [except] paths within the inputs to ignore
 * @property {readonly string[]} outputs files that must exist
 * @property {string} stamp
 */

/** @typedef {{ path: string, size: number, time: number }} Input */

/**
 * @param {string} root
 * @param {Target} target
 * @returns {Input[]}
 */
export function listInputs(root, target) {
  /** @type {Input[]} */
  const found = []
  /** @param {string} path */
  const visit = (path) => {
    if (target.except?.test(path)) return
    const stat = statSync(join(root, path), { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isFile()) found.push({ path, size: stat.size, time: stat.mtimeMs })
    else for (const name of readdirSync(join(root, path)).sort()) visit(`${path}/${name}`)
  }
  for (const input of target.inputs) visit(input)
  return found
}

/** @param {string} text */
const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** @param {Input[]} inputs */
const listing = (inputs) => sha256(JSON.stringify(inputs))

/**
 * @param {string} root
 * @param {Input[]} inputs
 */
const content = (root, inputs) => {
  const hash = createHash('sha256')
  for (const { path, size } of inputs)
    hash.update(`${path}\0${size}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

/**
 * Returns the state of a target's inputs. Call this function before building. A file that changes
 * during the build then makes the output stale.
 * @param {string} root
 * @param {Target} target
 */
export function inputState(root, target) {
  const inputs = listInputs(root, target)
  return { listing: listing(inputs), content: content(root, inputs) }
}

/**
 * @param {string} root
 * @param {Target} target
 */
export function isFresh(root, target) {
  if (!target.outputs.every((output) => existsSync(join(root, output)))) return false
  let stamp
  try {
    stamp = JSON.parse(readFileSync(join(root, target.stamp), 'utf8'))
  } catch {
    return false
  }
  const inputs = listInputs(root, target)
  if (stamp.listing === listing(inputs)) return true
  if (stamp.content !== content(root, inputs)) return false
  writeStamp(root, target, { listing: listing(inputs), content: stamp.content })
  return true
}

/**
 * @param {string} root
 * @param {Target} target
 * @param {{ listing: string, content: string }} state
 */
export function writeStamp(root, target, state) {
  mkdirSync(dirname(join(root, target.stamp)), { recursive: true })
  writeFileSync(join(root, target.stamp), JSON.stringify(state))
}

/**
 * @param {string} root
 * @param {Target} target
 */
export function removeStamp(root, target) {
  rmSync(join(root, target.stamp), { force: true })
}
