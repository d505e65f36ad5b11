/**
 * Keeps tests from saving and caching in the user's own folders. Programs started by tests share a
 * cache of compiled scripts. The tests start programs some hundred times, and compiling takes a
 * third of a start.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The limit of disk space that tests use at a time, with a large margin. */
const mostBytes = 2 ** 31

/**
 * Creates a folder in memory, where creating a file takes a fortieth of the time on disk. Returns
 * null if programs cannot run from such a folder.
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
  // Some tests run as another user, who must be able to read the folder.
  chmodSync(folder, 0o755)
  // Everything left behind by a test or its programs is removed with the folder.
  process.env['TMPDIR'] = folder
  process.env['KERNEL_LADDER_DATA'] = join(folder, 'data')
  process.env['KERNEL_LADDER_CACHE'] = join(folder, 'cache')
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled')
  process.env['FAKE_ANSWERS'] = join(folder, 'answers')
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
