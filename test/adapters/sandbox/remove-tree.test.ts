/** What a submission leaves is removed, however it was left. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeTree } from '../../../src-main/adapters/sandbox/remove-tree'
import { tempDir } from '../../services/support'

const bury = `
const fs = require('fs'), name = 'n'.repeat(200)
for (let deep = 0; deep < 60; deep += 1) {
  fs.mkdirSync('shut'); fs.writeFileSync('shut/file', ''); fs.chmodSync('shut', 0)
  fs.mkdirSync(name); process.chdir(name)
}`

it('removes folders that nobody may enter, and those deeper than a path is long', async () => {
  const folder = join(await tempDir(), 'left')
  await mkdir(folder)
  execFileSync(process.execPath, ['-e', bury], { cwd: folder })
  expect(await removeTree(folder)).toBe(true)
  expect(existsSync(folder)).toBe(false)
})

it('says so where a folder cannot be removed', async () => {
  expect(await removeTree('/proc/self')).toBe(false)
})
