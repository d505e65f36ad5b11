// @ts-check
/**
 * Implements a lock across processes. The lock is a folder, which contains a file that names the
 * owner.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root, say } from './project.mjs'

/** Time in milliseconds after which a lock owned by another machine is considered abandoned. */
const foreignLimitMs = 15 * 60_000

/** Maximum time in milliseconds between creating a lock and writing its owner. */
const namelessLimitMs = 5_000

/** @param {string} folder */
function ownerOf(folder) {
  try {
    return readFileSync(join(folder, 'owner'), 'utf8')
  } catch {
    return ''
  }
}

/** @param {string} folder */
function isAbandoned(folder) {
  let age
  try {
    age = Date.now() - statSync(folder).mtimeMs
  } catch {
    return false
  }
  const [pid, host] = ownerOf(folder).split(' ')
  if (!pid) return age > namelessLimitMs
  if (host !== hostname()) return age > foreignLimitMs
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH'
  }
}

/** @param {string} folder */
function clearAway(folder) {
  const owner = ownerOf(folder)
  const aside = `${folder}.${process.pid}`
  try {
    renameSync(folder, aside)
  } catch {
    return
  }
  // If another process has replaced the lock in the meantime, restore that process's lock.
  if (ownerOf(aside) === owner) rmSync(aside, { recursive: true, force: true })
  else renameSync(aside, folder)
}

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {string} [parent]
 * @returns {Promise<T>}
 */
export async function withLock(name, work, parent = join(root, '.cache')) {
  const folder = join(parent, `${name}.lock`)
  mkdirSync(dirname(folder), { recursive: true })
  for (let waited = 0; ; waited += 1) {
    try {
      mkdirSync(folder)
      break
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    if (isAbandoned(folder)) {
      clearAway(folder)
      continue
    }
    if (waited === 10) say(`Waiting for another ${name} to finish…`)
    await wait(200)
  }
  const unlock = () => {
    rmSync(folder, { recursive: true, force: true })
  }
  writeFileSync(join(folder, 'owner'), `${process.pid} ${hostname()}`)
  process.once('exit', unlock)
  try {
    return await work()
  } finally {
    process.off('exit', unlock)
    unlock()
  }
}
