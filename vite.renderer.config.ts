/**
 * The UI, the same files for the window (app://) and for the loopback server (http://). With `--mode report` the page of an
 * HTML report: the screens that make sense without a program behind them, in one file out/report/template.html, into
 * which the report service writes the sessions.
 */
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type UserConfig } from 'vite'
import { yamlModules } from './scripts/vite/yaml-modules.ts'
import { preloadFirstScreen } from './scripts/vite/preload.ts'
import { reportTemplate } from './scripts/vite/report-template.ts'

/** What every screen needs, and what the folder of one screen has for others. */
const shared = new RegExp(
  [
    // The editor's parts stay with the editor.
    /src-renderer[\\/](client|stores|ui[\\/](?!code|Code))/,
    /features[\\/](palette|[a-z-]+\.ts)/,
    /features[\\/](charts[\\/]([a-z-]*figures|use-chart)|edit[\\/]OpenInEditor|ladder[\\/]ladder-rows|sessions[\\/]session-list)/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

export const renderer: UserConfig = {
  root: 'src-renderer',
  base: '/',
  plugins: [vue(), yamlModules(), preloadFirstScreen(['src-renderer/app.ts', 'LadderScreen.vue'])],
  define: {
    __VUE_OPTIONS_API__: true,
    __VUE_PROD_DEVTOOLS__: false,
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: false,
  },
  build: {
    outDir: join(import.meta.dirname, 'out/renderer'),
    emptyOutDir: true,
    target: 'es2022',
    // A strict content security policy: nothing inline, nothing from data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: join(import.meta.dirname, 'src-renderer/index.html'),
      output: {
        codeSplitting: {
          groups: [
            // The entry needs it before, and without, the rest.
            { name: 'ahead', test: /src-renderer[\\/]ahead\.ts/, priority: 1 },
            { name: 'echarts', test: /node_modules[\\/](echarts|zrender)[\\/]/ },
            { name: 'codemirror', test: /node_modules[\\/](@codemirror|@lezer|@marijn)[\\/]/ },
            // What every screen needs, in three files in place of fifty: each file is a request of its own.
            {
              name: 'libraries',
              test: /node_modules[\\/](vue|@vue|vue-router|pinia|reka-ui|@floating-ui|@vueuse|zod|intl-messageformat|@formatjs)[\\/]/,
            },
            { name: 'domain', test: /src-main[\\/](domain|contract)[\\/]/ },
            { name: 'shared', test: shared },
            // A chart needs most of them at once.
            { name: 'charts', test: /src-renderer[\\/]charts[\\/]/ },
          ],
        },
      },
    },
  },
}

const report: UserConfig = {
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
}

export default defineConfig(({ mode }) => (mode === 'report' ? report : renderer))
