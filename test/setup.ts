/** Keeps what tests save and cache out of the user's own folders. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-test-'))
  process.env['KERNEL_LADDER_DATA'] = join(folder, 'data')
  process.env['KERNEL_LADDER_CACHE'] = join(folder, 'cache')
  return () => {
    rmSync(folder, { recursive: true, force: true })
  }
}
