/**
 * Tests remote machines. Each test starts a real sshd on loopback in its own folder, with fake
 * tools. The tests run in parallel, because they mostly wait for connections. Without an sshd, the
 * tests are reported as skipped. With CI=true, the test command installs an sshd.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentProgram } from '../../src-main/adapters/remote/agent-files'
import { faultsOf } from '../json-schemas'
import { sumsFiles, tempDir } from '../services/support'
import { bundle, run, runBundle, start } from './support'
import { putFakes } from '../fakes/program.mjs'

const sshd = '/usr/sbin/sshd'
const hasSshd = existsSync(sshd)

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        done(typeof address === 'object' && address ? address.port : 0)
      })
    })
  })

/** The base folder of this test file, with a folder per machine and a `shared` folder. */
let base: string
const servers: ChildProcess[] = []

interface Host {
  dir: string
  /** The local machine's environment. */
  env: Record<string, string>
  /** Returns a path below the remote machine's root folder. */
  remote: (path: string) => string
  fingerprint: string
  /** The machine's line in a known-hosts file. */
  known: string
  /** Shell commands that run before each remote run. */
  before: string[]
  /** Closes every connection to simulate a network failure. */
  cut: () => void
  words: string[]
}

/** Starts a remote machine. The login shell runs `login` before each command. */
async function host(before: readonly string[] = [], login = ''): Promise<Host> {
  const dir = await mkdtemp(join(base, 'm'))
  const key = (name: string): string => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, name)])
    return join(dir, name)
  }
  const [hostKey, own] = [key('host'), key('own')]
  const port = await freePort()
  await writeFile(join(dir, 'keys'), await readFile(`${own}.pub`))
  await writeFile(
    join(dir, 'sshd.conf'),
    [
      `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${hostKey}\nPidFile none`,
      `AuthorizedKeysFile ${join(dir, 'keys')}\nStrictModes no\nUsePAM no`,
      'PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes',
      // The default post-quantum key exchange takes as long as starting Node.
      'KexAlgorithms curve25519-sha256',
      // Use the machine's folder as HOME, because the test user's shell startup files may be slow.
      `SetEnv HOME=${dir}\n`,
      ...(login === '' ? [] : [`ForceCommand ${login}; eval "$SSH_ORIGINAL_COMMAND"\n`]),
    ].join('\n'),
  )
  await mkdir('/run/sshd', { recursive: true }).catch(() => undefined)
  const server = spawn(sshd, ['-D', '-e', '-f', join(dir, 'sshd.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  servers.push(server)
  await new Promise<void>((ready) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('Server listening')) ready()
    })
  })
  await writeFile(
    join(dir, 'ssh.conf'),
    `Host titan\n HostName 127.0.0.1\n Port ${port}\n IdentityFile ${own}\n IdentitiesOnly yes\n IdentityAgent none\n UserKnownHostsFile ${join(dir, 'known')}\n`,
  )
  const bin = putFakes(join(dir, 'bin'))
  const remote = (path: string): string => join(dir, 'remote', 'kernel-ladder', path)
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  const commands = [
    `export XDG_CACHE_HOME='${join(dir, 'remote')}' KERNEL_LADDER_DATA='${join(dir, 'remote-data')}' PATH='${path}'`,
    // The remote cache is in the default folder. KERNEL_LADDER_CACHE only gives each fake machine
    // its own GPU.
    `export KERNEL_LADDER_PATH_ONLY=1 KERNEL_LADDER_CACHE='${remote('')}'`,
    `export FAKE_LOG='${join(dir, 'calls.log')}' NODE_COMPILE_CACHE='${process.env['NODE_COMPILE_CACHE']}'`,
    ...before,
  ]
  const env = {
    KERNEL_LADDER_CONFIG: join(dir, 'config'),
    KERNEL_LADDER_DATA: join(dir, 'data'),
    KERNEL_LADDER_CACHE: join(dir, 'cache'),
    KERNEL_LADDER_SSH_OPTIONS: `-F\n${join(dir, 'ssh.conf')}`,
    // The local machine has no CUDA.
    PATH: '/usr/bin:/bin',
  }
  const fingerprint = execFileSync('ssh-keygen', ['-lf', `${hostKey}.pub`], {
    encoding: 'utf8',
  }).split(' ')[1]!
  return {
    ...{ dir, env, remote, fingerprint, before: commands },
    known: `[127.0.0.1]:${port} ${await readFile(`${hostKey}.pub`, 'utf8')}`,
    words: [
      'machine',
      'add',
      'titan',
      '--ssh',
      'titan',
      ...commands.flatMap((one) => ['--before', one]),
    ],
    cut() {
      const all = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
      for (const line of all.filter((one) => one.includes(`-F ${join(dir, 'ssh.conf')}`)))
        process.kill(Number.parseInt(line.trim()), 'SIGKILL')
    },
  }
}

