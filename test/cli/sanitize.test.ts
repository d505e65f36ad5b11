/** `kernel-ladder sanitize`: what it prints and what it ends with. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SanitizeReport } from '../../src-main/domain/session/sanitizer'
import { tempDir } from '../services/support'
import { fakeTools, run } from './support'

describe('sanitize', () => {
  it('prints a table and ends with 0 when nothing was found', async () => {
    const { code, stdout, stderr } = await run(
      ['sanitize', '--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced'],
      fakeTools(await tempDir()),
    )
    expect(stderr).toContain('memcheck')
    expect(stdout).toContain('compute-sanitizer 2025.3.1.0')
    expect(stdout).toMatch(/01_naive +clean +clean +clean +clean/)
    expect(code).toBe(0)
  })

  it('ends with 1 and shows file, line and source when something was found', async () => {
    const env = {
      ...fakeTools(await tempDir()),
      FAKE_FAULTS: '02_coalesced=out-of-bounds',
    }
    const args = ['sanitize', '--ladder', 'gemm-fp32', '--tool', 'memcheck']
    const text = await run(args, env)
    expect(text.code).toBe(1)
    expect(text.stdout).toMatch(
      /gemm\/02_coalesced\.cu:14: error: Invalid __global__ write of size 4 bytes is out of bounds ×64/,
    )
    const file = join(import.meta.dirname, '../../cuda-kernels/gemm/02_coalesced.cu')
    const source = (await readFile(file, 'utf8')).split('\n')
    const shown = [...text.stdout.matchAll(/^ {6}([> ]) +(\d+) (.*)$/gm)]
    expect(shown.find(([, mark]) => mark === '>')?.[2]).toBe('14')
    for (const [, , number, line] of shown) expect(line).toBe(source[Number(number) - 1])

    const json = await run([...args, '--json'], env)
    expect(json.code).toBe(1)
    const report = SanitizeReport.parse(JSON.parse(json.stdout))
    expect(report.rungs.find(({ id }) => id === '02_coalesced')?.checks[0]?.total).toBe(65)
  })

  it('launches rungs with the inputs that are asked for', async () => {
    const { code, stdout } = await run(
      [...['sanitize', '--ladder', 'gemm-fp32', '--rungs', '01_naive'], '--dtype', 'f16'],
      fakeTools(await tempDir()),
    )
    expect(stdout).toMatch(/^gemm-fp32 at \S+ f16 · NVIDIA H200/)
    expect(code).toBe(0)
  })

  it('ends with 3 and the remedy when compute-sanitizer is not there', async () => {
    const { code, stdout, stderr } = await run(['sanitize', '--ladder', 'gemm-fp32', '--json'], {
      PATH: '/usr/bin:/bin',
      KERNEL_LADDER_DATA: await tempDir(),
    })
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { schema: 1, error: { kind: 'missing' } }])
    expect(stderr).toContain('compute-sanitizer was not found')
    expect(stderr).toContain('CUDA toolkit')
  })

  it.each([
    [['--tool', 'leakcheck'], '"leakcheck" is not a compute-sanitizer tool'],
    [['--tool', ','], 'is not a compute-sanitizer tool'],
    [['--rungs', '99_none'], '99_none'],
    [['--dtype', 'f64'], 'dtype = f64 is not a valid type of the inputs'],
    [['--size', '0'], '--size "0"'],
  ])('ends with 2 for %j', async (words, said) => {
    const { code, stderr } = await run(
      ['sanitize', '--ladder', 'gemm-fp32', ...words],
      fakeTools(await tempDir()),
    )
    expect(stderr).toContain(said)
    expect(code).toBe(2)
  })
})
