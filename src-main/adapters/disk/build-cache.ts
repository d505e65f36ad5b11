/**
 * Build results by content: what was compiled, with which flags, by which compiler. An entry's folder
 * also keeps the sources it was compiled from, because line information points there.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { diskError, makeFolder, pathExists } from './disk'
import { sharedCacheDir } from './paths'

export interface BuildInputs {
  /** Text by path; the compiler is run in a folder that holds them. */
  sources: ReadonlyMap<string, string>
  flags: readonly string[]
  /** What `nvcc --version` says: another compiler makes another artefact. */
  compiler: string
  /** File name of the artefact. */
  output: string
}

const KeptBuild = z.object({
  argv: z.array(z.string()),
  stdout: z.string(),
  stderr: z.string(),
  seconds: z.number(),
})
export type KeptBuild = z.infer<typeof KeptBuild>

export interface BuildSlot {
  /** Where to run the compiler: the sources are there. */
  sourceDir: string
  artefact: string
  /** Set when the artefact is there already. */
  kept: KeptBuild | null
  /** Path the compiler must write to; `keep` then gives it its name, so that a killed build leaves no artefact. */
  pending: string
  keep(build: KeptBuild): Promise<void>
  /** Removes what a compiler that failed has left. */
  discard(): Promise<void>
}

export interface BuildCache {
  slot(inputs: BuildInputs): Promise<BuildSlot>
  /** `nvcc --version`'s text, asked again only when the file behind the path has changed. */
  compilerVersion(path: string, ask: () => Promise<string>): Promise<string>
}

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

function buildKey({ sources, flags, compiler, output }: BuildInputs): string {
  const texts = [...sources].sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256(JSON.stringify([compiler, flags, output, texts])).slice(0, 32)
}

/** Writes beside and renames: a reader sees the old file or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await writeFile(temporary, text)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

async function readKept(path: string): Promise<KeptBuild | null> {
  try {
    return KeptBuild.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    // Absent, or cut off: then it is built again.
    return null
  }
}

/** What is kept in a cache that is only read; null where it has no such build. */
async function readSlot(root: string, inputs: BuildInputs): Promise<BuildSlot | null> {
  const folder = join(root, 'build', buildKey(inputs))
  const artefact = join(folder, inputs.output)
  const kept = (await pathExists(artefact)) ? await readKept(join(folder, 'build.json')) : null
  if (!kept) return null
  return {
    sourceDir: join(folder, 'src'),
    artefact,
    kept,
    pending: artefact,
    keep: () => Promise.reject(new Error('A shared cache is read-only.')),
    discard: () => Promise.resolve(),
  }
}

/** `shared` is a cache that is looked at first and never written. */
export function diskBuildCache(root: string, shared = sharedCacheDir()): BuildCache {
  return {
    async slot(inputs) {
      const known = shared === null ? null : await readSlot(shared, inputs)
      if (known) return known
      const folder = join(root, 'build', buildKey(inputs))
      const sourceDir = join(folder, 'src')
      const artefact = join(folder, inputs.output)
      const keptPath = join(folder, 'build.json')
      const pending = `${artefact}.${randomBytes(4).toString('hex')}`
      try {
        const kept = (await pathExists(artefact)) ? await readKept(keptPath) : null
        if (!kept)
          for (const [path, text] of inputs.sources) {
            await makeFolder(dirname(join(sourceDir, path)))
            await replaceFile(join(sourceDir, path), text)
          }
        return {
          sourceDir,
          artefact,
          kept,
          pending,
          async keep(build) {
            await rename(pending, artefact)
            // Without this file it is compiled again next time, which is no reason to fail now.
            await replaceFile(keptPath, JSON.stringify(build)).catch(() => undefined)
          },
          discard: () => rm(pending, { force: true }),
        }
      } catch (error) {
        throw diskError(error, folder, 'write', 'cache')
      }
    },

    async compilerVersion(path, ask) {
      const file = join(root, 'compilers.json')
      const real = await realpath(path)
      const { mtimeMs, size } = await stat(real)
      const key = `${real}:${mtimeMs}:${size}`
      const known = await readFile(file, 'utf8')
        .then((text) => z.record(z.string(), z.string()).parse(JSON.parse(text)))
        .catch(() => ({}) as Record<string, string>)
      const cached = known[key]
      if (cached !== undefined) return cached
      const version = await ask()
      try {
        await makeFolder(root)
        await replaceFile(file, JSON.stringify({ ...known, [key]: version }))
      } catch (error) {
        throw diskError(error, file, 'write', 'cache')
      }
      return version
    },
  }
}

/**
 * A source's name in the session, from the path that the compiler recorded for it: sources are compiled
 * inside the cache. Of a file from elsewhere its bare name; where it lay is nobody's affair.
 */
export const sourceName = (path: string): string =>
  /\/build\/[0-9a-f]{32}\/src\/(.+)$/.exec(path)?.[1] ?? path.split(/[\\/]/).pop()!

/** For a replay: nothing is there and nothing is kept, so that each build is asked of the recording. */
export const emptyBuildCache: BuildCache = {
  slot: ({ output }) =>
    Promise.resolve({
      sourceDir: '',
      artefact: output,
      kept: null,
      pending: output,
      keep: () => Promise.resolve(),
      discard: () => Promise.resolve(),
    }),
  compilerVersion: (_path, ask) => ask(),
}
