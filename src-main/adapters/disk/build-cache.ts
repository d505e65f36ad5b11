/**
 * Caches build results. The cache key is a hash of the sources, the flags, and the compiler
 * version.
 *
 * A cache entry also stores its sources, because line information refers to them.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  copyFile,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { diskError, makeFolder, pathExists, replaceFile } from './disk'
import { jsonFile } from './json-file'
import { sharedCacheDir } from './paths'

export interface BuildInputs {
  /** Source contents by path. The compiler runs in a folder that contains the sources. */
  sources: ReadonlyMap<string, string | Uint8Array>
  flags: readonly string[]
  /** Output of `nvcc --version`. A different compiler version produces a different artifact. */
  compiler: string
  /** The artifact's file name. */
  output: string
}

export const KeptBuild = z.object({
  argv: z.array(z.string()),
  stdout: z.string(),
  stderr: z.string(),
  seconds: z.number(),
})
export type KeptBuild = z.infer<typeof KeptBuild>

/**
 * Name of the folder that contains an entry's sources, next to its artifact. The header
 * cuda-kernels/python/kl_rung.h contains the same folder name.
 */
const sourcesOf = 'src'

interface BuildSlot {
  /** Folder that contains the sources and in which the compiler runs. */
  sourceDir: string
  artifact: string
  /** Cached build, or null if there is no artifact yet. */
  kept: KeptBuild | null
  /**
   * Path to which the compiler must write. `keep` renames the output file afterward, so that a
   * killed build leaves no artifact.
   */
  pending: string
  keep(build: KeptBuild): Promise<void>
  /** Removes the files that a failed compiler run left behind. */
  discard(): Promise<void>
}

/**
 * Copies an artifact to a new folder and returns the copy's path. The dynamic linker identifies a
 * library by its file, so the copy and the original can both be loaded. The copy's folder has a
 * link to the sources, because a Python rung runs its script from there.
 */
export async function copyBuilt(artifact: string, folder: string): Promise<string> {
  const copy = join(folder, basename(artifact))
  await mkdir(folder)
  await copyFile(artifact, copy)
  await symlink(join(dirname(artifact), sourcesOf), join(folder, sourcesOf))
  return copy
}

export interface BuildCache {
  /** Folder that contains the shipped builds, for machines without nvcc. */
  readonly shippedFolder?: string
  slot(inputs: BuildInputs): Promise<BuildSlot>
  /**
   * Returns the output of `nvcc --version`. nvcc is run again only if the file at the path has
   * changed.
   */
  compilerVersion(path: string, ask: () => Promise<string>): Promise<string>
}

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

export function buildKey({ sources, flags, compiler, output }: BuildInputs): string {
  const texts = [...sources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => [path, typeof content === 'string' ? content : [sha256(content)]])
  return sha256(JSON.stringify([compiler, flags, output, texts])).slice(0, 32)
}

/**
 * A fixed modification time for sources. Line information contains the modification time, so a
 * fixed value makes builds reproducible.
 */
const sourceTime = new Date('1980-01-01')

/**
 * Writes the sources to a new folder, which other processes see only when it is complete. If a
 * failed build left the folder behind, replaces its files one at a time.
 */
async function writeSources(folder: string, sources: BuildInputs['sources']): Promise<void> {
  const write = async (
    into: string,
    put: (path: string, content: string | Uint8Array) => Promise<void>,
  ): Promise<void> => {
    for (const below of new Set([...sources.keys()].map(dirname)))
      await mkdir(join(into, below), { recursive: true, mode: 0o700 })
    for (const [path, text] of sources) {
      await put(join(into, path), text)
      await utimes(join(into, path), sourceTime, sourceTime)
    }
  }
  if (await pathExists(folder)) return write(folder, replaceFile)
  await makeFolder(dirname(folder))
  const staged = `${folder}.${randomBytes(4).toString('hex')}`
  try {
    await write(staged, writeFile)
    await rename(staged, folder)
  } catch (error) {
    await rm(staged, { recursive: true, force: true }).catch(() => undefined)
    // Ignore the error if another process has already built the same content.
    if (!(await pathExists(folder))) throw error
  }
}

const keptName = 'build.json'
const KeptEntry = KeptBuild.extend({ artifact: z.string() })

