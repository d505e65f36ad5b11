// @ts-check
/** Provides helpers for benchmarks: statistics, worker processes, and bundling of core modules. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../lib/project.mjs'

const exec = promisify(execFile)

/** @param {readonly number[]} values @param {number} share */
export const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}
/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5)

/**
 * Returns the median, minimum and maximum as text: `312 (298 to 330)`.
 * @param {readonly number[]} values
 * @param {number} [digits]
 */
export const spread = (values, digits = 0) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`

/**
 * Formats times as text with the median, the quartiles and the maximum.
 * @param {readonly number[]} times milliseconds
 */
export function describe(times) {
  const at = (/** @type {number} */ share) => Math.round(quantile(times, share))
  return `median ${at(0.5)} ms, quartiles ${at(0.25)} to ${at(0.75)} ms, worst ${at(1)} ms, ${times.length} samples`
}

/** @param {number} bytes */
export const megabytes = (bytes) => bytes / 1e6

/**
 * Runs a job of worker.mjs in a separate process and parses its JSON output.
 * @param {string} job
 * @param {string[]} args
 * @returns {Promise<any>}
 */
export async function worker(job, args) {
  const { stdout } = await exec(process.execPath, [
    join(import.meta.dirname, 'worker.mjs'),
    job,
    ...args,
  ])
  return JSON.parse(stdout)
}

/**
 * Bundles a core module into one JavaScript file in `folder`.
 * @param {string} source relative to the repository @param {string} folder
 */
export async function bundled(source, folder) {
  const { build, runnerImport } = await import('vite')
  /** @type {{ module: typeof import('../vite/assets.ts') }} */
  const assets = await runnerImport(join(root, 'scripts/vite/assets.ts'))
  /** @type {{ module: typeof import('../vite/emulator-worker.ts') }} */
  const emulator = await runnerImport(join(root, 'scripts/vite/emulator-worker.ts'))
  /** @type {{ module: typeof import('../vite/yaml-modules.ts') }} */
  const yaml = await runnerImport(join(root, 'scripts/vite/yaml-modules.ts'))
  await build({
    root,
    configFile: false,
    plugins: [
      yaml.module.yamlModules(),
      emulator.module.emulatorWorker({ root }),
      assets.module.assetPack({ root, embed: false }),
    ],
    logLevel: 'error',
    publicDir: false,
    build: {
      ssr: join(root, source),
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: '[name].mjs' } },
    },
    ssr: { noExternal: true },
  })
  return join(folder, `${source.split('/').at(-1)?.replace(/\.ts$/, '')}.mjs`)
}

/** @template T @param {(folder: string) => Promise<T>} work */
export async function inScratch(work) {
  const folder = await mkdtemp(join(tmpdir(), 'kernel-ladder-bench-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
