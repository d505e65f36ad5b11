// The fakes as programs: `node tool.mjs nvcc …` is the fake nvcc, and a test puts wrappers of that on PATH.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asProgram } from './program.mjs'

const fakes = {
  nvcc: async () => (await import('./nvcc.mjs')).nvcc,
  ncu: async () => (await import('./ncu.mjs')).ncu,
  'nvidia-smi': async () => (await import('./nvidia-smi.mjs')).nvidiaSmi,
  'compute-sanitizer': async () => (await import('./compute-sanitizer.mjs')).computeSanitizer,
  // What the fake nvcc is asked to build.
  'kl-runner': async () => (await import('./runner.mjs')).runner,
  'kl-launches': async () => (await import('./launches.mjs')).launches,
}

/** The tools that a machine has on PATH. */
const tools = ['nvcc', 'ncu', 'nvidia-smi', 'compute-sanitizer']

/** Writes a program that is the fake of that name. */
export const writeFake = (path, name) =>
  writeFileSync(
    path,
    `#!/bin/sh\nexec "${process.execPath}" "${import.meta.filename}" ${name} "$@"\n`,
    { mode: 0o755 },
  )

/**
 * Puts the fake tools into a folder, which is made; returns it.
 * @param {string} folder
 * @param {readonly string[]} without
 */
export function putFakes(folder, without = []) {
  mkdirSync(folder, { recursive: true })
  for (const tool of tools) if (!without.includes(tool)) writeFake(join(folder, tool), tool)
  return folder
}

if (process.argv[1] === import.meta.filename) {
  const [name] = process.argv.splice(2, 1)
  await asProgram(await fakes[name]())
}
