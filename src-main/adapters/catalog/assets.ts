/**
 * Locates the files that the program needs in addition to its code: kernels, recordings, the built
 * UI, and the report template.
 *
 * The files are in the checkout or in the packaged application's resources. The one-file program
 * contains compressed copies and unpacks them once into the cache.
 */
import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import pack from 'virtual:kernel-ladder-assets'
import { KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError, makeFolder, pathExists } from '../disk/disk'
import { fromAscii85 } from './ascii85'
import { cacheDir, sharedCacheDir } from '../disk/paths'

export interface Assets {
  kernelsDir: string
  recordingsDir: string
  /** Folder that contains the ladder folder templates. */
  templatesDir: string
  /** Folder that contains the GPU parameter files for the timing model. */
  gpusDir: string
  /**
   * Folder that contains the prebuilt shipped rungs. The one-file program does not contain this
   * folder.
   */
  buildsDir: string
  rendererDir: string
  /** Path of the HTML report template. */
  reportTemplate: string
  /**
   * Electron entry point of the desktop program. The one-file program does not contain this file.
   */
  desktopMain: string
  /** Path of the AppArmor profile that lets Electron create its sandbox. */
  appArmorProfile: string
}

const below = (root: string): Assets => ({
  kernelsDir: join(root, 'cuda-kernels'),
  recordingsDir: join(root, 'resources', 'recordings'),
  templatesDir: join(root, 'resources', 'templates'),
  gpusDir: join(root, 'resources', 'gpus'),
  buildsDir: join(root, 'resources', 'builds'),
  rendererDir: join(root, 'out', 'renderer'),
  reportTemplate: join(root, 'out', 'report', 'template.html'),
  desktopMain: join(root, 'out', 'main', 'index.js'),
  appArmorProfile: join(root, 'resources', 'apparmor', 'kernel-ladder'),
})

const holdsAssets = (root: string): boolean => existsSync(join(root, 'cuda-kernels', 'include'))

/**
 * Returns the nearest parent folder that contains the kernels, which is the checkout or the
 * packaged resources.
 */
function checkoutRoot(): string | null {
  const packaged = (process as { resourcesPath?: string }).resourcesPath
  if (packaged && holdsAssets(packaged)) return packaged
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (holdsAssets(folder)) return folder
    if (folder === dirname(folder)) return null
  }
}

/**
 * Recompresses a recording with a fast compression setting. Recordings are recompressed only once,
 * when the program unpacks its files.
 */
const packAgain = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })

/**
 * Yields the files in the archive. The build script scripts/vite/assets.ts appends the archive to
 * this program as its last line.
 */
async function* unpack(): AsyncGenerator<{ path: string; bytes: Buffer }> {
  const program = (await readFile(import.meta.filename, 'latin1')).trimEnd()
  const packed = program.slice(program.lastIndexOf('\n') + '\n//'.length)
  const archive = brotliDecompressSync(fromAscii85(packed), {
    params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 },
  })
  const indexLength = archive.readUInt32LE(0)
  const index = JSON.parse(archive.subarray(4, 4 + indexLength).toString('utf8')) as {
    path: string
    size: number
    brotli: boolean
  }[]
  let offset = 4 + indexLength
  for (const { path, size, brotli } of index) {
    const bytes = archive.subarray(offset, offset + size)
    yield { path, bytes: brotli ? packAgain(bytes) : bytes }
    offset += size
  }
}

async function unpackInto(folder: string): Promise<void> {
  const staging = `${folder}.${randomBytes(4).toString('hex')}`
  try {
    for await (const { path, bytes } of unpack()) {
      const target = resolve(staging, path)
      if (!target.startsWith(staging + sep)) continue
      await makeFolder(dirname(target))
      await writeFile(target, bytes)
    }
    await rename(staging, folder).catch(async (error: unknown) => {
      // Ignore the error if another process has already unpacked the same content.
      if (!(await pathExists(folder))) throw error
    })
  } catch (error) {
    throw diskError(error, folder, 'unpack')
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

let found: Promise<Assets> | undefined

async function locate(): Promise<Assets> {
  if (pack) {
    // In a checkout, read the current files, so that a new file adds a rung immediately.
    const root = checkoutRoot()
    if (root) return below(root)
    const name = join('assets', pack.hash.slice(0, 16))
    const shared = sharedCacheDir()
    if (shared !== null && (await pathExists(join(shared, name)))) return below(join(shared, name))
    const folder = join(cacheDir(), name)
    if (!(await pathExists(folder))) await unpackInto(folder)
    return below(folder)
  }
  const root = checkoutRoot()
  if (root) return below(root)
  throw new KernelLadderError('missing', message('files.noKernels'), message('files.useCheckout'))
}

/** Returns the location of the program's files. The files are located only once. */
export const assets = (): Promise<Assets> => (found ??= locate())
