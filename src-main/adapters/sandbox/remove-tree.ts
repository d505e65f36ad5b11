/** Removes a folder with untrusted contents: inaccessible folders, or paths longer than the path limit. */
import { rm } from 'node:fs/promises'
import { pathExists } from '../disk/disk'
import { runProcess } from '../tools/process'

/** Returns whether it is gone. Never throws; the caller reports what cannot be removed. */
export async function removeTree(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // Both descend folder by folder, so no path is too long for them.
    await runProcess({ file: 'chmod', args: ['-R', 'u+rwx', '--', path], timeoutMs: 60_000 })
    await runProcess({ file: 'rm', args: ['-rf', '--', path], timeoutMs: 60_000 })
  }
  return !(await pathExists(path))
}
