/**
 * Starts a remote machine for the fault tests. The machine is an sshd on loopback with fake tools,
 * in a folder outside the bench's folder.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { putFakes } from '../fakes/program.mjs'

const sshd = '/usr/sbin/sshd'

export interface Remote {
  /** The local machine's environment. */
  env: Record<string, string>
  /** The arguments of `kernel-ladder machine add`. */
  add: string[]
  /** Closes every connection, as if the network failed. */
  cut: () => void
  /** Returns one sentence for each process that still runs on the remote machine. */
  left: () => string[]
  close: () => void
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => {
        done(port)
      })
    })
  })

const processes = (): string[] =>
  execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')

export async function openRemote(): Promise<Remote> {
  const dir = mkdtempSync(join(tmpdir(), 'kl-other-'))
  const place = (name: string): string => join(dir, name)
  for (const name of ['host', 'own'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', place(name)])
  writeFileSync(place('keys'), readFileSync(place('own.pub')))
  const port = await freePort()
  const server = [
    `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${place('host')}\nPidFile none`,
    `AuthorizedKeysFile ${place('keys')}\nStrictModes no\nUsePAM no`,
    'PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n',
  ]
  writeFileSync(place('sshd.conf'), server.join('\n'))
  mkdirSync('/run/sshd', { recursive: true })
  const child = spawn(sshd, ['-D', '-e', '-f', place('sshd.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((ready) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Server listening')) ready()
    })
  })
  const client = [
    `Host titan\n HostName 127.0.0.1\n Port ${port}\n IdentityFile ${place('own')}\n IdentitiesOnly yes`,
    ` IdentityAgent none\n UserKnownHostsFile ${place('known')}\n`,
  ]
  writeFileSync(place('ssh.conf'), client.join('\n'))
  const path = [putFakes(place('fakes')), dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  const before = [
    `export XDG_CACHE_HOME='${place('there')}' KERNEL_LADDER_DATA='${place('data')}' PATH='${path}'`,
    `export KERNEL_LADDER_PATH_ONLY=1`,
  ]
  const fingerprint = execFileSync('ssh-keygen', ['-lf', place('host.pub')], { encoding: 'utf8' })
  const told = ['--fingerprint', fingerprint.split(' ')[1]!]
  return {
    env: {
      KERNEL_LADDER_CONFIG: place('config'),
      KERNEL_LADDER_SSH_OPTIONS: `-F\n${place('ssh.conf')}`,
    },
    add: [
      ...['machine', 'add', 'titan', '--ssh', 'titan', ...told],
      ...before.flatMap((one) => ['--before', one]),
    ],
    cut() {
      for (const line of processes().filter((one) => one.includes(`-F ${place('ssh.conf')}`)))
        process.kill(Number.parseInt(line.trim()), 'SIGKILL')
    },
    left: () => processes().filter((line) => line.includes(place('there'))),
    close() {
      child.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
