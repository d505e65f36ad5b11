/**
 * Builds that ship with the program, for a machine without nvcc: libraries whose kernels are emulated, for Linux on
 * x86-64. They have the keys of the build cache, so a changed source or header finds none. `npm run kernels -- ship`
 * writes them.
 *
 * A file `<key>.br` is a Brotli stream: one line of JSON, then the artifact.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { buildKey, KeptBuild, type BuildCache, type BuildInputs } from './build-cache'

/** The output of the compiler's `--version`. */
const versionFile = 'nvcc.txt'
export const shippedBuildFile = (inputs: BuildInputs): string => `${buildKey(inputs)}.br`

export interface ShippedBuilds {
  folder: string
  /** The version of the compiler that made them, as it reports it. */
  compiler: string
}

/** Whether builds ship for this platform, whose processor runs the host code in them. */
export const shippedPlatform = (): boolean => process.platform === 'linux' && process.arch === 'x64'

/** Null where there are none, or none for this platform. */
export async function openShippedBuilds(folder: string): Promise<ShippedBuilds | null> {
  if (!shippedPlatform()) return null
  const compiler = await readFile(join(folder, versionFile), 'utf8').catch(() => null)
  return compiler === null ? null : { folder, compiler }
}

export const packBuild = (kept: KeptBuild, artifact: Uint8Array): Uint8Array =>
  brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(kept)}\n`), artifact]))

function unpackBuild(packed: Uint8Array): { kept: KeptBuild; artifact: Uint8Array } {
  const bytes = brotliDecompressSync(packed)
  const end = bytes.indexOf('\n')
  return {
    kept: KeptBuild.parse(JSON.parse(bytes.subarray(0, end).toString('utf8'))),
    artifact: bytes.subarray(end + 1),
  }
}

/** The same cache, which takes what it lacks from the builds that ship. */
export const withShippedBuilds = (cache: BuildCache, { folder }: ShippedBuilds): BuildCache => ({
  ...cache,
  async slot(inputs) {
    const slot = await cache.slot(inputs)
    if (slot.kept) return slot
    const packed = await readFile(join(folder, shippedBuildFile(inputs))).catch(() => null)
    if (!packed) return slot
    const { kept, artifact } = unpackBuild(packed)
    await writeFile(slot.pending, artifact, { mode: 0o755 })
    await slot.keep(kept)
    return { ...slot, kept }
  },
})

export const writeCompilerVersion = (folder: string, version: string): Promise<void> =>
  writeFile(join(folder, versionFile), version)
