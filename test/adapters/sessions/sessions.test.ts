import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { describe, expect, it, beforeEach } from 'vitest'
import { z } from 'zod'
import { indexed } from '../../../src-main/adapters/sessions/session-index'
import { tempDir } from '../../services/support'
import { copySources, readSources } from '../../../src-main/adapters/sessions/session-sources'
import { message } from '../../../src-main/domain/messages/message'
import { said } from '../../support'
import { emptyStore, writeStore } from '../../../src-main/adapters/sessions/source-store'

interface Store {
  root: string
  cache: string
  add(name: string, text?: string): Promise<void>
  /**
   * Returns the listed sessions, and the names of the sessions that were read to create the list.
   */
  list(version?: string): Promise<{ shown: Record<string, string>; read: string[] }>
}

async function store(): Promise<Store> {
  const dir = await tempDir()
  const [root, cache] = [join(dir, 'sessions'), join(dir, 'cache')]
  return {
    root,
    cache,
    async add(name, text = name) {
      await mkdir(join(root, name), { recursive: true })
      await writeFile(join(root, name, 'session.json'), text)
    },
    async list(version = '1') {
      const read: string[] = []
      const found = await indexed({
        ...{ root, cache, version, name: 'test' },
        schema: z.string(),
        async describe(name, folder) {
          read.push(name)
          const text = await readFile(join(folder, 'session.json'), 'utf8').catch(() => null)
          return { value: text ?? 'damaged', keep: text !== null }
        },
      })
      return { shown: Object.fromEntries(found), read: read.sort() }
    },
  }
}

describe("a store's session list", () => {
  it('reads a session once, and again only after it was replaced', async () => {
    const { root, add, list } = await store()
    expect(await list()).toEqual({ shown: {}, read: [] })
    for (const name of ['a', 'b', 'c']) await add(name)
    expect((await list()).read).toEqual(['a', 'b', 'c'])
    expect(await list()).toEqual({ shown: { a: 'a', b: 'b', c: 'c' }, read: [] })
    await add('d')
    await add('b', 'another')
    await rm(join(root, 'c'), { recursive: true })
    expect(await list()).toEqual({ shown: { a: 'a', b: 'another', d: 'd' }, read: ['b', 'd'] })
    expect((await list()).read).toEqual([])
  })

  it('notices a replaced session, and a new file next to session.json, such as a title', async () => {
    const { root, add, list } = await store()
    await add('a')
    await add('b', 'B of another size')
    await list()
    await writeFile(join(root, 'a', 'label.json.1'), '{}')
    await rename(join(root, 'a', 'label.json.1'), join(root, 'a', 'label.json'))
    // Set distinct times, because some disks have coarse timestamps.
    await utimes(join(root, 'a'), 1, 1)
    expect((await list()).read).toEqual(['a'])
    await rename(join(root, 'a'), join(root, 'other'))
    await rename(join(root, 'b'), join(root, 'a'))
    const { shown, read } = await list()
    expect(shown).toEqual({ a: 'B of another size', other: 'a' })
    expect(read).toEqual(['a', 'other'])
  })

  it('omits hidden folders, and stores no data for unreadable sessions', async () => {
    const { root, add, list } = await store()
    await mkdir(join(root, 'empty'), { recursive: true })
    await mkdir(join(root, '.trash'))
    await writeFile(join(root, 'file'), '')
    await add('a')
    for (const read of [['a', 'empty'], ['empty']])
      expect(await list()).toEqual({ shown: { a: 'a', empty: 'damaged' }, read })
  })

  it('is rebuilt if the index is damaged, missing, or from another version', async () => {
    const { cache, add, list } = await store()
    await add('a')
    await list()
    expect((await list('2')).read).toEqual(['a'])
    expect((await list('2')).read).toEqual([])
    const [file] = await readdir(cache)
    for (const text of ['{', '{"version":"2","sessions":{"a":{"stamp":1}}}', null]) {
      if (text === null) await rm(join(cache, file!))
      else await writeFile(join(cache, file!), text)
      expect((await list('2')).read).toEqual(['a'])
    }
    expect(await readdir(cache)).toEqual([file])
  })

  it('is rebuilt if a line in the index was truncated, changed, or added', async () => {
    const { cache, add, list } = await store()
    for (const name of ['a', 'b', 'c']) await add(name)
    await list()
    const [file] = await readdir(cache)
    const path = join(cache, file!)
    const whole = await readFile(path, 'utf8')
    const lines = whole.split('\n')
    const damaged = [
      whole.slice(0, -20),
      whole.slice(0, -1),
      lines.toSpliced(2, 1).join('\n'),
      whole.replace('"value":"b"', '"value":"x"'),
      `${whole}${lines[1]}\n`,
      lines.toSpliced(0, 1).join('\n'),
    ]
    for (const text of damaged) {
      await writeFile(path, text)
      expect(await list(), text).toEqual({
        shown: { a: 'a', b: 'b', c: 'c' },
        read: ['a', 'b', 'c'],
      })
      expect(await readFile(path, 'utf8')).toHaveLength(whole.length)
    }
  })

  it('works without a writable cache', async () => {
    const { cache, add, list } = await store()
    await writeFile(cache, 'a file in the way')
    await add('a')
    for (let time = 0; time < 2; time += 1)
      expect(await list()).toEqual({ shown: { a: 'a' }, read: ['a'] })
    expect(existsSync(join(cache, 'x'))).toBe(false)
  })

  it('can hold thousands of sessions', async () => {
    const { add, list } = await store()
    const names = Array.from({ length: 1500 }, (_, index) => `session-${index}`)
    for (const name of names) await add(name)
    expect(Object.keys((await list()).shown)).toHaveLength(1500)
    expect((await list()).read).toEqual([])
  })
})

