// @ts-check
/**
 * Installs the servers that the tests of remote machines need: an sshd, and Slurm with munge.
 *
 * If a server cannot be installed, the tests that need it are skipped, and the output says so.
 */
import { existsSync } from 'node:fs'
import { say } from './project.mjs'
import { isCi, isDebianRoot, installFromDistribution } from './distribution-packages.mjs'

/** For each server package, a path that exists if the package is installed. */
const servers = {
  'openssh-server': '/usr/sbin/sshd',
  munge: '/usr/sbin/munged',
  slurmctld: '/usr/sbin/slurmctld',
  slurmd: '/usr/sbin/slurmd',
  'slurm-client': '/usr/bin/sbatch',
}

/**
 * Returns the server packages to install. Packages are installed only in CI, because a test must
 * not add a server to other machines.
 */
export const missingServers = () =>
  isCi() && isDebianRoot()
    ? Object.entries(servers).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))
    : []

export async function obtainServers() {
  const missing = missingServers()
  if (missing.length === 0) return
  const failed = await installFromDistribution(missing)
  if (failed !== undefined) say(`${failed}: tests that need these servers are skipped.`)
}
