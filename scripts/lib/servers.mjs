// @ts-check
/** Servers for the tests of other machines, which are skipped by name without them: an sshd, and Slurm with munge. */
import { existsSync } from 'node:fs'
import { runChild } from './child.mjs'
import { say } from './project.mjs'

/** A file of each package, by the package. */
const servers = {
  'openssh-server': '/usr/sbin/sshd',
  munge: '/usr/sbin/munged',
  slurmctld: '/usr/sbin/slurmctld',
  slurmd: '/usr/sbin/slurmd',
  'slurm-client': '/usr/bin/sbatch',
}

/** Installs them in CI alone: elsewhere a test must not add a server to the machine. */
export async function obtainServers() {
  const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  const missing = Object.entries(servers).flatMap(([name, file]) =>
    existsSync(file) ? [] : [name],
  )
  if (missing.length === 0 || process.env['CI'] !== 'true' || !canInstall) return
  say(`Installing ${missing.join(', ')} with apt-get…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const told = await runChild('apt-get', ['-q', ...args], {
      output: 'kept',
      env,
      timeoutMs: 180_000,
    })
    if (told.code !== 0) {
      say(`apt-get ${args[0]} ended with ${told.code}: tests that need these servers are skipped.`)
      return
    }
  }
}
