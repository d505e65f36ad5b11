/**
 * Compares the machine code of all rungs with a git revision or with the recordings. If the machine
 * code of a rung is the same, its recordings stay valid even if its source changed.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../../src-main/domain/analysis/rung-measured'
import { isPythonFile, type Parameters } from '../../src-main/domain/ladder/rung'
import { currentId } from '../../src-main/domain/ladder/former-ids'
import { taskHeader, taskHeaderFile } from '../../src-main/domain/task/task-headers'
import { readCatalog, readSharedFiles, type Catalog } from '../../src-main/adapters/catalog/catalog'
import { checkOutRevision } from '../../src-main/adapters/catalog/check-out-revision'
import { scratchFolder } from '../../src-main/adapters/disk/owned-folder'
import { macroFlags } from '../../src-main/adapters/tools/nvcc'
import { readAllSources } from '../../src-main/adapters/sessions/session-sources'
import { readElf } from '../../src-main/parsers/cubin/elf'
import { entryId, resolveRung, taskOf } from '../../src-main/services/catalog/resolve'
import { readRecordings } from '../../src-main/services/sessions/recordings'
import { inParallel } from '../../src-main/services/bench/in-parallel'

const run = promisify(execFile)

/** Result of comparing a rung's machine code. */
export interface SameCodeRow {
  ladder: string
  rung: string
  verdict: 'same' | 'changed' | 'new' | 'gone' | 'broken'
}

interface Input {
  files: ReadonlyMap<string, string>
  file: string
  flags: readonly string[]
}

const flagsOf = (file: string, params: Parameters): string[] => [
  ...['-std=c++17', '-O3', '-D_GLIBCXX_BITS_SPECFUN_H'],
  ...['-I', 'include', '-I', '.', '-I', dirname(file), ...macroFlags(params)],
]

/** Returns the CUDA C++ rungs by ladder and current id. */
async function inputsOf(catalog: Catalog, only?: string): Promise<Map<string, Input>> {
  const shared = await readSharedFiles(catalog.root, 'include')
  const inputs = new Map<string, Input>()
  for (const ladder of catalog.ladders.filter(({ id }) => only === undefined || id === only)) {
    const task = taskOf(catalog, ladder)
    const headers = catalog.headers.get(task.id) ?? new Map<string, string>()
    for (const entry of ladder.rungs) {
      const { rung, source } = resolveRung(catalog, ladder, entry)
      if (isPythonFile(rung.file)) continue
      const id = entryId(entry)
      inputs.set(`${ladder.id} ${currentId(id)}`, {
        files: new Map([
          ...shared,
          ...headers,
          [taskHeaderFile, taskHeader(task)],
          [rung.file, source],
        ]),
        file: rung.file,
        flags: [
          '-std=c++17',
          '-O3',
          '-D_GLIBCXX_BITS_SPECFUN_H',
          '-I',
          'include',
          '-I',
          '.',
        ].concat(['-I', dirname(rung.file)], macroFlags(rung.params)),
      })
    }
  }
  return inputs
}

const sha256 = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

/**
 * Returns the files that a source includes directly or indirectly, because they determine the
 * compiled code.
 */
function included({ files, file }: Input): [string, string][] {
  const found = new Map<string, string>()
  const visit = (path: string): void => {
    const text = files.get(path)
    if (text === undefined || found.has(path)) return
    found.set(path, text)
    for (const [, name] of text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm))
      for (const folder of [dirname(path), 'include', '.']) visit(join(folder, name!))
  }
  visit(file)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * Returns a digest of the code of all kernels and device functions and of their static shared
 * memory. Names and line information do not affect the digest.
 */
async function codeDigest(input: Input, sm: string, cache: string): Promise<string> {
  const sources = included(input)
  const key = sha256([sm, ...input.flags, ...sources.flat()])
  const kept = join(cache, `${key}.txt`)
  const known = await readFile(kept, 'utf8').catch(() => null)
  if (known !== null) return known
  const scratch = await scratchFolder()
  try {
    for (const [path, text] of sources) {
      await mkdir(dirname(join(scratch.path, path)), { recursive: true })
      await writeFile(join(scratch.path, path), text)
    }
    const output = join(scratch.path, 'rung.cubin')
    const words = ['-cubin', `-arch=sm_${sm}`, ...input.flags, input.file, '-o', output]
    await run('nvcc', words, { cwd: scratch.path })
    const { sections } = readElf(await readFile(output))
    const parts = sections.flatMap(({ name, bytes, size }) => {
      if (name.startsWith('.text.')) return [sha256([bytes])]
      return name.startsWith('.nv.shared.') ? [`shared ${size}`] : []
    })
    const digest = sha256(parts.sort())
    await mkdir(cache, { recursive: true })
    await writeFile(kept, digest)
    return digest
  } finally {
    await scratch.remove()
  }
}

