import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DoctorCheck } from '../../src-main/contract/index'
import { diagnose } from '../../src-main/services/doctor/doctor'
import { ncuFailures } from '../fakes/ncu.mjs'
import { fakeMachine, setEnv, type Machine, tempDir } from './support'
import { said } from '../support'
import { inEnglish } from '../../src-main/domain/text/english'
import { createCore } from '../../src-main/services/app/core'
import { answer } from '../../src-main/adapters/remote/remote-host'
import { localShell, sshShell } from '../../src-main/adapters/remote/ssh'
import type { ProcessCall } from '../../src-main/adapters/tools/process'
import { setUp as hostSetUp } from '../../src-main/adapters/machine/local-machine'

async function counters({ setup }: Machine): Promise<DoctorCheck> {
  const { checks } = await diagnose(setup.machine, setup.assets)
  return checks.find(({ id }) => id === 'counters')!
}

// Test only the probe, because access to the counters depends on the machine.
describe("the doctor's counter test", () => {
  it('reads one counter of a small kernel, with one ncu process', async () => {
    const machine = await fakeMachine()
    const { detail, remedy } = await counters(machine)
    expect(said(detail)).toMatch(/ncu read a counter\.$/)
    expect(remedy).toBeUndefined()
    const trials = machine.calls('ncu').filter((call) => !call.includes('--version'))
    expect(trials).toHaveLength(1)
    expect(trials[0]!.slice(-1)).toEqual(['probe'])
  })

  it.each([
    ['counter-permission', /ERR_NVGPUCTRPERM/, /NVreg_RestrictProfilingToAdminUsers=0/],
    ['counters-busy', /DCGM/, /dcgmi profile --pause/],
    ['driver-library', /cannot load the driver's profiling library/, /same driver version/],
    ['driver-incompatible', /driver is too old/, /Update the driver/],
    ['application-failed', /failed with exit code 9/, /without profiling/],
    ['unknown-metric', /does not know the metric/, /CUDA 12 or later/],
    ['lock-file', /lock file/, /TMPDIR/],
    ['no-kernels', /profiled no kernel/, /without profiling/],
  ] as const)('recognizes %s and suggests the remedy', async (kind, detail, remedy) => {
    expect(Object.keys(ncuFailures)).toContain(kind)
    const machine = await fakeMachine()
    setEnv({ FAKE_NCU: kind })
    const found = await counters(machine)
    expect(found.status).toBe('missing')
    expect(said(found.detail)).toMatch(detail)
    expect(said(found.remedy)).toMatch(remedy)
  })

  it('is skipped if its requirements are missing', async () => {
    const machine = await fakeMachine(['nvcc'])
    expect(said((await counters(machine)).detail)).not.toMatch(/ncu read a counter/)
    expect(machine.calls('ncu').filter((call) => !call.includes('--version'))).toEqual([])
  })
})

// Tests calls for remote machines. A fake ssh responds like OpenSSH 9.2 without connecting.

const key = 'ssh-ed25519 SHA256:0aPZ4sQXo1nCkLwY7mD2b8RfTgVhUjEiKoNpMqSrWtE'

/**
 * Creates a core. The host key is trusted once it has been accepted, and the host `down` refuses
 * connections.
 */
async function core() {
  const dir = await tempDir()
  const bin = join(dir, 'bin')
  await mkdir(bin)
  await writeFile(
    join(bin, 'ssh'),
    [
      '#!/bin/sh',
      'case "$*" in *-G*) printf "hostname 10.0.0.7\\nuser ada\\nport 2222\\n"; exit 0;; esac',
      'case "$*" in *" down "*) echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255;; esac',
      `echo "debug1: Server host key: ${key}" >&2`,
      `case "$*" in *accept-new*) touch ${dir}/trusted;; esac`,
      `[ -f ${dir}/trusted ] || { echo "Host key verification failed." >&2; exit 255; }`,
      'case "$*" in *" true"*) exit 0;; esac',
      'for last; do :; done; exec sh -c "$last"',
    ].join('\n'),
  )
  await chmod(join(bin, 'ssh'), 0o755)
  setEnv({
    KERNEL_LADDER_CONFIG: join(dir, 'config'),
    XDG_CACHE_HOME: join(dir, 'remote'),
    PATH: [bin, '/usr/bin', '/bin'].join(delimiter),
  })
  const own = createCore(await hostSetUp(), { host: 'web' })
  return { call: own.call.bind(own), file: join(dir, 'config/machines.yaml') }
}

describe('machines in the UI', () => {
  it('show their ssh host, key, and reachability, and are added only with this key', async () => {
    const { call, file } = await core()
    const looked = await call('machines.look', { host: 'titan' })
    expect(looked).toEqual({
      ...{ hostname: '10.0.0.7', user: 'ada', port: '2222' },
      ...{ fingerprint: key, known: false },
    })
    const titan = { name: 'titan', host: 'titan', slurm: null }
    const unseen = call('machines.add', { ...titan, fingerprint: null })
    await expect(unseen).rejects.toMatchObject({ kind: 'input' })
    const other = call('machines.add', { ...titan, fingerprint: 'ssh-ed25519 SHA256:other' })
    await expect(other).rejects.toMatchObject({ kind: 'input' })
    await call('machines.add', { ...titan, fingerprint: key })
    expect(await readFile(file, 'utf8')).toContain('ssh: titan')
    const { machines } = await call('machines.list', {})
    expect(machines).toEqual([{ name: 'titan', ssh: 'titan', slurm: null }])
    expect(await call('machines.check', { name: 'titan' })).toEqual({ error: null })
    const again = call('machines.add', { ...titan, fingerprint: null })
    await expect(again).rejects.toMatchObject({ kind: 'input' })
  })

  it('report an unreachable or invalid host, an invalid name, and a faulty file', async () => {
    const { call, file } = await core()
    await expect(call('machines.look', { host: 'down' })).rejects.toMatchObject({ kind: 'missing' })
    await expect(call('machines.look', { host: '-oProxyCommand=x' })).rejects.toMatchObject({
      kind: 'input',
    })
    const named = { name: 'local', host: 'titan', slurm: null, fingerprint: key }
    await expect(call('machines.add', named)).rejects.toMatchObject({ kind: 'input' })
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, 'kernel_ladder_machines: 1\nmachines: { gone: { ssh: down } }\n')
    const checked = await call('machines.check', { name: 'gone' })
    expect(checked.error).toMatchObject({ kind: 'missing' })
    await writeFile(file, 'machines: 1\n')
    const { machines, error } = await call('machines.list', {})
    expect([machines, error?.kind]).toEqual([[], 'input'])
    // The core returns messages, so that the UI can translate them.
    const faulty =
      'kernel_ladder_machines: 1\nmachines:\n  titan: { ssh: "-x" }\n  other: { shh: titan }\n'
    await writeFile(file, faulty)
    const { error: told } = await call('machines.list', {})
    expect(told!.message).toMatchObject({
      key: 'written.fault',
      values: {
        place: `${file}:3:12`,
        fault: { key: 'written.is', values: { what: { key: 'written.sshHost' } } },
      },
    })
    expect(inEnglish(told!.message)).toBe(
      `${file}:3:12: machines.titan.ssh: a host that \`ssh\` accepts, such as titan.example.org or user@titan.`,
    )
    expect(inEnglish(told!.remedy!)).toContain(
      'There is no key "shh" in machines.other. Did you mean ssh?',
    )
  })
})

describe('a script on another machine', () => {
  it('is treated as lost if it is silent, but not while it consumes data', async () => {
    const calls: ProcessCall[] = []
    const silent = sshShell('titan', 'titan', [], (call) => {
      calls.push(call)
      return Promise.resolve({
        ...{ outcome: 'idle', exitCode: null, signal: null, stdout: '', stderr: '', seconds: 60 },
      })
    })
    await expect(answer(silent, 'a look', 'true')).rejects.toThrow(
      /Shell scripts cannot run on titan/,
    )
    await answer(silent, 'the program', 'cat', Buffer.from('data')).catch(() => undefined)
    expect(calls.map(({ idleMs }) => idleMs)).toEqual([60_000, undefined])
  })

  it('is treated as lost if it prints endlessly', async () => {
    const shell = localShell('this machine')
    await expect(answer(shell, 'a look', 'yes')).rejects.toThrow(/was lost during a look/)
  })
})
