/**
 * Keeps what tests save and cache out of the user's own folders. The programs that tests start share a cache of compiled
 * scripts: they are started some hundred times, and compiling takes a third of a start.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-test-'))
  process.env['KERNEL_LADDER_DATA'] = join(folder, 'data')
  process.env['KERNEL_LADDER_CACHE'] = join(folder, 'cache')
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled')
  return () => {
    rmSync(folder, { recursive: true, force: true })
  }
}
