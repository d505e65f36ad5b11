/** What the npm package runs, in the files that its programs share, beside the files that they read: dist/package/lib. */
import { defineConfig } from 'vite'
import { assetPack, emulatorWorker } from './scripts/vite-plugins.ts'

export default defineConfig({
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
})
