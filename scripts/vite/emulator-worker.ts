/**
 * Provides the virtual module `virtual:emulator-worker`, which is the emulator's worker thread
 * bundled into one compressed script.
 *
 * The script is decompressed on first use. With this module, the command-line program stays a
 * single file, and tests and the desktop program start the same worker. A function returns the
 * script's text, because a bundler would inline a constant at each use.
 */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin, type Rolldown } from 'vite'

const workerId = 'virtual:emulator-worker'

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
      rolldownOptions: {
        output: {
          format: 'cjs',
          codeSplitting: false,
          // Keep function names for stack traces.
          minify: { compress: false, mangle: false, codegen: true },
        },
      },
    },
  })) as Rolldown.RolldownOutput
  return made.output[0].code
}

export function emulatorWorker(options: { root: string }): Plugin {
  return {
    name: 'kernel-ladder:emulator-worker',
    resolveId: (id) => (id === workerId ? `\0${workerId}` : undefined),
    async load(id) {
      if (id !== `\0${workerId}`) return undefined
      this.addWatchFile(join(options.root, entry))
      const packed = gzipSync(await bundled(options.root), { level: 9 }).toString('base64')
      return [
        `import { gunzipSync } from 'node:zlib'`,
        `let code`,
        `export default () => (code ??= gunzipSync(Buffer.from('${packed}', 'base64')).toString('utf8'))`,
      ].join('\n')
    },
  }
}