/**
 * Starts a machine that was used before: its host key is known, and an earlier run installed the
 * program.
 */
async function added(before: readonly string[] = [], login = ''): Promise<Host> {
  const own = await host(before, login)
  await mkdir(own.env['KERNEL_LADDER_CONFIG']!)
  await writeFile(
    join(own.env['KERNEL_LADDER_CONFIG']!, 'machines.yaml'),
    JSON.stringify({
      kernel_ladder_machines: 1,
      machines: { titan: { ssh: 'titan', before: own.before } },
    }),
  )
  await writeFile(join(own.dir, 'known'), own.known)
  await mkdir(own.remote(''), { recursive: true })
  for (const name of ['agents', 'assets']) await symlink(join(base, name), own.remote(name))
  return own
}

const ladder = ['--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced', '--size', '1024']

describe.skipIf(!hasSshd)('a machine over ssh', () => {
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'kl-machines-'))
    // Install the program as an earlier run would have done.
    const program = join(base, 'agents', (await agentProgram()).hash, 'kernel-ladder.mjs')
    await mkdir(dirname(program), { recursive: true })
    await copyFile(bundle, program)
    await chmod(program, 0o700)
    const { code, stderr } = await runBundle(['ladders'], { KERNEL_LADDER_CACHE: base }, program)
    expect(code, stderr).toBe(0)
  })
  afterAll(async () => {
    for (const server of servers) server.kill('SIGKILL')
    // Processes that a test stopped may still be writing to the folder.
    await rm(base, { recursive: true, force: true, maxRetries: 10 })
  })

  it.concurrent('can be added once its unknown host key is trusted, and is stored in a readable file', async () => {
    const own = await host()
    const asked = await runBundle(own.words, own.env)
    expect(asked.code).toBe(2)
    expect(asked.stderr).toContain(`--fingerprint ${own.fingerprint}`)
    const wrong = await runBundle([...own.words, '--fingerprint', 'SHA256:other'], own.env)
    expect(wrong.code).toBe(2)
    expect(existsSync(join(own.env.KERNEL_LADDER_CONFIG!, 'machines.yaml'))).toBe(false)
    // Trusting the host key alone does not let the user log in.
    await writeFile(join(own.dir, 'keys'), '')
    const trusted = [...own.words, '--fingerprint', own.fingerprint]
    const locked = await runBundle(trusted, own.env)
    expect([locked.code, locked.stderr]).toEqual([
      3,
      expect.stringContaining('titan does not accept your keys'),
    ])
    expect(existsSync(join(own.env.KERNEL_LADDER_CONFIG!, 'machines.yaml'))).toBe(false)
    await writeFile(join(own.dir, 'keys'), await readFile(join(own.dir, 'own.pub')))
    const right = await runBundle([...own.words, '--fingerprint', own.fingerprint], own.env)
    expect(right.code, right.stderr).toBe(0)
    const listed = await runBundle(['machine', 'list', '--json'], own.env)
    expect(faultsOf('machines', JSON.parse(listed.stdout))).toEqual([])
    expect((await runBundle(['machine', 'remove', 'titan'], own.env)).code).toBe(0)
    expect((await runBundle(['machine', 'list'], own.env)).stdout).toMatch(/^There are no machines/)
  })

  it.concurrent('measures its GPU remotely, and the parameters are stored locally', async () => {
    const own = await host()
    await runBundle([...own.words, '--fingerprint', own.fingerprint], own.env)
    const { code, stdout, stderr } = await runBundle(
      ['machine', 'calibrate', 'titan', '--json'],
      own.env,
    )
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/measured dram/)
    const document = JSON.parse(stdout) as { machine: string; file: string; parameters: object }
    expect(faultsOf('machine-calibrate', document)).toEqual([])
    expect(document.machine).toBe('titan')
    expect(document.file).toBe(join(own.env.KERNEL_LADDER_CONFIG!, 'gpus', 'h100.json'))
    const kept = JSON.parse(await readFile(document.file, 'utf8')) as object
    expect(kept).toEqual(document.parameters)
  })

  it.concurrent('receives the program once, passes the check, runs a ladder, and returns the session', async () => {
    const own = await host()
    const { code: told, stderr: why } = await runBundle(
      [...own.words, '--fingerprint', own.fingerprint],
      own.env,
    )
    expect(told, why).toBe(0)
    const checked = await runBundle(['machine', 'check', 'titan', '--json'], own.env)
    expect(checked.code, checked.stderr).toBe(0)
    expect(faultsOf('machine-check', JSON.parse(checked.stdout))).toEqual([])
    const agents = await readdir(own.remote('agents'))
    expect(agents).toHaveLength(1)
    const { code, stdout, stderr } = await runBundle(
      ['run', ...ladder, '--target', 'titan', '--json'],
      own.env,
    )
    expect(code, stderr).toBe(0)
    const document = JSON.parse(stdout) as {
      session: string
      target: object
      rungs: { status: string }[]
    }
    expect(faultsOf('run', document)).toEqual([])
    expect(document.target).toEqual({ kind: 'machine', name: 'titan' })
    expect(document.rungs.map(({ status }) => status)).toEqual(['ok', 'ok'])
    expect(document.session.startsWith(join(own.dir, 'data', 'sessions'))).toBe(true)
    expect(await readdir(document.session)).toEqual(
      expect.arrayContaining([
        'session.json',
        'raw.jsonl',
        'sources',
        'report-there.json',
      ]) as string[],
    )
    expect(await readdir(own.remote('agents'))).toEqual(agents)
    expect(await readdir(own.remote('jobs'))).toEqual([])
    const shown = await runBundle(['show', document.session], own.env)
    expect(shown.stdout).toContain('measured on titan')

    // ncu's report stays on the remote machine until requested. An interrupted fetch resumes.
    const report = join(document.session, 'profile.ncu-rep')
    const note = join(document.session, 'report-there.json')
    expect(existsSync(report)).toBe(false)
    const kept = await readFile(note, 'utf8')
    const [name] = await readdir(own.remote('reports'))
    const bytes = await readFile(own.remote(join('reports', name!)))
    const fetch = ['machine', 'fetch', document.session, '--json']
    await writeFile(`${report}.part`, 'no')
    const damaged = await runBundle(fetch, own.env)
    expect([damaged.code, damaged.stderr]).toEqual([
      1,
      expect.stringContaining('damaged in transit'),
    ])
    expect(existsSync(`${report}.part`)).toBe(false)
    await writeFile(`${report}.part`, bytes.subarray(0, 3))
    const fetched = await runBundle(fetch, own.env)
    expect(fetched.code, fetched.stderr).toBe(0)
    expect(faultsOf('machine-fetch', JSON.parse(fetched.stdout))).toEqual([])
    expect(await readFile(report)).toEqual(bytes)
    expect([await readdir(own.remote('reports')), existsSync(note)]).toEqual([[], false])
    const again = await runBundle(fetch, own.env)
    expect(JSON.parse(again.stdout)).toMatchObject({ report, machine: null })
    await rm(report)
    const none = await runBundle(fetch, own.env)
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining('has no Nsight Compute report'),
    ])
    await writeFile(note, kept)
    const gone = await runBundle(fetch, own.env)
    expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining('no longer on titan')])
  })

  it.concurrent(
    "runs a user's ladder folder, ignoring text that shell startup files print",
    { tags: ['thorough'] },
    async () => {
      const own = await added([], 'echo welcome; echo kl-0 begin; echo news >&2')
      const folder = join(own.dir, 'sums')
      await mkdir(folder)
      for (const [name, text] of Object.entries(sumsFiles()))
        await writeFile(join(folder, name), text)
      const words = ['run', '--ladder', folder, '--target', 'titan', '--profile', 'none']
      const refused = await runBundle(words, own.env)
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('have not trusted'),
      ])
      const { code, stdout, stderr } = await runBundle([...words, '--trust'], own.env)
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/^ *b +ok/m)
    },
  )

  it.concurrent('resumes without losing results after the connection is cut', async () => {
    const own = await added(["export FAKE_FAULTS='02_coalesced=hang'"])
    const rungs = ['--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced,03_shared_tile']
    const words = ['run', ...rungs, '--size', '1024', '--timeout', '8', '--profile', 'none']
    const run = start([...words, '--target', 'titan'], own.env, bundle)
    await run.says('verify 3/4 02_coalesced')
    own.cut()
    await run.says('The connection to titan was lost.')
    const { code, stdout, stderr } = await run.finished
    expect(stderr).toContain('Reconnected to titan; nothing was lost.')
    expect(stdout).toMatch(/02_coalesced +failed/)
    expect(stdout).toMatch(/03_shared_tile +ok/)
    expect(code, stderr).toBe(1)
  })

  it.concurrent(
    'continues when the local machine is switched off, and the session is copied back later',
    { tags: ['thorough'] },
    async () => {
      const gate = join(base, 'gate')
      const own = await added([`export FAKE_FAULTS='02_coalesced=wait' FAKE_GATE='${gate}'`])
      const words = ['run', ...ladder, '--timeout', '600', '--profile', 'none', '--target', 'titan']
      const run = start(words, own.env, bundle)
      await run.says('verify 3/3 02_coalesced')
      run.signal('SIGKILL')
      own.cut()
      await run.finished
      const listed = await runBundle(['machine', 'runs', 'titan', '--json'], own.env)
      const document = JSON.parse(listed.stdout) as { runs: { id: string; state: string }[] }
      expect(faultsOf('machine-runs', document)).toEqual([])
      expect(document.runs).toMatchObject([{ state: 'running', what: 'gemm-fp32', job: null }])
      const resume = ['machine', 'resume', 'titan']
      await writeFile(gate, '')
      const { code, stdout, stderr } = await runBundle([...resume, document.runs[0]!.id], own.env)
      expect([code, stdout], stderr).toEqual([0, expect.stringMatching(/01_naive +ok/)])
      expect(stdout).toMatch(/02_coalesced +ok/)
      expect((await runBundle(['machine', 'runs', 'titan'], own.env)).stdout).toMatch(
        /^There are no runs/,
      )
      const none = await runBundle([...resume, 'other'], own.env)
      expect([none.code, none.stderr]).toEqual([
        2,
        expect.stringContaining('There is no run other'),
      ])
    },
  )

  it.concurrent('stops everything remotely on ^C, and saves the finished part', async () => {
    const own = await added(["export FAKE_FAULTS='02_coalesced=hang'"])
    const run = start(['run', ...ladder, '--timeout', '600', '--target', 'titan'], own.env, bundle)
    await run.says('verify 3/3 02_coalesced')
    run.signal('SIGINT')
    const { code, stdout } = await run.finished
    expect(code).toBe(1)
    expect(stdout).toMatch(/01_naive +ok/)
    const left = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })
    expect(left).not.toContain(join(own.dir, 'remote'))
  })

  it.concurrent(
    'runs sanitize and tune remotely, and forwards the output',
    { tags: ['thorough'] },
    async () => {
      const own = await added()
      const checks = ['sanitize', ...ladder.slice(0, 4), '--tool', 'memcheck', '--json']
      const checked = await runBundle([...checks, '--target', 'titan'], own.env)
      expect(checked.code, checked.stderr).toBe(0)
      expect(faultsOf('sanitize', JSON.parse(checked.stdout))).toEqual([])
      const sweep = ['--ladder', 'gemm-fp32', '--rung', '04_thread_tile_1d', '--size', '1024']
      const t4 = join(own.dir, 't4.json')
      const tuned = await runBundle(
        ['tune', ...sweep, '--param', 'BM=32,64', '--t4', t4, '--target', 'titan'],
        own.env,
      )
      expect(tuned.code, tuned.stderr).toBe(0)
      expect(tuned.stdout).toContain('The best, timed again alternately:')
      expect(JSON.parse(await readFile(t4, 'utf8'))).toHaveProperty('results')
      const bad = await runBundle(['tune', ...sweep, '--target', 'static:h200'], own.env)
      expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('no GPU to tune on')])
    },
  )

  it.concurrent(
    'reports errors in the same way as a local run',
    { tags: ['thorough'] },
    async () => {
      const own = await added()
      const bad = await runBundle(['run', ...ladder, '--target', 'titan', '--gpu', '7'], own.env)
      expect(bad.code).toBe(2)
      const failing = await added(['no_such_command'])
      const { code, stderr } = await runBundle(['run', ...ladder, '--target', 'titan'], failing.env)
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('The command before the run failed'),
      ])
      const none = await runBundle(['run', ...ladder, '--target', 'nowhere'], own.env)
      expect([none.code, none.stderr]).toEqual([
        2,
        expect.stringContaining('There is no machine named nowhere.'),
      ])
    },
  )
})

