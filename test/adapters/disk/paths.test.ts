import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cacheDir, dataDir, sharedCacheDir } from '../../../src-main/adapters/disk/paths'
import { setEnv } from '../../services/support'

const own = join(homedir(), '.local', 'share', 'kernel-ladder')

it.each([
  [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: '' }, own],
  [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: 'data' }, own],
  [{ KERNEL_LADDER_DATA: '', XDG_DATA_HOME: '/shared' }, '/shared/kernel-ladder'],
  [{ KERNEL_LADDER_DATA: '/mine', XDG_DATA_HOME: '/shared' }, '/mine'],
  [{ KERNEL_LADDER_DATA: 'mine', XDG_DATA_HOME: '/shared' }, join(process.cwd(), 'mine')],
])('keeps sessions with %j in %s', (env, folder) => {
  setEnv(env)
  expect(dataDir()).toBe(folder)
})

it('takes a variable that is set to nothing for one that is not set', () => {
  setEnv({ KERNEL_LADDER_CACHE: '', XDG_CACHE_HOME: '', KERNEL_LADDER_SHARED_CACHE: '' })
  expect(cacheDir()).toBe(join(homedir(), '.cache', 'kernel-ladder'))
  expect(sharedCacheDir()).toBeNull()
})
