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
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/browser/**'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
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
