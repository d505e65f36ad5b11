/**
 * Provides the virtual module `virtual:kernel-ladder-assets`. The module contains the files that
 * the command-line program needs besides its code.
 *
 * With the packed files, a single copied program can run ladders, replay recordings and serve the
 * UI.
 *
 * For tests and the desktop build, the default export is `null`, because they read files in place.
 * In the one-file program, the default export is `{ hash }`. The last line of the program is a
 * comment with the archive. JavaScript engines skip the comment. The comment consists of `//` and
 * a Brotli stream with a large window, encoded in Ascii85. The archive has three parts:
 *
 * - the length of the index in bytes, as an unsigned, little-endian number of 4 bytes
 * - the index, as JSON in UTF-8: [{ "path": "cuda-kernels/gemm/01_naive.cu", "size": 1234 }, …]
 * - the bytes of all files, concatenated in index order
 *
 * `path` is relative to the repository root, with `/` as the separator. Files are sorted by
 * extension and path, because similar files compress better side by side. `hash` is the SHA-256 of
 * the archive before compression, in hexadecimal. The archive is unpacked into a folder named after
 * the hash, because equal contents have equal hashes.
 */
import { extname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { type Plugin } from 'vite'
import { toAscii85 } from '../../src-main/adapters/catalog/ascii85'
import { packedFolders } from '../lib/package-files.mjs'

const moduleId = 'virtual:kernel-ladder-assets'

/**
 * Omit profiler reports, because they are large and the recording's raw output contains their
 * numbers. Omit READMEs, because they describe the folders of the repository.
 */
const isLeftOut = (path: string): boolean =>
  /\.(ncu-rep|map)$|(^|\/)\.[^/]*$|^(resources|cuda-kernels)(\/[^/]+)?\/README\.md$/.test(path)

/**
 * Recorded sessions have much content in common, and so do the two builds of the UI. A
 * window of 64 MiB covers the whole archive.
 */
const compression = {
  [constants.BROTLI_PARAM_QUALITY]: 9,
  [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
  [constants.BROTLI_PARAM_LGWIN]: 26,
  // With this block size, the archive is a third of a percent smaller than with the default.
  [constants.BROTLI_PARAM_LGBLOCK]: 20,
}

export interface AssetPack {
  hash: string
  text: string
}

export interface PackedFile {
  path: string
  /** Content of the file, after decompression if the file is a Brotli stream. */
  bytes: Uint8Array
  brotli: boolean
}

function readPacked(root: string, path: string): PackedFile {
  const bytes = readFileSync(join(root, path))
  const brotli = path.endsWith('.br')
  return { path, bytes: brotli ? brotliDecompressSync(bytes) : bytes, brotli }
}

const sortKey = (path: string): string => `${extname(path)} ${path}`

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
    .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    .map((path) => readPacked(root, path))
}

export function packAssets(files: readonly PackedFile[]): AssetPack {
  const index = Buffer.from(
    JSON.stringify(files.map(({ path, bytes, brotli }) => ({ path, size: bytes.length, brotli }))),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(index.length)
  const archive = Buffer.concat([length, index, ...files.map(({ bytes }) => bytes)])
  return {
    hash: createHash('sha256').update(archive).digest('hex'),
    text: toAscii85(brotliCompressSync(archive, { params: compression })),
  }
}

export function assetPack(options: { root: string; embed: boolean }): Plugin {
  let lastLine = ''
  return {
    name: 'kernel-ladder:asset-pack',
    enforce: 'post',
    resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
    load(id) {
      if (id !== `\0${moduleId}`) return undefined
      if (!options.embed) return 'export default null'
      if (!existsSync(join(options.root, 'out/renderer/index.html')))
        this.warn('The UI has not been built, so the program will not be able to serve it.')
      const { hash, text } = packAssets(collectAssets(options.root))
      lastLine = `\n//${text}\n`
      return `export default { hash: '${hash}' }`
    },
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && chunk.isEntry) chunk.code += lastLine
    },
  }
}
