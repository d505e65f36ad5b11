/**
 * Replays stored output from a real nvcc for built-in code. The output is stored by content hash in
 * test/captures/nvcc. The same source, headers, flags, and compiler version give the same output,
 * so no code is compiled twice. Code without stored output is compiled if nvcc is available, and
 * its build is cached in .cache until the code changes.
 *
 * A file of stored outputs belongs to one test file. After changing kernels or flags, regenerate
 * the stored outputs with the same nvcc version:
 *
 *     KERNEL_LADDER_KEEP=1 npx vitest run --project=unit <that test file>
 *
 * With `artifacts`, the builds and the probe's output for their launches are also stored. The
 * builds can then be inspected and run without an nvcc. Without `artifacts`, the probe runs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { TestContext } from 'vitest'
import { diskBuildCache, sha256, type BuildCache } from '../src-main/adapters/disk/build-cache'
import { readSharedFiles } from '../src-main/adapters/catalog/catalog'
import { type HostMachine } from '../src-main/adapters/machine/machine'
import { findTool, liveToolbox } from '../src-main/adapters/tools/live-toolbox'
import { nvccRelease } from '../src-main/adapters/tools/nvcc'
import {
  runProcess,
  type ProcessCall,
  type ProcessResult,
} from '../src-main/adapters/tools/process'
import type { RawRecorder, ToolCall } from '../src-main/adapters/tools/toolbox'
import { root, shippedKernels, tempDir } from './services/support'
import { openCompiler, type Compiler } from '../src-main/services/bench/compiler'
import { localMachine } from '../src-main/adapters/machine/local-machine'

const cache = join(root, '.cache', 'nvcc')

/** The nvcc version that produced the stored outputs. */
const keptVersion = '13.0.88'

interface Kept {
  /** A description for readers of the stored file. */
  what: string
  stdout: string
  stderr: string
  /** The artifact in hexadecimal, so that content shared by builds compresses well. */
  artifact?: string
}

const localIncludes = (text: string): string[] =>
  [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]/gm)].map(([, name]) => name!)

/** Returns a source text without comments and layout, which do not affect the compiler. */
const asCompiled = (text: string): string =>
  text
    .replaceAll(
      /("(?:\\.|[^"\\\n])*")|\/\/[^\n]*|\/\*[^]*?\*\//g,
      (_, quoted?: string) => quoted ?? ' ',
    )
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter(Boolean)
    .join('\n')

/**
 * Returns a source and every file that it includes from its own folder, by path. Excludes system
 * headers, because they belong to the compiler.
 */
