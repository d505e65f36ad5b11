/** Entry of the desktop program: what belongs together is put together here, and nothing more. */
import { fileURLToPath } from 'node:url'
import { setUp } from '../../adapters/machine/machine'
import { createCore } from '../../services/core'
import { startElectronHost } from './host'
import { printPdf } from './window'

startElectronHost({
  setUp,
  createCore: (setup) => createCore(setup, { host: 'electron', printPdf }),
  // A sandboxed preload is loaded as CommonJS, whatever the rest of the program is.
  preloadPath: fileURLToPath(new URL('../preload/index.cjs', import.meta.url)),
})
