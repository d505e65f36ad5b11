/** Tests folder locations and folder ownership by processes. */
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { homedir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { stageFolder } from '../../../src-main/adapters/disk/staging'
import { setEnv, tempDir } from '../../services/support'
import { cacheDir, sharedCacheDir, userFolders } from '../../../src-main/adapters/disk/paths'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import { ownFolder, sweepAbandoned } from '../../../src-main/adapters/disk/owned-folder'

describe('ownership', () => {
  const ownerOf = (folder: string): string => join(folder, '.owner.json')

  async function editOwner(folder: string, change: Record<string, unknown>): Promise<void> {
    const owner = JSON.parse(await readFile(ownerOf(folder), 'utf8')) as object
    await writeFile(ownerOf(folder), JSON.stringify({ ...owner, ...change }))
  }

  /** Returns the id of a process that has just ended. */
  const endedPid = (): number => spawnSync(process.execPath, ['-e', '0']).pid

  async function age(folder: string, days: number): Promise<void> {
    const then = new Date(Date.now() - days * 24 * 3600 * 1000)
    await utimes(ownerOf(folder), then, then).catch(() => undefined)
    await utimes(folder, then, then)
  }

  const isThere = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    )

  /**
   * Creates a folder, changes its owner, sweeps abandoned folders, and returns whether the folder
   * still exists.
   */
  async function survives(change: Record<string, unknown>, days = 0): Promise<boolean> {
    const folder = await ownFolder(await tempDir(), 'session')
    await editOwner(folder.path, change)
    await age(folder.path, days)
    await sweepAbandoned(join(folder.path, '..'))
    const there = await isThere(folder.path)
    await folder.remove()
    return there
  }

  describe('a folder', () => {
    it('remains while the process that owns it is running', async () => {
      expect(await survives({})).toBe(true)
    })

    it('is removed when its owner has ended', async () => {
      expect(await survives({ pid: endedPid() })).toBe(false)
    })

    it('is removed when another process has reused its owner’s process id', async () => {
      expect(await survives({ started: '1' })).toBe(false)
    })

    it.each([
      ['another machine or container', { realm: 'elsewhere pid:[1]' }],
      ['nobody knows where', { realm: null }],
    ])('from %s is judged by its age, not by its owner’s process id', async (_where, change) => {
      const of = { ...change, pid: endedPid() }
      expect(await survives(of)).toBe(true)
      expect(await survives(of, 6)).toBe(true)
      expect(await survives(of, 8)).toBe(false)
    })

    it('without an owner is judged by its age, because it may be new', async () => {
      const dir = await tempDir()
      const name = '.session.partial-999999999-0123abcd'
      await mkdir(join(dir, name))
      await sweepAbandoned(dir)
      expect(await readdir(dir)).toEqual([name])
      await age(join(dir, name), 8)
      await sweepAbandoned(dir)
      expect(await readdir(dir)).toEqual([])
    })

    it.each(['.keep-me', 'session', '.session.partial', 'session.partial-1-0123abcd'])(
      'is recognized by its name: %s is not removed',
      async (name) => {
        const dir = await tempDir()
        await mkdir(join(dir, name))
        await age(join(dir, name), 800)
        await sweepAbandoned(dir)
        expect(await readdir(dir)).toEqual([name])
      },
    )

    it('is removed from the temporary folder when a session is staged elsewhere', async () => {
      const [temporary, dir] = [await tempDir(), await tempDir()]
      setEnv({ TMPDIR: temporary })
      const left = await ownFolder(temporary, 'kernel-ladder')
      await editOwner(left.path, { pid: endedPid() })
      await stageFolder(join(dir, 'session'))
      expect(await readdir(temporary)).toEqual([])
    })

    it('is removed when another folder is created next to it after its owner has ended', async () => {
      const dir = await tempDir()
      const first = await ownFolder(dir, 'first')
      await editOwner(first.path, { pid: endedPid() })
      const second = await ownFolder(dir, 'second')
      expect(await readdir(dir)).toEqual([basename(second.path)])
      await second.disown()
      expect(await readdir(second.path)).toEqual([])
      await first.remove()
    })
  })
})

describe('the user’s folders', () => {
  const own = join(homedir(), '.local', 'share', 'kernel-ladder')

  it.each([
    [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: '' }, own],
    [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: 'data' }, own],
    [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: '/shared' }, '/shared/kernel-ladder'],
    [{ KERNEL_LADDER_DATA: '/mine', XDG_DATA_HOME: '/shared' }, '/mine'],
    [{ KERNEL_LADDER_DATA: 'mine', XDG_DATA_HOME: '/shared' }, join(process.cwd(), 'mine')],
  ])('with the environment %j store sessions in %s', (env, folder) => {
    setEnv(env)
    expect(userFolders().sessions).toBe(join(folder, 'sessions'))
  })

  it('treat an empty environment variable as unset', () => {
    setEnv({ KERNEL_LADDER_CACHE: '', XDG_CACHE_HOME: '', KERNEL_LADDER_SHARED_CACHE: '' })
    expect(cacheDir()).toBe(join(homedir(), '.cache', 'kernel-ladder'))
    expect(sharedCacheDir()).toBeNull()
  })
})

describe('the build cache', () => {
  const inputs = {
    ...{ sources: new Map([['a.cu', '// a kernel']]), flags: ['-O3'] },
    ...{ compiler: 'release 13.0', output: 'rung.so' },
  }
  const build = { argv: ['nvcc'], stdout: '', stderr: '', seconds: 1 }

  it.each([
    ['emptied', ''],
    ['cut off', 'machine'],
    ['changed', 'machine cod3'],
  ])('rebuilds an entry that was %s', async (_, damaged) => {
    const cache = diskBuildCache(await tempDir(), null)
    const first = await cache.slot(inputs)
    expect(first.kept).toBeNull()
    await writeFile(first.pending, 'machine code')
    await first.keep(build)
    expect((await cache.slot(inputs)).kept).toEqual(build)

    await writeFile(first.artifact, damaged)
    const again = await cache.slot(inputs)
    expect(again.kept).toBeNull()
    await writeFile(again.pending, 'machine code')
    await again.keep(build)
    expect((await cache.slot(inputs)).kept).toEqual(build)
  })
})
