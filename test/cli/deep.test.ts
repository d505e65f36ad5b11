/** Tests the output of the commands for machine code, hot lines, and memory and race checks. */
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { compareRungs } from '../../src-main/domain/analysis/compare'
import { rungOf } from '../../src-main/domain/session/session'
import { recordingsDir, tempDir } from '../services/support'
import { fakeTools, run } from './support'
import { SanitizeReport } from '../../src-main/domain/session/sanitizer'

describe('deep profiles', () => {
  const deep = 'recorded:gemm-fp32-h200-4096-deep'

  interface RungDocument {
    rung: { id: string }
    bottleneck: { class: string; evidence: unknown[] } | null
    deep: { kernels: { instructions: unknown[] }[] } | null
  }
  interface DiffDocument {
    deep: { identicalSass: boolean; opcodes: { key: string }[]; stalls: { key: string }[] } | null
  }

  describe('show --rung', () => {
    it("prints the rung's limit, hot lines, and instructions, and ncu’s recommendations", async () => {
      const { code, stdout, stderr } = await run(['show', deep, '--rung', '03_shared_tile'])
      expect([code, stderr]).toEqual([0, ''])
      const session = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096-deep'))
      const busy = rungOf(session, '03_shared_tile')!.metrics['lsuDataUtilization']!.value!
      expect(stdout).toMatch(/Limited by: .*\(lsu-mio\)\n/)
      expect(stdout).toContain(`\n  L1 data-stage utilization: ${busy.toFixed(1)} % (≥ 80.0 %)\n`)
      expect(stdout).toMatch(/gemm\/03_shared_tile\.cu:\d+ +for \(int i = 0; i < kDepth; \+\+i\)/)
      expect(stdout).toMatch(/\d M  LDS|\d G  LDS/)
      expect(stdout).toMatch(
        /Advice from ncu:\n {2}\w+ \(\w+ speedup of \d+\.\d %, according to ncu\)/,
      )
    })

    it('prints the hot instructions if the library has no line information', async () => {
      const { stdout } = await run(['show', deep, '--rung', '00_cublas'])
      expect(stdout).toMatch(/Instructions by warp samples \(no line information\)/)
      expect(stdout).toMatch(/0x[0-9a-f]+ +FFMA/)
    })

    it("prints the instruction mix and the product's pipe at the standard level", async () => {
      const tensor = ['show', 'recorded:gemm-tensor-h200-4096', '--rung', '54_mma_sync']
      const { code, stdout } = await run(tensor)
      expect(code).toBe(0)
      expect(stdout).toMatch(/Limited by: the tensor pipe/)
      expect(stdout).toMatch(
        / {2}integer \d+\.\d %, .*, tensor, uncategorized or inactive lanes \d+\.\d %/,
      )
      expect(stdout).toMatch(/FP32 operations: \S+ MFLOP; the tensor pipe does the work/)
    })

    it('at levels below deep, prints the available data and the levels that collect the rest', async () => {
      const { code, stdout } = await run([
        'show',
        'recorded:gemm-fp32-h200-8192',
        '--rung',
        '01_naive',
      ])
      expect(code).toBe(0)
      expect(stdout).toContain('every load of A by a warp touches 32 rows')
      expect(stdout).toMatch(/Limited by: unknown/)
      expect(stdout).toMatch(/`--profile standard` collects them/)
      expect(stdout).toMatch(/advice require a session profiled at the deep level/)
    })

    it("shows the header's prediction, its outcome, and the ladder's note on the rung", async () => {
      const session = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096-deep'))
      const [a, b] = ['11_block_128x256', '12_rasterized'].map((id) => rungOf(session, id)!)
      const { stdout } = await run(['show', deep, '--rung', b!.id])
      expect(stdout).toContain(session.ladder.rungs.find(({ id }) => id === b!.id)!.note!)
      expect(stdout).toContain(`Expected relative to ${a!.id}:`)
      const { metrics } = compareRungs({ session, rung: a! }, { session, rung: b! })
      const predicted = metrics.filter(({ expected }) => expected !== null)
      expect(predicted.length).toBe(b!.expect.length)
      for (const { label, expected } of predicted)
        expect(stdout).toMatch(
          new RegExp(`${label} +expected ${expected!.direction}: ${expected!.met ? '✓' : '✗'}`),
        )
    })

    it('prints one JSON document with --json', async () => {
      const { stdout } = await run(['show', deep, '--rung', '01_naive', '--json'])
      const { rung, bottleneck, deep: profile } = JSON.parse(stdout) as RungDocument
      expect(rung.id).toBe('01_naive')
      expect(bottleneck?.class).toBe('l1-bandwidth')
      expect(profile?.kernels[0]?.instructions.length).toBe(240)
    })

    it('reports a missing rung, and exits with 2', async () => {
      const { code, stdout, stderr } = await run(['show', 'recorded', '--rung', 'nope'])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/no rung named "nope".*01_naive/s)
    })
  })

  describe('diff', () => {
    it('shows what changed in the machine code, as text and as JSON', async () => {
      const words = await run(['diff', deep, '05_thread_tile_2d', '06_float4'])
      expect(words.stdout).toMatch(/The machine code differs\./)
      expect(words.stdout).toMatch(/LDG\.E\.128\.CONSTANT +0 +8\.39 M +\+8\.39 M/)
      const { stdout } = await run(['diff', deep, '05_thread_tile_2d', '06_float4', '--json'])
      const { deep: code } = JSON.parse(stdout) as DiffDocument
      expect(code?.identicalSass).toBe(false)
      expect(code?.opcodes[0]?.key).toBe('LDG.E.CONSTANT')
    })

    it('recognizes identical machine code', async () => {
      const { stdout } = await run(['diff', deep, '06_float4', '06_float4', '--json'])
      expect((JSON.parse(stdout) as DiffDocument).deep?.identicalSass).toBe(true)
    })

    it('shows no machine code below the deep level', async () => {
      const { stdout } = await run(['diff', 'recorded', '05_thread_tile_2d', '06_float4', '--json'])
      expect((JSON.parse(stdout) as DiffDocument).deep).toBeNull()
    })
  })

  describe('run --profile', () => {
    it.each([
      [['--profile-limit', 'soon'], /--profile-limit "soon" is not a number/],
      [['--profile-limit', '0'], /--profile-limit must be greater than 0/],
      [['--timing', 'often'], /--timing "often" is not a timing mode/],
      [['--timing', 'burst', '--target', 'static:h200'], /static:h200, which times nothing/],
    ])('rejects %j', async (words, message) => {
      const { code, stderr } = await run(['run', '--ladder', 'gemm-fp32', ...words])
      expect(code).toBe(2)
      expect(stderr).toMatch(message)
    })
  })
})

