/** What a submission leaves is removed, however it was left. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeTree } from '../../../src-main/adapters/disk/remove-tree'
import { tempDir } from '../../services/support'

it('removes folders that nobody may enter, and those deeper than a path is long', async () => {
  const folder = join(await tempDir(), 'left')
  await mkdir(folder)
  execFileSync('sh', [
    '-c',
    'cd "$1"; mkdir shut; touch shut/file; for n in $(seq 60); do mkdir "$2" && cd "$2" || exit; done; mkdir shut; touch shut/file; chmod 000 shut "$1/shut"',
    ...['sh', folder, 'n'.repeat(200)],
  ])
  expect(await removeTree(folder)).toBe(true)
  expect(existsSync(folder)).toBe(false)
})

it('says so where a folder cannot be removed', async () => {
  expect(await removeTree('/proc/self')).toBe(false)
})
