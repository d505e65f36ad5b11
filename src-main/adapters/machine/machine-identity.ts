/**
 * Collects names that identify this machine and its user. Reports must not contain the collected
 * names.
 */
import { homedir, hostname, tmpdir, userInfo } from 'node:os'

export interface Privates {
  folders: readonly string[]
  words: readonly string[]
}

export function machinePrivates(): Privates {
  const name = hostname()
  const [short = ''] = name.split('.')
  let user = ''
  try {
    user = userInfo().username
  } catch {
    // In a container, the user id may have no user name.
  }
  return { folders: [homedir(), tmpdir()], words: [name, short, user] }
}
