/** Tests programs that share a GPU, and the profiling benchmark. */
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAlive, root, tempDir } from '../services/support'
import { bundle, fakeTools, run, runBundle, start } from './support'

describe('GPU access', () => {
  const ladder = ['--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced']
  const quick = ['run', ...ladder, '--size', '1024', '--profile', 'none']
  const hanging = { FAKE_FAULTS: '02_coalesced=hang' }

  /** Starts a run that occupies the GPU until the test stops it. */
  async function holder(env: Record<string, string>) {
    const first = start([...quick, '--timeout', '600'], { ...env, ...hanging })
    await first.says('verify 3/3 02_coalesced')
    return first
  }

  describe('two programs on one GPU', () => {
    it('take turns: the second names the first, waits, and starts when the first is killed', async () => {
      const env = fakeTools(await tempDir())
      const first = await holder(env)
      const second = start([...quick, '--rungs', '01_naive'], env)
      const said = await second.says('Waiting for the process to finish.')
      expect(said).toContain(`is in use by process ${first.pid} of `)
      expect(said).not.toContain('Verifying')
      first.signal('SIGKILL')
      const { code, stdout, stderr } = await second.finished
      expect(stdout).toMatch(/01_naive +ok/)
      expect(stderr).toContain('Saved in')
      expect(code).toBe(0)
    })

    it.each([
      ['run', quick],
      ['sanitize', ['sanitize', ...ladder]],
    ])('%s --no-wait exits with 3 and reports the holder', async (_, words) => {
      const env = fakeTools(await tempDir())
      const first = await holder(env)
      const { code, stderr } = await run([...words, '--no-wait'], env)
      expect(stderr).toContain(`is in use by process ${first.pid} of `)
      expect(stderr).toContain('--no-wait')
      expect(code).toBe(3)
      expect(isAlive(first.pid)).toBe(true)
      first.signal('SIGTERM')
      await first.finished
    })

    it('sanitize also waits, and ^C ends the wait', { tags: ['thorough'] }, async () => {
      const env = fakeTools(await tempDir())
      const first = await holder(env)
      const second = start(['sanitize', ...ladder, '--tool', 'memcheck'], env)
      await second.says('Waiting for the process to finish.')
      second.signal('SIGINT')
      const { code, stdout } = await second.finished
      expect(stdout).toMatch(/01_naive +not-run/)
      expect(code).toBe(1)
      first.signal('SIGTERM')
      await first.finished
    })
  })

  describe('a run that loses its GPU', () => {
    it('exits with 3, prints the remedy, and saves a session with the finished measurements', async () => {
      const dir = await tempDir()
      const { code, stdout, stderr } = await run(
        ['run', '--ladder', 'gemm-fp32', '--size', '1024'],
        {
          ...fakeTools(dir),
          FAKE_FAULTS: '03_shared_tile=gpu-lost:no-device',
        },
      )
      expect(code).toBe(3)
      expect(stdout).toMatch(/02_coalesced +ok/)
      expect(stdout).toMatch(/04_thread_tile_1d +not-run/)
      expect(stderr).toContain('nvidia-smi --gpu-reset')
      expect(await readdir(join(dir, 'sessions'))).toHaveLength(1)
    })
  })
})

describe('the profiling benchmark', { tags: ['thorough'] }, () => {
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

  it("alternates between the card level, plain ncu, and ncu's full set over the same launches", async () => {
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
    // The plain ncu calls must run the same rungs from the same build. They must omit the option to
    // watch the parent process, because the parent process has ended.
    const rungs = (words: string[]) => words.filter((_, at) => words[at - 1] === '--rung')
    for (const words of [bare!, full!]) {
      expect(rungs(words)).toEqual(rungs(ours!))
      expect(words.join()).not.toContain('<cache>')
      expect(words).not.toContain('--owner-pid')
    }
  })

  it('rejects unknown arguments before it runs anything', async () => {
    const { code, stdout, stderr } = await bench({ PATH: '/usr/bin:/bin' }, 'big')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe('big is neither a size nor --rounds=N.\n')
  })

  it('reports the missing requirement if profiling is not possible', async () => {
    const { code, stdout } = await bench({ PATH: '/usr/bin:/bin' })
    expect(stdout).toContain('skipped. GPU: ')
    expect(code).toBe(0)
  })
})
