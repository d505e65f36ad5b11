/**
 * Builds the UI. The window (app://) and the loopback server (http://) use the same files. The mode
 * `report` builds the page of an HTML report in the single file out/report/template.html. This file
 * contains all screens that work without a running program. The report service inserts the sessions
 * into this file.
 */
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type UserConfig } from 'vite'
import { yamlModules } from './scripts/vite/yaml-modules.ts'
import { preloadFirstScreen } from './scripts/vite/preload.ts'
import { reportTemplate } from './scripts/vite/report-template.ts'

/** Matches code that every screen needs, and code in one screen's folder that other screens use. */
const shared = new RegExp(
  [
    // Exclude the editor's code, because it belongs in the editor's chunk.
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
    // The strict content security policy allows no inline content and no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: join(import.meta.dirname, 'src-renderer/index.html'),
      output: {
        codeSplitting: {
          groups: [
            // The entry needs this module before all other modules, so keep the module in a
            // separate file.
            { name: 'ahead', test: /src-renderer[\\/]ahead\.ts/, priority: 1 },
            { name: 'echarts', test: /node_modules[\\/](echarts|zrender)[\\/]/ },
            { name: 'codemirror', test: /node_modules[\\/](@codemirror|@lezer|@marijn)[\\/]/ },
            // Put the code that every screen needs in three files instead of fifty, because each
            // file is a separate request.
            {
              name: 'libraries',
              test: /node_modules[\\/](vue|@vue|vue-router|pinia|reka-ui|@floating-ui|@vueuse|zod|intl-messageformat|@formatjs)[\\/]/,
            },
            { name: 'domain', test: /src-main[\\/](domain|contract)[\\/]/ },
            { name: 'shared', test: shared },
            // Put these modules in one file, because every chart needs most of them.
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