/**
 * @param options `kernels`: the folder of the tasks; `only`: a ladder's id; `cache`: a folder for
 * the digests of compiled code
 * @throws an input error if the revision is unknown, or nvcc's error if a rung of the revision does
 * not compile
 */
export async function sameCode(options: {
  kernels: string
  revision: string
  cache: string
  sm?: string
  only?: string
}): Promise<SameCodeRow[]> {
  const { kernels, revision, cache, sm = '90a', only } = options
  const scratch = await scratchFolder()
  try {
    const signal = new AbortController().signal
    const { folder } = await checkOutRevision(kernels, revision, scratch.path, signal)
    const before = await inputsOf(await readCatalog(folder), only)
    const now = await inputsOf(await readCatalog(kernels), only)
    const verdictOf = async (old?: Input, fresh?: Input): Promise<SameCodeRow['verdict']> => {
      if (!old) return 'new'
      if (!fresh) return 'gone'
      const digest = (input: Input) => codeDigest(input, sm, cache)
      const then = await digest(old)
      return digest(fresh).then(
        (now) => (now === then ? 'same' : 'changed'),
        () => 'broken',
      )
    }
    const rows: SameCodeRow[] = []
    await inParallel([...new Set([...before.keys(), ...now.keys()])], async (name) => {
      const [ladder, rung] = name.split(' ') as [string, string]
      const [old, fresh] = [before.get(name), now.get(name)]
      rows.push({ ladder, rung, verdict: await verdictOf(old, fresh) })
    })
    return rows.sort((a, b) => (`${a.ladder} ${a.rung}` < `${b.ladder} ${b.rung}` ? -1 : 1))
  } finally {
    await scratch.remove()
  }
}

/** A rung whose current machine code was never recorded. */
export interface UnrecordedRung {
  recording: string
  rung: string
}

/**
 * Compares recorded sources with current sources. Returns a map from hashes of recorded code to
 * hashes of current code. Each pair of a recorded source and its current source compiles to the
 * same machine code with the same parameters. The function also returns the rungs whose machine
 * code differs.
 */
export async function sameAsRecorded(options: {
  kernels: string
  recordings: string
  cache: string
  sm?: string
}): Promise<{ same: Record<string, string[]>; other: UnrecordedRung[] }> {
  const { kernels, recordings, cache, sm = '90a' } = options
  const now = await inputsOf(await readCatalog(kernels))
  const same = new Map<string, Set<string>>()
  const other: UnrecordedRung[] = []
  const work: { recording: string; rung: string; old: Input; fresh: Input }[] = []
  for (const { name, folder, session } of await readRecordings(recordings)) {
    const all = await readAllSources(folder)
    for (const { id, file, params } of session.ladder.rungs) {
      const fresh = now.get(`${session.ladder.id} ${id}`)
      if (!fresh || !all.has(file)) continue
      const flags = flagsOf(file, params)
      const files = new Map([...all, [taskHeaderFile, taskHeader(session.ladder.task!)]])
      const old = { files, file, flags }
      if (codeOf(all.get(file)!) !== codeOf(fresh.files.get(fresh.file)!))
        work.push({ recording: name, rung: id, old, fresh })
    }
  }
  await inParallel(work, async ({ recording, rung, old, fresh }) => {
    const [then, today] = [await codeDigest(old, sm, cache), await codeDigest(fresh, sm, cache)]
    if (then !== today) {
      other.push({ recording, rung })
      return
    }
    const hash = textHash(old)
    same.set(hash, (same.get(hash) ?? new Set()).add(textHash(fresh)))
  })
  const sorted = [...same].sort(([a], [b]) => (a < b ? -1 : 1))
  return { same: Object.fromEntries(sorted.map(([hash, set]) => [hash, [...set].sort()])), other }
}

const textHash = ({ files, file }: Input): string =>
  createHash('sha256')
    .update(codeOf(files.get(file)!))
    .digest('hex')
