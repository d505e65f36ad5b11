/**
 * The page of an HTML report: the screens that make sense without a program behind them, in one file
 * out/report/template.html, into which the report service writes the sessions.
 */
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import { reportTemplate, yamlModules } from './scripts/vite-plugins.ts'
import renderer from './vite.renderer.config.ts'

export default defineConfig({
  publicDir: false,
  plugins: [vue(), yamlModules(), reportTemplate()],
  define: renderer.define,
  build: {
    outDir: join(import.meta.dirname, 'out/report'),
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 4000,
    rolldownOptions: {
      input: 'src-renderer/report.ts',
      output: { format: 'iife', codeSplitting: false, entryFileNames: 'report.js' },
    },
  },
})