describe('memory and race checks', () => {
  describe('sanitize', () => {
    it('prints a table and exits with 0 if there are no findings', async () => {
      const { code, stdout, stderr } = await run(
        ['sanitize', '--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced'],
        fakeTools(await tempDir()),
      )
      expect(stderr).toContain('memcheck')
      expect(stdout).toContain('compute-sanitizer 2025.3.1.0')
      expect(stdout).toMatch(/01_naive +clean +clean +clean +clean/)
      expect(code).toBe(0)
    })

    it('exits with 1 and shows the file, line, and source of each finding', async () => {
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

    it('launches rungs with the requested input type', async () => {
      const { code, stdout } = await run(
        [...['sanitize', '--ladder', 'gemm-fp32', '--rungs', '01_naive'], '--dtype', 'f16'],
        fakeTools(await tempDir()),
      )
      expect(stdout).toMatch(/^gemm-fp32 at \S+ f16 · NVIDIA H200/)
      expect(code).toBe(0)
    })

    it('exits with 3 and prints the remedy if compute-sanitizer is missing', async () => {
      const { code, stdout, stderr } = await run(['sanitize', '--ladder', 'gemm-fp32', '--json'], {
        PATH: '/usr/bin:/bin',
        KERNEL_LADDER_DATA: await tempDir(),
      })
      expect([code, JSON.parse(stdout)]).toMatchObject([
        3,
        { schema: 1, error: { kind: 'missing' } },
      ])
      expect(stderr).toContain('compute-sanitizer was not found')
      expect(stderr).toContain('CUDA toolkit')
    })

    it.each([
      [['--tool', 'leakcheck'], '"leakcheck" is not a compute-sanitizer tool'],
      [['--tool', ','], 'is not a compute-sanitizer tool'],
      [['--rungs', '99_none'], '99_none'],
      [['--dtype', 'f64'], 'dtype = f64 is not a valid type of the inputs'],
      [['--size', '0'], '--size "0"'],
    ])('exits with 2 for %j', async (words, said) => {
      const { code, stderr } = await run(
        ['sanitize', '--ladder', 'gemm-fp32', ...words],
        fakeTools(await tempDir()),
      )
      expect(stderr).toContain(said)
      expect(code).toBe(2)
    })
  })
})
