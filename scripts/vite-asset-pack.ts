/**
 * The virtual module `virtual:kernel-ladder-assets`: the files that the command-line program needs besides
 * its code, so that a single copied file can run ladders, replay recordings and serve the UI.
 *
 * Its default export is `null` (tests, the desktop build: files are read in place) or
 * `{ hash, base64 }`. `base64` is a Brotli stream of an archive in this format:
 *
 *     4 bytes   length of the index in bytes, unsigned, little endian
 *     index     JSON in UTF-8: [{ "path": "cuda-kernels/gemm/01_naive.cu", "size": 1234 }, …]
 *     contents  every file's bytes, concatenated in index order
 *
 * `path` is relative to the repository root, with `/`; paths are sorted. `hash` is the SHA-256 of the
 * archive before compression, in hex: equal content has an equal hash, so it can name the folder that the
 * archive is unpacked into.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Plugin } from 'vite'
import { packedFolders } from './lib/shipped-files.mjs'

const moduleId = 'virtual:kernel-ladder-assets'

/** Profiler reports are large, and their numbers are already in the recording's raw output. */
const isLeftOut = (path: string): boolean => /\.(ncu-rep|map)$|(^|\/)\.[^/]*$/.test(path)

/** Recordings repeat each other beyond gzip's window; this window spans them all. */
const compression = {
  [constants.BROTLI_PARAM_QUALITY]: 9,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
}

export interface AssetPack {
  hash: string
  base64: string
}

export interface PackedFile {
  path: string
  bytes: Uint8Array
}

export function collectAssets(
  root: string,
  folders: readonly string[] = packedFolders,
): PackedFile[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(root.length + 1)
            .replaceAll('\\', '/'),
        ),
    )
    .filter((path) => !isLeftOut(path))
    .sort()
    .map((path) => ({ path, bytes: readFileSync(join(root, path)) }))
}

export function packAssets(files: readonly PackedFile[]): AssetPack {
  const index = Buffer.from(
    JSON.stringify(files.map(({ path, bytes }) => ({ path, size: bytes.length }))),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(index.length)
  const archive = Buffer.concat([length, index, ...files.map(({ bytes }) => bytes)])
  return {
    hash: createHash('sha256').update(archive).digest('hex'),
    base64: brotliCompressSync(archive, { params: compression }).toString('base64'),
  }
}

export function assetPack(options: { root: string; embed: boolean }): Plugin {
  return {
    name: 'kernel-ladder:asset-pack',
    resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
    load(id) {
      if (id !== `\0${moduleId}`) return undefined
      if (!options.embed) return 'export default null'
      if (!existsSync(join(options.root, 'out/renderer/index.html')))
        this.warn('The UI has not been built, so the program will not be able to serve it.')
      const { hash, base64 } = packAssets(collectAssets(options.root))
      return `export default { hash: '${hash}', base64: '${base64}' }`
    },
  }
}
