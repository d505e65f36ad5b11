/**
 * Provides the builds that ship with the program, for machines without nvcc. Each build is a
 * library whose kernels are emulated and whose host code runs locally.
 *
 * The builds use the same keys as the build cache, so a changed source or header has no shipped
 * build.
 * `npm run kernels -- ship` writes the builds.
 *
 * Each platform's file is a Brotli stream. The stream contains an `Index` as one line of JSON,
 * followed by the artifacts in the same order.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { z } from 'zod'
import { buildKey, KeptBuild, type BuildCache } from './build-cache'

const Index = z.object({
  /** Output of the compiler's `--version` option. */
  compiler: z.string(),
  builds: z.array(z.object({ key: z.string(), bytes: z.number().int(), kept: KeptBuild })),
})

export interface ShippedBuild {
  kept: KeptBuild
  artifact: Uint8Array
}

export interface ShippedBuilds {
  compiler: string
  byKey: ReadonlyMap<string, ShippedBuild>
}

const platform = `${process.platform}-${process.arch}`

/** Whether builds are shipped for this platform. */
export const shippedPlatform = (): boolean => platform === 'linux-x64'

const fileIn = (folder: string): string => join(folder, `${platform}.br`)

export function packBuilds({ compiler, byKey }: ShippedBuilds): Uint8Array {
  // Builds of the same file with different parameters compress best if they are adjacent.
  const sorted = [...byKey].sort(([, a], [, b]) =>
    a.kept.argv.join() < b.kept.argv.join() ? -1 : 1,
  )
  const builds = sorted.map(([key, { kept, artifact }]) => ({ key, bytes: artifact.length, kept }))
  const index = Buffer.from(`${JSON.stringify({ compiler, builds })}\n`)
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  return brotliCompressSync(Buffer.concat([index, ...sorted.map(([, one]) => one.artifact)]), {
    params,
  })
}

function unpackBuilds(packed: Uint8Array): ShippedBuilds {
  const bytes = brotliDecompressSync(packed)
  let at = bytes.indexOf('\n') + 1
  const { compiler, builds } = Index.parse(JSON.parse(bytes.subarray(0, at).toString('utf8')))
  const byKey = new Map<string, ShippedBuild>()
  for (const { key, bytes: length, kept } of builds) {
    byKey.set(key, { kept, artifact: bytes.subarray(at, at + length) })
    at += length
  }
  return { compiler, byKey }
}

const opened = new Map<string, Promise<ShippedBuilds | null>>()

/**
 * Opens the builds in a folder and caches them in memory. Returns null if the folder has no builds
 * for this platform.
 */
export function openShippedBuilds(folder: string): Promise<ShippedBuilds | null> {
  const file = fileIn(folder)
  const known = opened.get(file) ?? readFile(file).then(unpackBuilds, () => null)
  opened.set(file, known)
  return known
}

export const writeShippedBuilds = (folder: string, packed: Uint8Array): Promise<void> =>
  writeFile(fileIn(folder), packed)

/** Returns a cache that falls back to the shipped builds. */
export const withShippedBuilds = (cache: BuildCache, { byKey }: ShippedBuilds): BuildCache => ({
  ...cache,
  async slot(inputs) {
    const slot = await cache.slot(inputs)
    const found = slot.kept ? undefined : byKey.get(buildKey(inputs))
    if (!found) return slot
    await writeFile(slot.pending, found.artifact, { mode: 0o755 })
    await slot.keep(found.kept)
    return { ...slot, kept: found.kept }
  },
})
