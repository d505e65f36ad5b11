/** Sources of a session: its own files, or contents of a store that recordings share. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  copySources,
  readSources,
  writeStore,
} from '../../../src-main/adapters/sessions/session-sources'
import { tempDir } from '../../services/support'
import { said } from '../../said'

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
const store = (): string => join(root, 'sources.jsonl')
/** The store with these contents, each under the hash of the text beside it. */
const storeHolds = (...contents: [text: string, of?: string][]): Promise<void> =>
  writeStore(store(), new Map(contents.map(([text, of = text]) => [hashOf(of), text])))
const list = (files: Record<string, string>, more: object = {}): Promise<void> =>
  writeFile(
    join(folder, 'sources.json'),
    JSON.stringify({ schema: 2, store: '../sources.jsonl', files, ...more }),
  )

beforeEach(async () => {
  root = await tempDir()
  folder = join(root, 'recording')
  await mkdir(folder)
  await storeHolds([tile], [header])
  await list({ 'gemm/01_tile.cu': hashOf(tile), 'include/tile.h': hashOf(header) })
})

describe('sources in the store', () => {
  it('are found by what the recording says of each path', async () => {
    expect(await readSources(folder, session)).toEqual({
      texts: { '01_tile': tile, '02_same': tile },
      faults: [],
    })
  })

  it('that are not there are left out, with the reason once', async () => {
    await storeHolds([header])
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      `The source gemm/01_tile.cu cannot be shown: ${store()} does not contain it.`,
    ])
  })

  it('of another content than the recorded are left out, with the reason, and stay as they are', async () => {
    await storeHolds(['// edited\n', tile])
    const before = await readFile(store(), 'utf8')
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      expect.stringMatching(/does not contain what was recorded: the SHA-256 differs/),
    ])
    expect(await readFile(store(), 'utf8')).toBe(before)
  })

  it.each([
    ['no JSON', '{'],
    ['of a newer schema', JSON.stringify({ schema: 3, store: '../sources.jsonl', files: {} })],
    ['of a store elsewhere', JSON.stringify({ schema: 2, store: '/etc', files: {} })],
    ['of a hash that is a path', '{"schema":2,"store":"../sources.jsonl","files":{"a.cu":"../x"}}'],
  ])('whose list is %s are left out, with the reason', async (_what, text) => {
    await writeFile(join(folder, 'sources.json'), text)
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([expect.stringContaining('sources.json is damaged')])
  })

  it('become the files of a session of its own, shared headers too', async () => {
    const out = join(root, 'out')
    expect(await copySources(folder, out)).toEqual([])
    expect(await readFile(join(out, 'sources/include/tile.h'), 'utf8')).toBe(header)
    expect((await readSources(out, session)).texts).toEqual({ '01_tile': tile, '02_same': tile })
  })

  it('are copied as far as they are there, and never out of the folder', async () => {
    await list({ '../../escaped.h': hashOf(header), 'gemm/01_tile.cu': hashOf('gone') })
    const out = join(root, 'out', 'session')
    expect(said(await copySources(folder, out))).toEqual([
      expect.stringContaining('does not contain it'),
    ])
    expect(await readdir(root)).toEqual(['recording', 'sources.jsonl'])
  })
})

describe('sources in the session', () => {
  it('are its files; one that is gone has no reason to give', async () => {
    await rm(join(folder, 'sources.json'))
    expect(await readSources(folder, session)).toEqual({ texts: {}, faults: [] })
    await mkdir(join(folder, 'sources', 'gemm'), { recursive: true })
    await writeFile(join(folder, 'sources', 'gemm', '01_tile.cu'), tile)
    expect((await readSources(folder, session)).texts['01_tile']).toBe(tile)
  })
})
