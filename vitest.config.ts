import vue from '@vitejs/plugin-vue'
import { configDefaults, defineConfig } from 'vitest/config'
import { assetPack } from './scripts/vite-asset-pack.ts'

const exclude = [
  ...configDefaults.exclude,
  'out/**',
  'dist/**',
  'test/captures/**',
  'test/fakes/**',
]

export default defineConfig({
  plugins: [vue(), assetPack({ root: import.meta.dirname, embed: false })],
  test: {
    globalSetup: 'test/setup.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts', 'src-renderer/**/*.test.ts'],
          exclude: [...exclude, 'test/browser/**', 'test/cli/**'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          // What needs the built programs: the UI in a browser, and the command line as a process.
          name: 'built',
          include: ['test/browser/**/*.test.ts', 'test/cli/**/*.test.ts'],
          exclude,
          globalSetup: 'test/setup-browser.ts',
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
