/**
 * The programs without a UI: the command line as one file that needs no node_modules, dist/cli/kernel-ladder.mjs; with
 * `--mode package` what the npm package runs, dist/package/lib, in the files that its programs share; and with
 * `--mode checkout` the command line alone in such files, out/cli, which is built soonest.
 */
import { defineConfig, type UserConfig } from 'vite'
import { assetPack } from './scripts/vite/assets.ts'
import { asciiOnly } from './scripts/vite/ascii.ts'
import { emulatorWorker } from './scripts/vite/emulator-worker.ts'

const cli: UserConfig = {
  publicDir: false,
  plugins: [
    assetPack({ root: import.meta.dirname, embed: true }),
    emulatorWorker({ root: import.meta.dirname }),
    asciiOnly(),
  ],
  ssr: { noExternal: true },
  build: {
    ssr: 'src-main/hosts/cli/main.ts',
    outDir: 'dist/cli',
    target: 'node20',
    minify: false,
    rolldownOptions: {
      output: {
        format: 'es',
        entryFileNames: 'kernel-ladder.mjs',
        codeSplitting: false,
        // What is long would be read at every start; stack traces name lines, not functions.
        minify: true,
        banner: '#!/usr/bin/env node',
      },
    },
  },
}

/** Files are read in place; code is split where it is loaded on demand. */
const inFiles = (outDir: string, input: Record<string, string>): UserConfig => ({
  publicDir: false,
  plugins: [
    assetPack({ root: import.meta.dirname, embed: false }),
    emulatorWorker({ root: import.meta.dirname }),
  ],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir,
    emptyOutDir: true,
    target: 'node20',
    // Stack traces and licenses stay readable; compiled code is kept, so that size costs no time.
    minify: false,
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: {
      input,
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
})

const start = 'src-main/hosts/cli/start.ts'

export default defineConfig(({ mode }) => {
  if (mode === 'package')
    return inFiles('dist/package/lib', {
      'kernel-ladder': start,
      index: 'src-main/api/index.ts',
    })
  return mode === 'checkout' ? inFiles('out/cli', { 'kernel-ladder': start }) : cli
})