describe('machine add', () => {
  it.each([
    ['local', /means something else after --target/],
    ['static', /means something else/],
    ['a b', /cannot name a machine/],
    ['-x', /unknown option/],
  ])('rejects the name %s', async (name, why) => {
    const dir = await tempDir()
    const { code, stderr } = await run(['machine', 'add', name, '--ssh', 'x'], {
      KERNEL_LADDER_CONFIG: dir,
    })
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  })

  it.each([
    ['an invalid host name', ['--ssh', '-oProxyCommand=x'], 2, /--ssh must be a host/],
    [
      'a host that does not exist',
      ['--ssh', 'nowhere.invalid'],
      3,
      /There is no host nowhere.invalid/,
    ],
    ['no host', [], 2, /--ssh HOST is missing/],
  ])('rejects %s', async (_, words, status, why) => {
    const dir = await tempDir()
    const { code, stderr } = await run(['machine', 'add', 'titan', ...words], {
      KERNEL_LADDER_CONFIG: dir,
    })
    expect([code, stderr]).toEqual([status, expect.stringMatching(why)])
  })

  it('reports the line of an unknown key in machines.yaml', async () => {
    const dir = await tempDir()
    await writeFile(
      join(dir, 'machines.yaml'),
      'kernel_ladder_machines: 1\nmachines:\n  titan:\n    ssh: titan\n    pasword: x\n',
    )
    const { code, stderr } = await run(['machine', 'list'], { KERNEL_LADDER_CONFIG: dir })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/machines\.yaml:5:5: .*pasword/)])
  })
})
