/** Removes a folder that someone else filled: with folders nobody may enter, or deeper than a path is long. */
import { rm } from 'node:fs/promises'
import { pathExists } from '../disk/disk'
import { runProcess } from '../tools/process'

/** Whether it is gone. Never throws: what cannot be removed is for the caller to tell. */
export async function removeTree(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // Both go down folder by folder, so that no path is too long for them.
    await runProcess({ file: 'chmod', args: ['-R', 'u+rwx', '--', path], timeoutMs: 60_000 })
    await runProcess({ file: 'rm', args: ['-rf', '--', path], timeoutMs: 60_000 })
  }
  return !(await pathExists(path))
}
