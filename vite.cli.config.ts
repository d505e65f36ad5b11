/**
 * Builds the programs without a UI. By default, builds the command-line program as
 * dist/cli/kernel-ladder.mjs, a single file that needs no node_modules. `--mode package` builds the
 * code of the npm package in dist/package/lib. The package code is split into files that the
 * package's programs share. `--mode checkout` builds only the command-line program in out/cli. The
 * checkout code is also split into files. Of the three builds, the checkout build takes the least
 * time.
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
        // Minify, because Node reads the whole file at every start. Stack traces are still useful,
        // because they contain line numbers.
        minify: true,
        banner: '#!/usr/bin/env node',
      },
    },
  },
}

/**
 * Returns a build with several output files. Packaged assets are read from their own files, and
 * code that is loaded on demand is in separate files.
 */
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
    // Don't minify, so that stack traces and licenses stay readable. Node.js caches compiled code,
    // so the file size does not slow down the start.
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
