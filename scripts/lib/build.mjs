// @ts-check
/** Builds stale targets with one line each on stderr; a builder's output is shown only if it fails. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { runChild } from './child.mjs'
import { withLock } from './lock.mjs'
import { nodePath, toolEnv } from './node.mjs'
import { PlainError, root, say } from './project.mjs'
import { packageFiles, packedFolders } from './shipped-files.mjs'
import { inputState, isFresh, removeStamp, writeStamp } from './stamp.mjs'

/** @typedef {'renderer' | 'report' | 'electron' | 'cli' | 'package'} TargetName */

const vite = 'node_modules/vite/bin/vite.js'
const always = [
  'package-lock.json',
  'tsconfig.base.json',
  'scripts/lib/build.mjs',
  'scripts/lib/shipped-files.mjs',
]

/**
 * @type {Record<TargetName, import('./stamp.mjs').Target & {
 *   what: string, needs: TargetName[], command: string[], env?: NodeJS.ProcessEnv
 * }>}
 */
export const targets = {
  renderer: {
    what: 'the UI',
    needs: [],
    inputs: [
      ...always,
      'vite.renderer.config.ts',
      'scripts/vite-preload.ts',
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
      'vite.report.config.ts',
      'vite.renderer.config.ts',
      'scripts/vite-report-template.ts',
      'src-renderer',
      'src-main/domain',
      'src-main/contract',
    ],
    except: /\.test\.ts$/,
    outputs: ['out/report/template.html'],
    stamp: 'out/report.stamp.json',
    command: [vite, 'build', '--config', 'vite.report.config.ts'],
  },
  electron: {
    what: 'the desktop app',
    needs: ['renderer', 'report'],
    inputs: [
      ...always,
      'package.json',
      'electron.vite.config.ts',
      'scripts/vite-emulator-worker.ts',
      'src-main',
    ],
    except: /^src-main\/hosts\/cli$/,
    outputs: ['out/main/index.js', 'out/preload/index.cjs'],
    stamp: 'out/electron.stamp.json',
    command: ['node_modules/electron-vite/bin/electron-vite.js', 'build'],
    env: { KERNEL_LADDER_BUILD: 'without-renderer' },
  },
  cli: {
    what: 'the command-line program',
    needs: ['renderer', 'report'],
    inputs: [
      ...always,
      'package.json',
      'vite.cli.config.ts',
      'scripts/vite-asset-pack.ts',
      'scripts/vite-emulator-worker.ts',
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
      'vite.package.config.ts',
      'tsconfig.library.json',
      'scripts/lib/npm-package.mjs',
      'scripts/vite-asset-pack.ts',
      'src-main',
      ...packageFiles,
    ],
    except: /\.ncu-rep$|^docs\/images$/,
    outputs: ['dist/package/package.json'],
    stamp: 'dist/package.stamp.json',
    command: ['scripts/lib/npm-package.mjs'],
  },
}

/** The program is copied to servers, so it should stay small. */
const cliLimitBytes = 8 * 1024 * 1024

/** @param {number} bytes */
export const sizeWarning = (bytes) =>
  bytes > cliLimitBytes
    ? `The command-line program has grown to ${(bytes / 1024 / 1024).toFixed(1)} MB; the target is 8 MB. Check how much resources/recordings and the UI contribute.`
    : undefined

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
  const { code, output } = await runChild(nodePath(), target.command, {
    output: 'kept',
    env: toolEnv({ NODE_ENV: 'production', ...target.env }),
  })
  if (code !== 0)
    throw new PlainError(
      `${stripVTControlCharacters(output).trim()}\nBuilding ${target.what} failed; see above.`,
    )
  writeStamp(root, target, state)
  if (name !== 'cli') return
  const warning = sizeWarning(statSync(join(root, 'dist/cli/kernel-ladder.mjs')).size)
  if (warning !== undefined) say(warning)
}

/**
 * @param {readonly TargetName[]} names
 * @param {{ force?: boolean }} [options]
 */
export async function ensureBuilt(names, options = {}) {
  const wanted = inOrder(names)
  if (!options.force && wanted.every((name) => isFresh(root, targets[name]))) return
  await withLock('build', async () => {
    // In sequence: a target may be built from the output of the one before.
    for (const name of wanted) if (options.force || !isFresh(root, targets[name])) await build(name)
  })
}
