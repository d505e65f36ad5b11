// @ts-check
/** Finds Electron for the desktop program, and downloads it if necessary. */
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { runChild } from './child.mjs'
import { toolEnv, say, root } from './project.mjs'

/**
 * Returns whether to download Electron to open a window. A window needs a display and a working
 * sandbox for this user. If the user requested a port, no window is opened. If no window can be
 * opened, `kernel-ladder app` explains why.
 * @param {{ platform: string, env: NodeJS.ProcessEnv, uid?: number | undefined, args: readonly
 * string[] }} here
 */
export const mayOpenWindow = ({ platform, env, uid, args }) =>
  !args.some((arg) => /^(-p|--port|--session)(=|$)/.test(arg)) &&
  (platform !== 'linux' || (uid !== 0 && Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])))

/**
 * @param {string} folder of the package `electron`
 * @returns {string | undefined} path of the executable, if it has been downloaded
 */
export function electronPath(folder) {
  try {
    const name = readFileSync(join(folder, 'path.txt'), 'utf8')
    const file = join(process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(folder, 'dist'), name)
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/**
 * Milliseconds without data after which a download is canceled. Over a slow connection, a download
 * takes minutes.
 */
const silenceMs = 60_000
const sayEveryMs = 5000

/**
 * Returns a downloader for @electron/get that reports progress and stops when no more data arrives.
 * @param {{ silenceMs?: number, sayEveryMs?: number, say?: (line: string) => void, fetch?: typeof fetch }}
 * [options]
 */
export const downloader = (options = {}) => ({
  /** @param {string} url @param {string} file */
  async download(url, file) {
    const patience = options.silenceMs ?? silenceMs
    const tell = options.say ?? say
    const silent = new AbortController()
    const stop = () =>
      silent.abort(new Error(`nothing arrived for ${Math.round(patience / 1000)} s`))
    mkdirSync(dirname(file), { recursive: true })
    let timer = setTimeout(stop, patience)
    try {
      const response = await (options.fetch ?? fetch)(url, { signal: silent.signal })
      if (!response.ok || response.body === null)
        throw new Error(`the server answered ${response.status} ${response.statusText}`)
      const total = Number(response.headers.get('content-length') ?? 0)
      const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(0)
      let [received, saidAt] = [0, Date.now()]
      await pipeline(
        Readable.fromWeb(/** @type {any} */ (response.body)),
        async function* (/** @type {AsyncIterable<Uint8Array>} */ source) {
          for await (const chunk of source) {
            clearTimeout(timer)
            timer = setTimeout(stop, patience)
            received += chunk.length
            if (Date.now() - saidAt >= (options.sayEveryMs ?? sayEveryMs)) {
              saidAt = Date.now()
              const of = total > 0 ? ` of ${megabytes(total)}` : ''
              tell(`  ${megabytes(received)}${of} MB`)
            }
            yield chunk
          }
        },
        createWriteStream(file),
        { signal: silent.signal },
      )
    } catch (error) {
      throw silent.signal.aborted ? silent.signal.reason : error
    } finally {
      clearTimeout(timer)
    }
  },
})

/**
 * Downloads the executable, which the npm package does not include. The download server can be slow
 * or unreachable.
 * @returns {Promise<string | null>} an error message as a sentence, or null
 */
export async function obtainElectron() {
  const folder = join(root, 'node_modules/electron')
  if (electronPath(folder) !== undefined) return null
  say('Downloading Electron, about 115 MB (once)…')
  try {
    const require = createRequire(join(folder, 'install.js'))
    const { downloadArtifact } = await import(require.resolve('@electron/get'))
    await downloadArtifact({
      version: require('./package.json').version,
      artifactName: 'electron',
      checksums: require('./checksums.json'),
      platform: process.platform,
      arch: process.arch,
      downloader: downloader(),
    })
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const why = cause instanceof Error ? cause.message : String(cause)
    return `Electron could not be downloaded: ${why}.`
  }
  // The installer finds the archive in the cache and unpacks it.
  const { code, output } = await runChild(process.execPath, [join(folder, 'install.js')], {
    output: 'kept',
    env: toolEnv(),
  })
  if (code === 0 && electronPath(folder) !== undefined) return null
  return `Electron could not be unpacked: ${output.trim().split('\n').at(-1) || `exit code ${code}`}.`
}
