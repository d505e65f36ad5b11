/**
 * Prevents tests from saving and caching in the user's folders. Programs started by tests share a
 * cache of compiled scripts. The tests start several hundred programs, and compiling takes a third
 * of the startup time.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Upper limit for the disk space that tests use at the same time, with a large margin. */
const mostBytes = 2 ** 31

/**
 * Creates an in-memory folder. Creating a file in memory takes a fortieth of the time that it takes
 * on disk. Returns null if programs in `/dev/shm` cannot be executed.
 */
function folderInMemory(): string | null {
  const place = '/dev/shm'
  let folder: string | null = null
  try {
    const { bavail, bsize } = statfsSync(place)
    if (bavail * bsize < mostBytes) return null
    folder = mkdtempSync(join(place, 'kl-'))
    const program = join(folder, 'true')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(program)
    rmSync(program)
    return folder
  } catch {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    return null
  }
}

export default function setup(): () => void {
  const folder = folderInMemory() ?? mkdtempSync(join(tmpdir(), 'kl-'))
  // Some tests run as another user, which needs read access to the folder.
  chmodSync(folder, 0o755)
  // All files that tests or their programs leave behind are removed with the folder.
  process.env['TMPDIR'] = folder
  process.env['KERNEL_LADDER_DATA'] = join(folder, 'data')
  process.env['KERNEL_LADDER_CACHE'] = join(folder, 'cache')
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled')
  process.env['FAKE_ANSWERS'] = join(folder, 'answers')
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
