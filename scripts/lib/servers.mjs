// @ts-check
/**
 * Servers for the tests of remote machines: an sshd, and Slurm with munge.
 *
 * Without them, these tests are skipped by name.
 */
import { existsSync } from 'node:fs'
import { say } from './project.mjs'
import { isCi, isDebianRoot, installFromDistribution } from './distribution-packages.mjs'

/** A file of each package, by package. */
const servers = {
  'openssh-server': '/usr/sbin/sshd',
  munge: '/usr/sbin/munged',
  slurmctld: '/usr/sbin/slurmctld',
  slurmd: '/usr/sbin/slurmd',
  'slurm-client': '/usr/bin/sbatch',
}

/** Returns the server packages to install. Only in CI, since a test must not add a server to other machines. */
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
