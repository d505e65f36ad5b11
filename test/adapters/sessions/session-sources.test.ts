/** Sources of a session: its own files, or contents of a store that recordings share. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  copySources,
  emptyStore,
  readSources,
  writeStore,
} from '../../../src-main/adapters/sessions/session-sources'
import { message } from '../../../src-main/domain/messages/message'
import { tempDir } from '../../services/support'
import { said } from '../../support'

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
/** Contents, each under the hash of the text beside it. */
const contentsOf = (...contents: [text: string, of?: string][]): Map<string, string> =>
  new Map(contents.map(([text, of = text]) => [hashOf(of), text]))
const usualFiles = { 'gemm/01_tile.cu': hashOf(tile), 'include/tile.h': hashOf(header) }
const storeHolds = (
  contents: Map<string, string>,
  files: Record<string, string> = usualFiles,
  name = 'recording',
): Promise<void> => writeStore(store(), { lists: new Map([[name, files]]), contents })

beforeEach(async () => {
  root = await tempDir()
  folder = join(root, 'recording')
  await mkdir(folder)
  await storeHolds(contentsOf([tile], [header]))
})

describe('sources in the store', () => {
  it('are found by what the recording says of each path', async () => {
    expect(await readSources(folder, session)).toEqual({
      texts: { '01_tile': tile, '02_same': tile },
      faults: [],
    })
  })

  it('that are not there are left out, with the reason once', async () => {
    await storeHolds(contentsOf([header]))
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      `The source gemm/01_tile.cu cannot be shown: ${store()} does not contain it.`,
    ])
  })

  it('of another content than the recorded are left out, with the reason, and stay as they are', async () => {
    await storeHolds(contentsOf(['// edited\n', tile]))
    const before = await readFile(store(), 'utf8')
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([
      expect.stringMatching(/does not contain what was recorded: the SHA-256 differs/),
    ])
    expect(await readFile(store(), 'utf8')).toBe(before)
  })

  it.each([
    ['that is no JSON', '{'],
    ['of another kind', '{"recording":"recording","files":{}}'],
    ['with a hash that is a path', '{"session":"recording","files":{"a.cu":"../x"}}'],
  ])('with a line %s are left out, with the reason', async (_what, line) => {
    await writeFile(store(), `${await readFile(store(), 'utf8')}${line}\n`)
    expect(await readSources(folder, session)).toEqual({
      texts: {},
      faults: [message('sessions.sourcesDamaged', { file: store() })],
    })
  })

  it('that cannot be read are left out, with the reason', async () => {
    await rm(store())
    await mkdir(store())
    const { texts, faults } = await readSources(folder, session)
    expect(texts).toEqual({})
    expect(said(faults)).toEqual([expect.stringContaining(`${store()} is damaged`)])
  })

  it('are found in the nearest store, up to three folders above', async () => {
    const deep = join(root, 'labs', 'one', 'session')
    await mkdir(join(deep, 'below'), { recursive: true })
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session')
    expect((await readSources(deep, session)).texts).toEqual({ '01_tile': tile, '02_same': tile })

    // Four above.
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session/below')
    const isLost = async (from: string): Promise<void> =>
      expect(await readSources(from, session)).toEqual({
        texts: {},
        faults: [message('sessions.sourcesMissing', { file: join(from, 'sources') })],
      })
    await isLost(join(deep, 'below'))

    // A nearer one that does not know the session.
    await storeHolds(contentsOf([tile]), usualFiles, 'labs/one/session')
    await writeStore(join(root, 'labs', 'sources.jsonl'), emptyStore())
    await isLost(deep)
  })

  it('become the files of a session of its own, shared headers too', async () => {
    const out = join(root, 'out')
    expect(await copySources(folder, out)).toEqual([])
    expect(await readFile(join(out, 'sources/include/tile.h'), 'utf8')).toBe(header)
    expect((await readSources(out, session)).texts).toEqual({ '01_tile': tile, '02_same': tile })
  })

  it('are copied as far as they are there, and never out of the folder', async () => {
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

describe('sources in the session', () => {
  it('are its files; one that is gone has no reason to give', async () => {
    await mkdir(join(folder, 'sources', 'gemm'), { recursive: true })
    expect(await readSources(folder, session)).toEqual({ texts: {}, faults: [] })
    await writeFile(join(folder, 'sources', 'gemm', '01_tile.cu'), '// own')
    expect((await readSources(folder, session)).texts['01_tile']).toBe('// own')
  })

  it('that are in neither place are told, unless no rung names any', async () => {
    await rm(store())
    const why = message('sessions.sourcesMissing', { file: join(folder, 'sources') })
    expect(await readSources(folder, session)).toEqual({ texts: {}, faults: [why] })
    expect(await copySources(folder, join(root, 'out'))).toEqual([why])
    const imported = { rungs: [{ ...session.rungs[0]!, file: '' }] }
    expect(await readSources(folder, imported)).toEqual({ texts: {}, faults: [] })
  })
})
