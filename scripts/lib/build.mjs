// @ts-check
/**
 * Builds stale targets and prints one line per target on stderr. The output of a build tool is
 * shown only if the build fails.
 */
import { stripVTControlCharacters } from 'node:util'
import { runChild } from './child.mjs'
import { toolEnv, PlainError, root, say, roomyHeap } from './project.mjs'
import { inputState, isFresh, writeStamp, removeStamp } from './freshness.mjs'
import { withLock } from './lock.mjs'
import { packageFiles, packedFolders } from './package-files.mjs'

/** @typedef {import('./freshness.mjs').Target} Target */
/** @typedef {'renderer' | 'report' | 'electron' | 'checkout' | 'cli' | 'package'} TargetName */

const vite = 'node_modules/vite/bin/vite.js'
const always = [
  'package-lock.json',
  'tsconfig.base.json',
  'scripts/lib/build.mjs',
  'scripts/lib/project.mjs',
  'scripts/lib/node.mjs',
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
      'scripts/vite',
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
      'scripts/vite',
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
    inputs: [...always, 'package.json', 'electron.vite.config.ts', 'scripts/vite', 'src-main'],
    except: /^src-main\/hosts\/cli$/,
    outputs: ['out/main/index.js', 'out/preload/index.cjs'],
    stamp: 'out/electron.stamp.json',
    command: ['node_modules/electron-vite/bin/electron-vite.js', 'build'],
    env: { KERNEL_LADDER_BUILD: 'without-renderer' },
  },
  checkout: {
    what: 'the program',
    needs: [],
    inputs: [...always, 'package.json', 'vite.cli.config.ts', 'scripts/vite', 'src-main'],
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
      'scripts/vite',
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
      'scripts/vite',
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
      // In `wanted`, dependencies come before the targets that need them.
      const needs = targets[name].needs.flatMap((needed) => begun.get(needed) ?? [])
      const made = Promise.all(needs).then(async () => {
        if (options.force || !isFresh(root, targets[name])) await build(name)
      })
      begun.set(name, made)
    }
    // Wait for all builds to end, even if one fails. Otherwise, another process could start a build
    // while some still run.
    const failed = (await Promise.allSettled(begun.values())).find(
      ({ status }) => status === 'rejected',
    )
    if (failed?.status === 'rejected') throw failed.reason
  })
}
