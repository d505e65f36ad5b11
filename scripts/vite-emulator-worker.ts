/**
 * The virtual module `virtual:emulator-worker`: the emulator's worker thread, bundled into one script, as text. So the
 * command-line program stays one file, and tests and the desktop program start the very same worker.
 */
import { join } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'

const moduleId = 'virtual:emulator-worker'
const entry = 'src-main/adapters/emulator/worker.ts'

async function bundled(root: string): Promise<string> {
  const made = (await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      target: 'node20',
      minify: false,
      write: false,
      rolldownOptions: { output: { format: 'cjs', codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput
  return made.output[0].code
}

export function emulatorWorker(options: { root: string }): Plugin {
  return {
    name: 'kernel-ladder:emulator-worker',
    resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
    async load(id) {
      if (id !== `\0${moduleId}`) return undefined
      this.addWatchFile(join(options.root, entry))
      return `export default ${JSON.stringify(await bundled(options.root))}`
    },
  }
}
