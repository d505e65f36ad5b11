/** Programs that use one GPU, as processes: they take turns, and what a lost GPU leaves is saved. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAlive, tempDir } from '../services/support'
import { fakeTools, run, start } from './support'

const ladder = ['--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced']
const quick = ['run', ...ladder, '--size', '1024', '--profile', 'none']
const hanging = { FAKE_FAULTS: '02_coalesced=hang' }

/** A run that measures until it is ended. */
async function holder(env: Record<string, string>) {
  const first = start([...quick, '--timeout', '600'], { ...env, ...hanging })
  await first.says('verify 3/3 02_coalesced')
  return first
}

describe('two programs on one GPU', () => {
  it('take turns: the second is told who has it, and goes on when that one is killed', async () => {
    const env = fakeTools(await tempDir())
    const first = await holder(env)
    const second = start([...quick, '--rungs', '01_naive'], env)
    const said = await second.says('Waiting for it to finish.')
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
  ])('%s --no-wait ends with 3 and says who', async (_, words) => {
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

  it('sanitize waits too, and ^C ends the wait', async () => {
    const env = fakeTools(await tempDir())
    const first = await holder(env)
    const second = start(['sanitize', ...ladder, '--tool', 'memcheck'], env)
    await second.says('Waiting for it to finish.')
    second.signal('SIGINT')
    const { code, stdout } = await second.finished
    expect(stdout).toMatch(/01_naive +not-run/)
    expect(code).toBe(1)
    first.signal('SIGTERM')
    await first.finished
  })
})

describe('a GPU that is lost on the way', () => {
  it('ends with 3, the remedy, and the session of what was measured', async () => {
    const dir = await tempDir()
    const { code, stdout, stderr } = await run(['run', '--ladder', 'gemm-fp32', '--size', '1024'], {
      ...fakeTools(dir),
      FAKE_FAULTS: '03_shared_tile=gpu-lost:no-device',
    })
    expect(code).toBe(3)
    expect(stdout).toMatch(/02_coalesced +ok/)
    expect(stdout).toMatch(/04_thread_tile_1d +not-run/)
    expect(stderr).toContain('nvidia-smi --gpu-reset')
    expect(await readdir(join(dir, 'sessions'))).toHaveLength(1)
  })
})
