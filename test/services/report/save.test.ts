import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import * as files from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { saveReport } from '../../../src-main/services/report/save'
import { tempDir } from '../support'

vi.mock('node:fs/promises', { spy: true })
afterEach(() => {
  vi.restoreAllMocks()
})

const error = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })

describe('saving a report', () => {
  it('writes the file and leaves no other files', async () => {
    const dir = await tempDir()
    await saveReport(join(dir, 'r.md'), 'text')
    expect(await readFile(join(dir, 'r.md'), 'utf8')).toBe('text')
    expect(await readdir(dir)).toEqual(['r.md'])
  })

  it('rejects existing paths, even folders and dangling links, and does not change them', async () => {
    const dir = await tempDir()
    await writeFile(join(dir, 'r.md'), 'mine')
    await symlink(join(dir, 'nowhere'), join(dir, 'link'))
    for (const path of [join(dir, 'r.md'), dir, join(dir, 'link')])
      await expect(saveReport(path, 'text')).rejects.toMatchObject({
        kind: 'input',
        message: `${path} already exists.`,
      })
    expect(await readFile(join(dir, 'r.md'), 'utf8')).toBe('mine')
    expect(await readdir(dir)).toEqual(['link', 'r.md'])
  })

  it('reports a folder that does not exist or is a file', async () => {
    const dir = await tempDir()
    await writeFile(join(dir, 'file'), '')
    await expect(saveReport(join(dir, 'nope', 'r.md'), 'text')).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining(`there is no folder ${join(dir, 'nope')}`) as string,
    })
    await expect(saveReport(join(dir, 'file', 'r.md'), 'text')).rejects.toMatchObject({
      kind: 'input',
    })
  })

  it.each([
    ['ENOSPC', 'failed', /the disk is full/],
    ['EACCES', 'input', /not permitted to write there/],
    ['EIO', 'failed', /Could not write/],
  ])('leaves no partial file after %s', async (code, kind, message) => {
    const dir = await tempDir()
    const open = files.open
    vi.mocked(files.open).mockImplementationOnce(async (...args) => {
      const handle = await open(...args)
      await handle.write('half')
      handle.writeFile = () => Promise.reject(error(code))
      return handle
    })
    await expect(saveReport(join(dir, 'r.md'), 'text')).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message) as string,
    })
    expect(await readdir(dir)).toEqual([])
  })
})

describe('saving a report with pictures', () => {
  const pictures = [{ name: 'throughput.svg', text: '<svg/>' }]

  it('puts the pictures into a folder next to the report', async () => {
    const dir = await tempDir()
    await saveReport(join(dir, 'r.md'), 'text', pictures)
    expect((await readdir(dir)).sort()).toEqual(['r.assets', 'r.md'])
    expect(await readFile(join(dir, 'r.assets', 'throughput.svg'), 'utf8')).toBe('<svg/>')
  })

  it('rejects an existing folder, and does not change it', async () => {
    const dir = await tempDir()
    await files.mkdir(join(dir, 'r.assets'))
    await expect(saveReport(join(dir, 'r.md'), 'text', pictures)).rejects.toMatchObject({
      kind: 'input',
      message: `${join(dir, 'r.assets')} already exists.`,
    })
    expect(await readdir(dir)).toEqual(['r.assets'])
  })

  it('leaves neither the report nor the folder if a picture or the report cannot be written', async () => {
    const dir = await tempDir()
    const bad = [{ name: join('nope', 'x.svg'), text: '' }]
    await expect(saveReport(join(dir, 'r.md'), 'text', bad)).rejects.toMatchObject({
      kind: 'input',
    })
    expect(await readdir(dir)).toEqual([])
    const { rename } = await vi.importActual<typeof files>('node:fs/promises')
    vi.mocked(files.rename).mockImplementation((from, to) =>
      String(to).endsWith('.md') ? Promise.reject(error('ENOSPC')) : rename(from, to),
    )
    await expect(saveReport(join(dir, 'r.md'), 'text', pictures)).rejects.toThrow(/disk is full/)
    expect(await readdir(dir)).toEqual([])
  })
})

describe('a full disk', () => {
  it.skipIf(process.platform !== 'linux')(
    'is reported when the operating system detects it',
    async () => {
      // A link to /dev/full simulates a full disk, because writes to /dev/full fail.
      const dir = await tempDir()
      const open = files.open
      vi.mocked(files.open).mockImplementationOnce(() => open('/dev/full', 'w'))
      await expect(saveReport(join(dir, 'r.md'), 'text')).rejects.toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/the disk is full/) as string,
      })
      expect(await readdir(dir)).toEqual([])
    },
  )
})