const hashOf = async (artifact: string): Promise<string> => sha256(await readFile(artifact))

/**
 * Returns an entry's cached build. Returns null if the build or its artifact is missing or damaged,
 * so that it is built again.
 */
async function readKept(folder: string, artifact: string): Promise<KeptBuild | null> {
  try {
    const text = await readFile(join(folder, keptName), 'utf8')
    const { artifact: hash, ...kept } = KeptEntry.parse(JSON.parse(text))
    return (await hashOf(artifact)) === hash ? kept : null
  } catch {
    return null
  }
}

/** Returns a build from a read-only cache, or null if the cache does not contain it. */
async function readSlot(root: string, inputs: BuildInputs): Promise<BuildSlot | null> {
  const folder = join(root, 'build', buildKey(inputs))
  const artifact = join(folder, inputs.output)
  const kept = await readKept(folder, artifact)
  if (!kept) return null
  return {
    sourceDir: join(folder, sourcesOf),
    artifact,
    kept,
    pending: artifact,
    keep: () => Promise.reject(new Error('A shared cache is read-only.')),
    discard: () => Promise.resolve(),
  }
}

/** Returns a build cache on disk. `shared` is a read-only cache that is searched first. */
export function diskBuildCache(root: string, shared = sharedCacheDir()): BuildCache {
  return {
    async slot(inputs) {
      const known = shared === null ? null : await readSlot(shared, inputs)
      if (known) return known
      const folder = join(root, 'build', buildKey(inputs))
      const sourceDir = join(folder, sourcesOf)
      const artifact = join(folder, inputs.output)
      const pending = `${artifact}.${randomBytes(4).toString('hex')}`
      try {
        const kept = await readKept(folder, artifact)
        if (!kept) await writeSources(sourceDir, inputs.sources)
        return {
          sourceDir,
          artifact,
          kept,
          pending,
          async keep(build) {
            const entry = { ...build, artifact: await hashOf(pending) }
            await rename(pending, artifact)
            // Ignore write errors. If the record of the build is missing, the only cost is
            // compiling the source again next time.
            await replaceFile(join(folder, keptName), JSON.stringify(entry)).catch(() => undefined)
          },
          discard: () => rm(pending, { force: true }),
        }
      } catch (error) {
        throw diskError(error, folder, 'write', 'cache')
      }
    },

    async compilerVersion(path, ask) {
      const versions = jsonFile(
        join(root, 'compilers.json'),
        z.record(z.string(), z.string()),
        {},
        'cache',
      )
      const real = await realpath(path)
      const { mtimeMs, size } = await stat(real)
      const key = `${real}:${mtimeMs}:${size}`
      const cached = (await versions.read())[key]
      if (cached !== undefined) return cached
      const version = await ask()
      await versions.change((known) => ({ ...known, [key]: version }))
      return version
    },
  }
}

/**
 * Copies an already compiled library into the cache, so that later changes to the original have no
 * effect. Returns the copy's path.
 */
export async function keepLibrary(cache: BuildCache, library: Uint8Array): Promise<string> {
  const slot = await cache.slot({
    sources: new Map([['rung.so', library]]),
    flags: [],
    compiler: 'none',
    output: 'rung.so',
  })
  if (!slot.kept) {
    await copyFile(join(slot.sourceDir, 'rung.so'), slot.pending)
    await slot.keep({ argv: [], stdout: '', stderr: '', seconds: 0 })
  }
  return slot.artifact
}

/**
 * Returns a source's name in the session. For a file in the cache, the name is the path below the
 * entry's source folder. Other files keep only their base name, because their location is private.
 */
export const sourceName = (path: string): string =>
  /\/build\/[0-9a-f]{32}\/src\/(.+)$/.exec(path)?.[1] ?? path.split(/[\\/]/).pop()!

/**
 * Build cache for a replay. The cache is always empty and read-only, so every build comes from the
 * recording.
 */
export const emptyBuildCache: BuildCache = {
  slot: ({ output }) =>
    Promise.resolve({
      sourceDir: '',
      artifact: output,
      kept: null,
      pending: output,
      keep: () => Promise.resolve(),
      discard: () => Promise.resolve(),
    }),
  compilerVersion: (_path, ask) => ask(),
}
