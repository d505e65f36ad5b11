/**
 * Tests the commands that find sessions: `sessions`, `show` without a name, and a ladder's help.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { writeTitle } from '../../../src-main/adapters/sessions/labels-and-trash'
import type { HostMachine } from '../../../src-main/adapters/machine/machine'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { fakeMachine, recordingsDir, sumsFiles, sumsYaml, tempDir } from '../../services/support'
import { runHere, runIn } from './support'

interface Own {
  createdAt: string
  title?: string
}

/** Creates a machine with the given sessions, which were emulated at the card level. */
async function machineWith(own: Record<string, Own>): Promise<HostMachine> {
  const { setup, store } = await fakeMachine()
  const recorded = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
  for (const [name, { createdAt, title }] of Object.entries(own)) {
    const session = {
      ...recorded,
      ...{ id: name, createdAt, device: null, target: { kind: 'emulated', name: 'h200' } },
      rungs: recorded.rungs.map((rung) => ({ ...rung, timing: null })),
    }
    await mkdir(join(store, name), { recursive: true })
    await writeFile(join(store, name, 'session.json'), JSON.stringify(session))
    if (title !== undefined) await writeTitle(join(store, name), title)
  }
  return setup.machine as HostMachine
}

describe('sessions', () => {
  it("lists the user's sessions, newest first, and then recordings, with date, level, GPU, and ladder", async () => {
    const machine = await machineWith({
      older: { createdAt: '2026-10-01T10:00:00.000Z' },
      newer: { createdAt: '2026-11-20T10:00:00.000Z' },
    })
    const { code, stdout } = await runIn({ machine }, 'sessions')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /newer +2026-11-20 +card +emulated H200 +gemm-fp32 1024³\nolder +2026-10-01 +card/,
    )
    expect(stdout).toMatch(/recorded:gemm-fp32-h200-4096 +\d{4}-\d\d-\d\d +\w+ +NVIDIA H200 +gemm/)
    expect(stdout.indexOf('older')).toBeLessThan(stdout.indexOf('recorded:'))
  })

  it('has aligned columns for titles in any script', async () => {
    const createdAt = '2026-11-20T10:00:00.000Z'
    const titles = ['矩阵乘法', 'مصفوفة', '👩🏽‍🔬', 'é̂', 'two\nlines']
    const machine = await machineWith(
      Object.fromEntries(titles.map((title, index) => [`s${index}`, { createdAt, title }])),
    )
    const { stdout } = await runIn({ machine }, 'sessions')
    const rows = stdout.split('\n').filter((line) => /^s\d /.test(line))
    expect(rows).toHaveLength(titles.length)
    const starts = rows.map((row) => stringWidth(row.slice(0, row.indexOf('1024³') + 5)))
    expect(new Set(starts).size).toBe(1)
    expect(stdout).toContain('two lines')
  })

  it('prints the number of listed sessions and the total number of sessions', async () => {
    const machine = await machineWith(
      Object.fromEntries(
        Array.from({ length: 23 }, (_, index) => [
          `s${index}`,
          { createdAt: `2026-11-${String(index + 1).padStart(2, '0')}T10:00:00.000Z` },
        ]),
      ),
    )
    const some = await runIn({ machine }, 'sessions')
    expect(some.stdout).toMatch(/^Your sessions \(20 newest of 23\)/)
    expect(some.stderr).toMatch(/--all/)
    const all = await runIn({ machine }, 'sessions', '--all', '--ladder', 'gemm-fp32')
    expect(all.stdout.match(/^s\d+ /gm)).toHaveLength(23)
    expect(all.stdout).not.toMatch(/recorded:reduction/)
  })

  it('exits with 2 if --limit is not a number', async () => {
    const machine = await machineWith({})
    expect((await runIn({ machine }, 'sessions', '--limit', 'x')).code).toBe(2)
  })
})

describe('show without a name', () => {
  it("prints the user's newest session", async () => {
    const machine = await machineWith({
      older: { createdAt: '2026-10-01T10:00:00.000Z' },
      newer: { createdAt: '2026-11-20T10:00:00.000Z' },
    })
    const { stdout } = await runIn({ machine }, 'show')
    expect(stdout).toMatch(
      /^FP32 matrix multiplication at 1024³.* · emulated on H200, 2026-11-20\n/,
    )
    expect(stdout).toMatch(/^rung +status +error +/m)
    expect(stdout).not.toMatch(/\btime\b.*±/)
  })

  it('suggests a recording if there is no readable session', async () => {
    const machine = await machineWith({})
    const damaged = join(machine.folders.sessions, 'damaged')
    await mkdir(damaged, { recursive: true })
    await writeFile(join(damaged, 'session.json'), '{')
    const { code, stderr } = await runIn({ machine }, 'show')
    expect(code).toBe(2)
    expect(stderr).toMatch(/no session to show.*\n.*show recorded:gemm-fp32/)
  })
})

describe('run --help', () => {
  it('has --size and --at, but no ladder options if no ladder is given', async () => {
    const { stdout } = await runHere('run', '--help')
    expect(stdout).toMatch(/--size <n>/)
    expect(stdout).toMatch(/--at <NAME=value>/)
    expect(stdout).not.toMatch(/--(HEADS|alpha|ROWS|m) </)
    expect(stdout).toMatch(/add --ladder ID/)
  })

  it.each([['--ladder', 'gemm-fp32'], ['--ladder=gemm-fp32']])(
    'lists only the options for the ladder after %s',
    async (...words) => {
      const { stdout } = await runHere('run', ...words, '--help')
      expect(stdout).toMatch(/--m <m>.*--alpha <alpha>/s)
      expect(stdout).not.toMatch(/--(HEADS|ROWS|N) </)
      expect(stdout).toMatch(/gemm-fp32 takes m, n, k, alpha, beta, dtype; sizes: 4096³/)
    },
  )

  it('has the options for a folder’s ladder', async () => {
    const folder = await tempDir()
    for (const [name, text] of Object.entries(sumsFiles(sumsYaml)))
      await writeFile(join(folder, name), text)
    const { stdout } = await runHere('run', '--ladder', folder, '--help')
    expect(stdout).toMatch(/--N <N>/)
    expect(stdout).not.toMatch(/--alpha/)
  })

  it('is also printed for a ladder that does not exist', async () => {
    const { code, stdout } = await runHere('run', '--ladder', 'nope', '--help')
    expect(code).toBe(0)
    expect(stdout).toMatch(/--size/)
  })
})

describe('a replay', () => {
  it('reports that it is a replay, and does not mention a build', async () => {
    const { stderr } = await runHere('run', '--ladder', 'gemm-fp32', '--target', 'recorded')
    expect(stderr).toMatch(/^Replaying recorded:gemm-fp32-h200-4096…\n/)
    expect(stderr).not.toMatch(/Building|build |Checking the machine|Profiling/)
  })

  it.each([
    ['m=1024', '1024³'],
    ['m=4096', '4096³'],
  ])('finds the recording with %s if no other option is given', async (at, sizes) => {
    const { stdout } = await runHere(
      ...['run', '--ladder', 'gemm-fp32', '--target', 'recorded', '--at', at],
    )
    expect(stdout).toMatch(new RegExp(`^FP32 matrix multiplication at ${sizes}`))
  })
})
