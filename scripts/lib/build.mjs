// @ts-check
/** Builds stale targets with one line each on stderr; a builder's output is shown only if it fails. */
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
import { stripVTControlCharacters } from 'node:util'
import { runChild } from './child.mjs'
import { withLock } from './install.mjs'
import {
  toolEnv,
  PlainError,
  root,
  say,
  packageFiles,
  packedFolders,
  roomyHeap,
} from './project.mjs'

// Whether a build's output is older than its inputs. A stamp next to the output holds a listing of the
// inputs (names, sizes, times: quick to compare) and a hash of their content, which decides when the
// listing differs, as it does after a checkout.

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
 * The state of the inputs. Take it before building, so that a file changed meanwhile makes the output stale.
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

/** @typedef {'renderer' | 'report' | 'electron' | 'checkout' | 'cli' | 'package'} TargetName */

const vite = 'node_modules/vite/bin/vite.js'
const always = [
  'package-lock.json',
  'tsconfig.base.json',
  'scripts/lib/build.mjs',
  'scripts/lib/project.mjs',
]

/**
 * @type {Record<TargetName, Target & {
 *   what: string, needs: TargetName[], outputs: [string, ...string[]], command: string[], env?: NodeJS.ProcessEnv
 * }>}
 */
export const targets = {
  renderer: {
    what: 'the UI',
    needs: [],
    inputs: [
      ...always,
      'vite.renderer.config.ts',
      'scripts/vite-plugins.ts',
      'src-renderer',
      'src-main/domain',
      'src-main/contract',
    ],
    except: /\.test\.ts$/,
    outputs: ['out/renderer/index.html'],
    stamp: 'out/renderer.stamp.json',
    command: [vite, 'build', '--config', 'vite.renderer.config.ts'],
  },
  report: {
    what: 'the report page',
    needs: [],
    inputs: [
      ...always,
      'vite.renderer.config.ts',
      'scripts/vite-plugins.ts',
      'src-renderer',
      'src-main/domain',
      'src-main/contract',
    ],
    except: /\.test\.ts$/,
    outputs: ['out/report/template.html'],
    stamp: 'out/report.stamp.json',
    command: [vite, 'build', '--config', 'vite.renderer.config.ts', '--mode', 'report'],
  },
  electron: {
    what: 'the desktop app',
    needs: ['renderer', 'report'],
    inputs: [
      ...always,
      'package.json',
      'electron.vite.config.ts',
      'scripts/vite-plugins.ts',
      'src-main',
    ],
    except: /^src-main\/hosts\/cli$/,
    outputs: ['out/main/index.js', 'out/preload/index.cjs'],
    stamp: 'out/electron.stamp.json',
    command: ['node_modules/electron-vite/bin/electron-vite.js', 'build'],
    env: { KERNEL_LADDER_BUILD: 'without-renderer' },
  },
  checkout: {
    what: 'the program',
    needs: [],
    inputs: [
      ...always,
      'package.json',
      'vite.cli.config.ts',
      'scripts/vite-plugins.ts',
      'src-main',
    ],
    except: /^src-main\/hosts\/electron$/,
    outputs: ['out/cli/kernel-ladder.js'],
    stamp: 'out/cli.stamp.json',
    command: [vite, 'build', '--config', 'vite.cli.config.ts', '--mode', 'checkout'],
  },
  cli: {
    what: 'the one-file program',
    needs: ['renderer', 'report'],
    inputs: [
      ...always,
      'package.json',
      'vite.cli.config.ts',
      'scripts/vite-plugins.ts',
      'src-main',
      ...packedFolders,
    ],
    except: /^src-main\/hosts\/electron$|\.ncu-rep$/,
    outputs: ['dist/cli/kernel-ladder.mjs'],
    stamp: 'dist/cli.stamp.json',
    command: [vite, 'build', '--config', 'vite.cli.config.ts'],
  },
  package: {
    what: 'the npm package',
    needs: ['renderer', 'report', 'electron'],
    inputs: [
      ...always,
      'package.json',
      'vite.cli.config.ts',
      'tsconfig.library.json',
      'scripts/lib/npm-package.mjs',
      'scripts/vite-plugins.ts',
      'src-main',
      ...packageFiles,
    ],
    except: /\.ncu-rep$|^docs\/images$/,
    outputs: ['dist/package/package.json'],
    stamp: 'dist/package.stamp.json',
    command: ['scripts/lib/npm-package.mjs'],
  },
}

/**
 * @param {readonly TargetName[]} names
 * @returns {TargetName[]} the targets and their dependencies, in build order
 */
export const inOrder = (names) => [
  ...new Set(names.flatMap((name) => [...inOrder(targets[name].needs), name])),
]

/** @param {TargetName} name */
async function build(name) {
  const target = targets[name]
  say(`Building ${target.what}…`)
  const state = inputState(root, target)
  removeStamp(root, target)
  const { code, output } = await runChild(process.execPath, [...roomyHeap, ...target.command], {
    output: 'kept',
    env: toolEnv({ NODE_ENV: 'production', ...target.env }),
  })
  if (code !== 0)
    throw new PlainError(
      `${stripVTControlCharacters(output).trim()}\nBuilding ${target.what} failed; see above.`,
    )
  writeStamp(root, target, state)
}

/**
 * @param {readonly TargetName[]} names
 * @param {{ force?: boolean }} [options]
 */
export async function ensureBuilt(names, options = {}) {
  const wanted = inOrder(names)
  if (!options.force && wanted.every((name) => isFresh(root, targets[name]))) return
  await withLock('build', async () => {
    /** @type {Map<TargetName, Promise<void>>} */
    const begun = new Map()
    for (const name of wanted) {
      // The order of `wanted` puts them before it.
      const needs = targets[name].needs.flatMap((needed) => begun.get(needed) ?? [])
      const made = Promise.all(needs).then(async () => {
        if (options.force || !isFresh(root, targets[name])) await build(name)
      })
      begun.set(name, made)
    }
    // All must have ended before another process may build.
    const failed = (await Promise.allSettled(begun.values())).find(
      ({ status }) => status === 'rejected',
    )
    if (failed?.status === 'rejected') throw failed.reason
  })
}
