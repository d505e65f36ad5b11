/** The benchmark of what profiling costs, over fakes: as on a machine with a GPU, Node, and nothing of npm's. */
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, tempDir } from '../services/support'
import { bundle, fakeTools, runBundle } from './support'

async function bench(env: Record<string, string>, ...args: string[]) {
  const alone = await tempDir()
  for (const folder of ['scripts/bench', 'scripts/lib'])
    await cp(join(root, folder), join(alone, folder), { recursive: true })
  const program = join(alone, 'kernel-ladder.mjs')
  await cp(bundle, program)
  return runBundle(
    args,
    { ...env, KERNEL_LADDER_PROGRAM: program },
    join(alone, 'scripts/bench/gpu.mjs'),
  )
}

describe('the benchmark of profiling', () => {
  it('runs the card level, a bare ncu and its full set by turns over the same launches', async () => {
    const dir = await tempDir()
    const env = { ...fakeTools(dir), FAKE_LOG: join(dir, 'calls') }
    const { code, stdout, stderr } = await bench(env, '--rounds=2', '1024')
    expect(stderr).toBe('')
    expect(stdout).toMatch(/ours, card level: \d.*passes per kernel: 1/)
    expect(stdout).toMatch(/bare ncu, the same metrics: \d.*; ours takes \d/)
    expect(stdout).toMatch(/--set full: \d.*; ours takes \d/)
    expect(stdout).toMatch(/standard level, once: \d.*passes per kernel: \d/)
    expect(code).toBe(0)
    const calls = (await readFile(join(dir, 'calls'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string[])
      .filter(([tool, ...words]) => tool === 'ncu' && words.includes('--rung'))
    const option = (words: string[], name: string) => words[words.indexOf(name) + 1]
    const [warm, ours, bare, full] = calls
    expect(calls).toHaveLength(1 + 2 * 3 + 1)
    expect(option(bare!, '--metrics')).toBe(option(warm!, '--metrics'))
    expect(option(full!, '--set')).toBe('full')
    // The same runner on the same libraries, without a parent to watch that has ended.
    const rungs = (words: string[]) => words.filter((_, at) => words[at - 1] === '--rung')
    for (const words of [bare!, full!]) {
      expect(rungs(words)).toEqual(rungs(ours!))
      expect(words.join()).not.toContain('<cache>')
      expect(words).not.toContain('--owner-pid')
    }
  })

  it('refuses what it does not understand before it runs anything', async () => {
    const { code, stdout, stderr } = await bench({ PATH: '/usr/bin:/bin' }, 'big')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe('big is neither a size nor --rounds=N.\n')
  })

  it('says what is missing where nothing can be profiled', async () => {
    const { code, stdout } = await bench({ PATH: '/usr/bin:/bin' })
    expect(stdout).toContain('skipped. GPU: ')
    expect(code).toBe(0)
  })
})
