/**
 * Builds the desktop program. All modules except Electron and Node's own modules are bundled, so
 * that the packaged program needs no node_modules.
 */
import { defineConfig } from 'electron-vite'
import { assetPack } from './scripts/vite/assets.ts'
import { renderer } from './vite.renderer.config.ts'
import { emulatorWorker } from './scripts/vite/emulator-worker.ts'

// scripts/lib/build.mjs builds the UI separately, so that a change in src-main does not rebuild the
// UI.
const withoutRenderer = process.env['KERNEL_LADDER_BUILD'] === 'without-renderer'

export default defineConfig({
  main: {
    plugins: [
      assetPack({ root: import.meta.dirname, embed: false }),
      emulatorWorker({ root: import.meta.dirname }),
    ],
    build: {
      externalizeDeps: false,
      outDir: 'out/main',
      rolldownOptions: {
        input: { index: 'src-main/hosts/electron/main.ts' },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      externalizeDeps: false,
      outDir: 'out/preload',
      rolldownOptions: {
        input: { index: 'src-main/hosts/electron/preload.ts' },
        // A sandboxed preload script must be a single CommonJS file.
        output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      },
    },
  },
  ...(withoutRenderer ? {} : { renderer }),
})
