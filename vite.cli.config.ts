/**
 * The programs without a UI: the command line as one file that needs no node_modules, dist/cli/kernel-ladder.mjs; and with
 * `--mode package` what the npm package runs, dist/package/lib, in the files that its programs share.
 */
import { defineConfig, type UserConfig } from 'vite'
import { asciiOnly, assetPack, emulatorWorker } from './scripts/vite-plugins.ts'

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
        // Names stay, for stack traces; white space and comments would be read at every start.
        minify: { compress: false, mangle: false, codegen: true },
        banner: '#!/usr/bin/env node',
      },
    },
  },
}

const npmPackage: UserConfig = {
  publicDir: false,
  plugins: [
    assetPack({ root: import.meta.dirname, embed: false }),
    emulatorWorker({ root: import.meta.dirname }),
  ],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist/package/lib',
    emptyOutDir: true,
    target: 'node20',
    // Stack traces and licenses stay readable; compiled code is kept, so that size costs no time.
    minify: false,
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: {
      input: { 'kernel-ladder': 'src-main/hosts/cli/start.ts', index: 'src-main/library/index.ts' },
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
}

export default defineConfig(({ mode }) => (mode === 'package' ? npmPackage : cli))
