/** The command line program as one file that needs no node_modules: dist/cli/kernel-ladder.mjs. */
import { defineConfig } from 'vite'
import { assetPack, emulatorWorker } from './scripts/vite-plugins.ts'

export default defineConfig({
  publicDir: false,
  plugins: [
    assetPack({ root: import.meta.dirname, embed: true }),
    emulatorWorker({ root: import.meta.dirname }),
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
})
