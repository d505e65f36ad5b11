/** Tests the small JSON files that store user data. */
import { mkdir, readdir, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { jsonFile } from '../../../src-main/adapters/disk/json-file'
import { tempDir } from '../../services/support'

const Names = z.array(z.string())

describe('a JSON file', () => {
  it('is read as empty if it is missing or damaged, and can then be replaced', async () => {
    const path = join(await tempDir(), 'new', 'names.json')
    const file = jsonFile(path, Names, [])
    expect(await file.read()).toEqual([])
    await file.change((names) => [...names, 'a'])
    await writeFile(path, '["a", ')
    expect(await file.read()).toEqual([])
    await writeFile(path, '[1]')
    expect(await file.change((names) => [...names, 'b'])).toEqual(['b'])
    expect(await file.read()).toEqual(['b'])
  })

  it('saves the changes from all simultaneous calls', async () => {
    const folder = await tempDir()
    const path = join(folder, 'names.json')
    const names = Array.from({ length: 20 }, (_, index) => `name ${index}`)
    await Promise.all(
      names.map((name) => jsonFile(path, Names, []).change((known) => [...known, name])),
    )
    expect(await jsonFile(path, Names, []).read()).toEqual(names)
    expect(await readdir(folder)).toEqual(['names.json'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('reports a failed write, explains how to use another location, and accepts the next change', async () => {
    const path = join(await tempDir(), 'names.json')
    const file = jsonFile(path, Names, [], 'cache')
    // Put a folder in the file's place, because file permissions would not stop root.
    await mkdir(path)
    await expect(file.change(() => ['a'])).rejects.toThrow(/names\.json/)
    await rmdir(path)
    expect(await file.change((names) => [...names, 'b'])).toEqual(['b'])
  })
})
