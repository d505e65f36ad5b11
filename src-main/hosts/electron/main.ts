/** Entry of the desktop program: what belongs together is put together here, and nothing more. */
import { fileURLToPath } from 'node:url'
import { createCore } from '../../services/app/core'
import { startElectronHost } from './host'
import { setUp } from '../../adapters/machine/local-machine'
import { printPdf } from './print-pdf'

startElectronHost({
  setUp,
  createCore: (setup) => createCore(setup, { host: 'electron', printPdf }),
  // A sandboxed preload is loaded as CommonJS, whatever the rest of the program is.
  preloadPath: fileURLToPath(new URL('../preload/index.cjs', import.meta.url)),
})
