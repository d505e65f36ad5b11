import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { indexed } from '../../../src-main/adapters/sessions/session-index'
import { tempDir } from '../../services/support'

interface Store {
  root: string
  cache: string
  add(name: string, text?: string): Promise<void>
  /** What is listed, and what was read for it. */
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

describe('the list of a store', () => {
  it('reads a session once, and again only when it is another one', async () => {
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

  it('notices a file beside session.json, such as a name, and another session under the name', async () => {
    const { root, add, list } = await store()
    await add('a')
    await add('b', 'B of another size')
    await list()
    await writeFile(join(root, 'a', 'label.json.1'), '{}')
    await rename(join(root, 'a', 'label.json.1'), join(root, 'a', 'label.json'))
    // A disk with coarse times still tells them apart.
    await utimes(join(root, 'a'), 1, 1)
    expect((await list()).read).toEqual(['a'])
    await rename(join(root, 'a'), join(root, 'other'))
    await rename(join(root, 'b'), join(root, 'a'))
    const { shown, read } = await list()
    expect(shown).toEqual({ a: 'B of another size', other: 'a' })
    expect(read).toEqual(['a', 'other'])
  })

  it('keeps nothing of one that cannot be read, and shows no hidden folder', async () => {
    const { root, add, list } = await store()
    await mkdir(join(root, 'empty'), { recursive: true })
    await mkdir(join(root, '.trash'))
    await writeFile(join(root, 'file'), '')
    await add('a')
    for (const read of [['a', 'empty'], ['empty']])
      expect(await list()).toEqual({ shown: { a: 'a', empty: 'damaged' }, read })
  })

  it('is made again where the index is damaged, gone or of another version', async () => {
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

  it('does without a cache that cannot be written', async () => {
    const { cache, add, list } = await store()
    await writeFile(cache, 'a file in the way')
    await add('a')
    for (let time = 0; time < 2; time += 1)
      expect(await list()).toEqual({ shown: { a: 'a' }, read: ['a'] })
    expect(existsSync(join(cache, 'x'))).toBe(false)
  })

  it('has room for thousands', async () => {
    const { add, list } = await store()
    const names = Array.from({ length: 1500 }, (_, index) => `session-${index}`)
    for (const name of names) await add(name)
    expect(Object.keys((await list()).shown)).toHaveLength(1500)
    expect((await list()).read).toEqual([])
  })
})
