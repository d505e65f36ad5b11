// @ts-check
/** An sshd for the tests of other machines, which are skipped by name without one. */
import { existsSync } from 'node:fs'
import { runChild } from './child.mjs'
import { say } from './project.mjs'

/** Installs it in CI alone: elsewhere a test must not add a server to the machine. */
export async function obtainSshd() {
  const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (existsSync('/usr/sbin/sshd') || process.env['CI'] !== 'true' || !canInstall) return
  say('Installing the package "openssh-server" with apt-get…')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'openssh-server']]) {
    const told = await runChild('apt-get', ['-q', ...args], {
      output: 'kept',
      env,
      timeoutMs: 120_000,
    })
    if (told.code !== 0) return
  }
}