// A session's sources are its own files, or entries in a source store that recordings share.

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const tile = '// a tile\n'
const header = '#pragma once\n'
const session = {
  rungs: [
    { id: '01_tile', file: 'gemm/01_tile.cu' },
    { id: '02_same', file: 'gemm/01_tile.cu' },
  ],
} as unknown as Parameters<typeof readSources>[1]

let root: string
let folder: string
const sourceStore = (): string => join(root, 'sources.jsonl')
/**
 * Returns a source store. Each text is stored under the hash of `of`, which defaults to the text.
 */
const contentsOf = (...contents: [text: string, of?: string][]): Map<string, string> =>
  new Map(contents.map(([text, of = text]) => [hashOf(of), text]))
const usualFiles = { 'gemm/01_tile.cu': hashOf(tile), 'include/tile.h': hashOf(header) }
const storeHolds = (
  contents: Map<string, string>,
  files: Record<string, string> = usualFiles,
  name = 'recording',
): Promise<void> => writeStore(sourceStore(), { lists: new Map([[name, files]]), contents })

beforeEach(async () => {
  root = await tempDir()
  folder = join(root, 'recording')
  await mkdir(folder)
  await storeHolds(contentsOf([tile], [header]))
})

describe('sources in the store', () => {
  it('are found by the hash that the recording stores for each path', async () => {
    expect(await readSources(folder, session)).toEqual({
      texts: { '01_tile': tile, '02_same': tile },
      faults: [],
    })
  })

  it('that are missing are omitted, and the reason is reported once', async () => {
    await storeHolds(contentsOf([header]))
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      `The source gemm/01_tile.cu cannot be shown: ${sourceStore()} does not contain it.`,
    ])
  })

  it('whose content differs from the recording are omitted and reported, but stay in the store', async () => {
    await storeHolds(contentsOf(['// edited\n', tile]))
    const before = await readFile(sourceStore(), 'utf8')
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      expect.stringMatching(/its SHA-256 in .* differs from the recorded one/),
    ])
    expect(await readFile(sourceStore(), 'utf8')).toBe(before)
  })

  it.each([
    ['that is not JSON', '{'],
    ['of a different kind', '{"recording":"recording","files":{}}'],
    ['with a hash that is a path', '{"session":"recording","files":{"a.cu":"../x"}}'],
  ])('are omitted if the store has a line %s, and the reason is reported', async (_what, line) => {
    await writeFile(sourceStore(), `${await readFile(sourceStore(), 'utf8')}${line}\n`)
    expect(await readSources(folder, session)).toEqual({
      texts: {},
      faults: [message('sessions.sourcesDamaged', { file: sourceStore() })],
    })
  })

  it('are omitted if the store cannot be read, and the reason is reported', async () => {
    await rm(sourceStore())
    await mkdir(sourceStore())
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([expect.stringContaining(`${sourceStore()} is damaged`)])
  })

  it('are found in the nearest store, at most three folder levels above the session', async () => {
    const deep = join(root, 'labs', 'one', 'session')
    await mkdir(join(deep, 'below'), { recursive: true })
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session')
    expect((await readSources(deep, session)).texts).toEqual({ '01_tile': tile, '02_same': tile })

    // The source store is four folder levels above the session.
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session/below')
    const isLost = async (from: string): Promise<void> =>
      expect(await readSources(from, session)).toEqual({
        texts: {},
        faults: [message('sessions.sourcesMissing', { file: join(from, 'sources') })],
      })
    await isLost(join(deep, 'below'))

    // Add a nearer source store that does not list the session.
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session')
    await writeStore(join(root, 'labs', 'sources.jsonl'), emptyStore())
    await isLost(deep)
  })

  it('are copied into a session folder, including shared headers', async () => {
    const out = join(root, 'out')
    expect(await copySources(folder, out)).toEqual([])
    expect(await readFile(join(out, 'sources/include/tile.h'), 'utf8')).toBe(header)
    expect((await readSources(out, session)).texts).toEqual({ '01_tile': tile, '02_same': tile })
  })

  it('are copied only if they exist, and never outside the session folder', async () => {
    await storeHolds(contentsOf([header]), {
      '../../escaped.h': hashOf(header),
      'gemm/01_tile.cu': hashOf('gone'),
    })
    const out = join(root, 'out', 'session')
    expect(said(await copySources(folder, out))).toEqual([
      expect.stringContaining('does not contain it'),
    ])
    expect(await readdir(root)).toEqual(['recording', 'sources.jsonl'])
  })
})

describe("a session's sources", () => {
  it('come from its files, and a missing file is not reported', async () => {
    await mkdir(join(folder, 'sources', 'gemm'), { recursive: true })
    expect(await readSources(folder, session)).toEqual({ texts: {}, faults: [] })
    await writeFile(join(folder, 'sources', 'gemm', '01_tile.cu'), '// own')
    expect((await readSources(folder, session)).texts['01_tile']).toBe('// own')
  })

  it('are reported if neither the session nor the store has them, unless no rung has a source', async () => {
    await rm(sourceStore())
    const why = message('sessions.sourcesMissing', { file: join(folder, 'sources') })
    expect(await readSources(folder, session)).toEqual({ texts: {}, faults: [why] })
    expect(await copySources(folder, join(root, 'out'))).toEqual([why])
    const imported = { rungs: [{ ...session.rungs[0]!, file: '' }] }
    expect(await readSources(folder, imported)).toEqual({ texts: {}, faults: [] })
  })
})