async function closure(
  inputs: readonly string[],
  folders: readonly string[],
  cwd: string,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const visit = async (path: string): Promise<void> => {
    if (texts.has(path)) return
    const text = await readFile(join(cwd, path), 'utf8')
    texts.set(path, asCompiled(text))
    for (const name of localIncludes(text)) {
      const places = [dirname(path), ...folders].map((folder) => normalize(join(folder, name)))
      const found = places.find((place) => existsSync(join(cwd, place)))
      if (found !== undefined) await visit(found)
    }
  }
  for (const input of inputs) await visit(input)
  return new Map([...texts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function keyOf({ args, cwd = '.' }: ProcessCall, version: string): Promise<string> {
  const words = args.filter((word, index) => word !== '-o' && args[index - 1] !== '-o')
  const folders = words.filter((_, index) => words[index - 1] === '-I')
  const inputs = words.filter((word) => /\.(cu|cpp)$/.test(word))
  const texts = await closure(inputs, folders, cwd)
  return sha256(JSON.stringify([version, words, [...texts]])).slice(0, 32)
}

export interface KeptNvcc {
  /**
   * Returns a compiler that replays stored builds. Each build's artifact is only a placeholder
   * file.
   */
  compiler(): Promise<Compiler>
  /**
   * Returns this machine, but with the replaying compiler and separate folders. The outputs must
   * have been stored with `artifacts`.
   */
  machine(): Promise<HostMachine>
  /** Builds missing from the store, although this machine's nvcc version matches the stored version. */
  stale: readonly string[]
  /**
   * Replaces the stored outputs with the outputs of this run. Call it only after the entire test
   * file has run.
   */
  save(): void
}

const ended = (stdout: string, stderr: string): ProcessResult => ({
  ...{ outcome: 'exited', exitCode: 0, signal: null, seconds: 0 },
  ...{ stdout, stderr },
})

/** Error for code that needs to be compiled on a machine without nvcc. */
class NotKept extends Error {}

/** Skips a test if its inputs have changed since the outputs were stored and there is no nvcc. */
export const orSkip = <T>(test: TestContext, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof NotKept) test.skip(error.message)
    throw error
  })

const release = async (nvcc: string): Promise<string> =>
  nvccRelease((await runProcess({ file: nvcc, args: ['--version'] })).stdout) ?? 'unknown'

/** Returns the arguments that directly follow a given word in a call. */
const after = ({ args }: ProcessCall, word: string): string[] =>
  args.filter((_, index) => args[index - 1] === word)

/**
 * Returns a function that runs a task's reference once per case. The probe writes the expected
 * results into files, and many rungs are compared with these results.
 */
function onceExpected(): (call: ProcessCall) => Promise<ProcessResult> {
  interface Expected {
    result: ProcessResult
    arrays: Buffer[]
  }
  const known = new Map<string, Expected>()
  return async (call) => {
    const [library] = after(call, '--expect')
    if (library === undefined) return runProcess(call)
    const named = after(call, '--array').map((array) => array.split('='))
    const paths = named.map(([, path]) => path!)
    const given = await Promise.all(paths.map((path) => readFile(path)))
    const words = call.args.map(
      (word) => named.find(([, path]) => word.endsWith(path!))?.[0] ?? word,
    )
    const contents = await Promise.all([readFile(call.file), readFile(library)])
    const key = [
      ...words.filter((word) => word !== library),
      ...[...contents, ...given].map((bytes) => sha256(bytes)),
    ].join('\n')
    const found = known.get(key)
    if (found) {
      await Promise.all(found.arrays.map((bytes, index) => writeFile(paths[index]!, bytes)))
      return found.result
    }
    const result = await runProcess(call)
    const arrays = await Promise.all(paths.map((path) => readFile(path)))
    if (result.exitCode === 0) known.set(key, { result, arrays })
    return result
  }
}

/** Whether the stored Linux programs can run on this machine. */
export const keptRunsHere = process.platform === 'linux' && process.arch === 'x64'

/** Whether this run stores its outputs. */
export const keeping = Boolean(process.env['KERNEL_LADDER_KEEP'])

export async function keptNvcc(name: string, { artifacts = false } = {}): Promise<KeptNvcc> {
  const file = join(
    root,
    'test/captures/nvcc',
    keptVersion,
    `${name}.json${artifacts ? '.br' : ''}`,
  )
  const unpacked = (bytes: Buffer): string =>
    (artifacts ? brotliDecompressSync(bytes) : bytes).toString()
  const kept: Record<string, Kept> = existsSync(file)
    ? (JSON.parse(unpacked(readFileSync(file))) as Record<string, Kept>)
    : {}
  const nvcc = await findTool('nvcc')
  const version = nvcc === null ? keptVersion : await release(nvcc)
  const said: Record<string, Kept> = {}
  const expect = onceExpected()
  const hashes = new Map<string, Promise<string>>()
  /** Returns a build's hash. A build's path identifies its inputs. */
  const hashOf = (path: string): Promise<string> => {
    const found = hashes.get(path) ?? readFile(path).then(sha256)
    hashes.set(path, found)
    return found
  }
  const stale: string[] = []

  async function exec(call: ProcessCall & { key: string }): Promise<ProcessResult> {
    if (call.args[0] === '--version') return ended(`release, V${version}`, '')
    const output = call.args[call.args.indexOf('-o') + 1]!
    const key = await keyOf(call, version)
    const answer = (texts: Kept): ProcessResult => {
      said[key] = texts
      return ended(texts.stdout, texts.stderr)
    }
    const cached = join(cache, `${key}${artifacts ? '.built' : ''}.json`)
    const known =
      kept[key] ??
      (await readFile(cached, 'utf8').then(
        (text) => JSON.parse(text) as Kept,
        () => undefined,
      ))
    if (nvcc !== null && version === keptVersion && !kept[key]) stale.push(call.key)
    if (known) {
      await writeFile(output, Buffer.from(known.artifact ?? '', 'hex'), { mode: 0o755 })
      return answer(known)
    }
    if (nvcc === null) throw new NotKept(`${call.key} is not kept, and there is no nvcc.`)
    const result = await runProcess({ ...call, file: nvcc })
    if (result.outcome !== 'exited' || result.exitCode !== 0) return result
    const what = [call.key, ...call.args.filter((word) => /code=|^-D/.test(word))].join(' ')
    const { stdout, stderr } = result
    const built = artifacts ? { artifact: (await readFile(output)).toString('hex') } : {}
    const texts = { what, stdout, stderr, ...built }
    await mkdir(cache, { recursive: true })
    await writeFile(cached, JSON.stringify(texts))
    return answer(texts)
  }

  /**
   * Returns a library's launches. The launches depend only on the probe, the library, and the
   * request.
   */
  async function launches(call: ToolCall): Promise<ProcessResult> {
    const [library] = after(call, '--library')
    const words = call.args.filter((word) => word !== library)
    const contents = await Promise.all([call.file, library!].map(hashOf))
    const key = sha256(JSON.stringify([...contents, words])).slice(0, 32)
    const known = kept[key] ?? said[key]
    if (known) {
      said[key] = known
      return ended(known.stdout, known.stderr)
    }
    const result = await runProcess(call)
    const { outcome, exitCode, stdout, stderr } = result
    if (outcome === 'exited' && exitCode === 0) said[key] = { what: call.key, stdout, stderr }
    return result
  }

  return {
    stale,
    async compiler() {
      return {
        toolbox: { ...liveToolbox(null), exec },
        cache: diskBuildCache(await tempDir()),
        nvcc: nvcc ?? 'nvcc',
        version,
        includes: await readSharedFiles(shippedKernels, 'include'),
        signal: new AbortController().signal,
      }
    },
    async machine() {
      const dir = await tempDir()
      const machine = localMachine()
      const live = (recorder: RawRecorder | null) =>
        liveToolbox(recorder, (call) => {
          const own = call as ToolCall
          if (own.tool === 'nvcc') return exec(own)
          return own.key.startsWith('runner/launches-') ? launches(own) : expect(call)
        })
      return {
        ...machine,
        cache: diskBuildCache(join(dir, 'cache')),
        toolbox: (recorder) => ({
          ...live(recorder),
          locate: (tool) => (tool === 'nvcc' ? Promise.resolve(nvcc ?? tool) : findTool(tool)),
        }),
      }
    },
    save() {
      if (version !== keptVersion)
        throw new Error(`Outputs of nvcc ${keptVersion} are kept; this is ${version}.`)
      const rows = Object.entries(said).sort(([, a], [, b]) => (a.what < b.what ? -1 : 1))
      const lines = rows.map(([key, texts]) => `${JSON.stringify(key)}: ${JSON.stringify(texts)}`)
      mkdirSync(dirname(file), { recursive: true })
      const text = `{\n${lines.join(',\n')}\n}\n`
      const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
      writeFileSync(file, artifacts ? brotliCompressSync(text, { params }) : text)
    },
  }
}

/** Returns a compiler that uses this machine's nvcc. Builds are cached in .cache by default. */
export async function realCompiler(
  cache: BuildCache = diskBuildCache(join(root, '.cache', 'build-of-tests')),
): Promise<Compiler> {
  return openCompiler(
    { toolbox: liveToolbox(null), cache },
    await readSharedFiles(shippedKernels, 'include'),
  )
}
