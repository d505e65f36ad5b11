/** Tests scripts/gpu/record.sh with the built program. A recording replaces the GPU. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { root } from '../services/support'

const exec = promisify(execFile)

describe.skipIf(process.platform !== 'linux')('record.sh', () => {
  let home = ''
  let out = ''

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'kl-record-'))
    out = await mkdtemp(join(tmpdir(), 'kl-record-out-'))
    const script = join(root, 'scripts/gpu/record.sh')
    await copyFile(script, join(home, 'record.sh'))
    // A script that starts this Node binary. Compressing the binary itself would take a minute.
    await writeFile(join(home, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
    await copyFile(join(root, 'dist/cli/kernel-ladder.mjs'), join(home, 'kl.mjs'))
    await exec('xz', ['-0', join(home, 'node'), join(home, 'kl.mjs')])
  })

  afterEach(async () => {
    for (const folder of [home, out]) await rm(folder, { recursive: true, force: true })
  })

  const record = async (lines: readonly string[], budget = '60') => {
    await writeFile(join(home, 'trial.txt'), `${lines.join('\n')}\n`)
    const env = {
      ...process.env,
      ...{ OUT: out, TARGET: 'recorded:transpose-h200', KERNEL_LADDER_DATA: join(home, 'data') },
    }
    return (await exec('bash', [join(home, 'record.sh'), 'trial', budget], { env })).stdout
  }
  const list = async (): Promise<string[]> => {
    const { stdout } = await exec('tar', ['-tf', join(out, 'trial.tar')])
    return stdout
      .split('\n')
      .map((line) => line.replace('./', ''))
      .filter(Boolean)
      .sort()
  }

  it('copies all results back in one archive, and can resume from that archive', async () => {
    const lines = [
      'first|1|--ladder transpose',
      'broken|1|--ladder nowhere',
      'late|600|--ladder transpose',
    ]
    const said = await record(lines)
    expect(said).toMatch(/^first: recorded in \d+ s, \d+ bytes$/m)
    expect(said).toMatch(/^broken: not recorded, exit code 2 after/m)
    expect(said).toMatch(/^late: left, 600 s expected, \d+ s remain$/m)
    expect(await readdir(out)).toEqual(['trial.tar'])
    expect(await list()).toEqual(['broken.log', 'first.log', 'first.tar.xz', 'trial.done'])

    await exec('tar', ['-C', out, '-xf', join(out, 'trial.tar'), './first.tar.xz'])
    await exec('tar', ['-C', out, '-xf', join(out, 'first.tar.xz')])
    const session = JSON.parse(await readFile(join(out, 'first/session.json'), 'utf8')) as unknown
    expect(session).toMatchObject({ ladder: { id: 'transpose' } })

    await copyFile(join(out, 'trial.tar'), join(home, 'trial.tar'))
    const resumed = await record(['first|1|--ladder transpose', 'second|1|--ladder transpose'])
    expect(resumed).toMatch(/^first: already recorded$/m)
    expect(resumed).toMatch(/^second: recorded/m)
    expect(await list()).toEqual(['second.log', 'second.tar.xz', 'trial.done'])
  })

  it('reports missing requirements', async () => {
    const failed = exec('bash', [join(home, 'record.sh'), 'nowhere', '1'], {
      env: { ...process.env, OUT: out },
    })
    await expect(failed).rejects.toMatchObject({
      code: 2,
      stdout: 'There is no nowhere.txt beside this script.\n',
    })
  })
})
