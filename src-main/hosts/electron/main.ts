/** The entry point of the desktop program, which only connects the other modules. */
import { fileURLToPath } from 'node:url'
import { createCore } from '../../services/app/core'
import { startElectronHost } from './host'
import { setUp } from '../../adapters/machine/local-machine'
import { printPdf } from './print-pdf'

startElectronHost({
  setUp,
  createCore: (setup) => createCore(setup, { host: 'electron', printPdf }),
  // Electron always loads a sandboxed preload script as CommonJS.
  preloadPath: fileURLToPath(new URL('../preload/index.cjs', import.meta.url)),
})
