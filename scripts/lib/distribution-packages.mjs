// @ts-check
/** Installs packages from the Linux distribution. */
import { existsSync } from 'node:fs'
import { runChild } from './child.mjs'
import { say } from './project.mjs'

export const isCi = () => process.env['CI'] === 'true'

export const isRoot = () => process.getuid?.() === 0

export const isDebianRoot = () => isRoot() && existsSync('/etc/debian_version')

/**
 * @param {readonly string[]} packages
 * @returns {Promise<string | undefined>} an error message
 */
export async function installFromDistribution(packages) {
  say(`Installing ${packages.join(', ')} with apt-get…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Don't install manual pages in CI, because nobody reads them there. Omitting manual pages saves
  // a fifth of the installation time.
  const brief = isCi() ? ['-o', 'Dpkg::Options::=--path-exclude=/usr/share/man/*'] : []
  const install = [...brief, 'install', '-y', '--no-install-recommends', ...packages]
  for (const args of [['update'], install]) {
    const told = await runChild('apt-get', ['-q', ...args], {
      output: 'kept',
      env,
      timeoutMs: 180_000,
    })
    if (told.code !== 0) return `apt-get ${args[0]} ended with ${told.code}`
  }
  return undefined
}
