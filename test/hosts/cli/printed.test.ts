/** Tests command output: tables, reasons, and progress. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { root, tempDir, sumsFiles, sumsYaml } from '../../services/support'
import { runHere } from './support'
import { type RunEvent } from '../../../src-main/contract'
import { progressPrinter } from '../../../src-main/hosts/cli/progress'
import { figureDocs } from '../../../scripts/lib/figure-docs.mjs'

describe('recorded figures', () => {
  it('documents with command output match the output of `npm run readme -- figures`', async () => {
    const texts = await figureDocs(async (args) => {
      const { code, stdout, stderr } = await runHere(...args)
      expect(code, stderr).toBe(0)
      return stdout
    })
    expect([...texts.keys()]).toEqual([
      'docs/guides/ladders.md',
      'docs/evidence/tables/runs.md',
      'docs/guides/tuning.md',
    ])
    for (const [path, text] of texts)
      expect(readFileSync(join(root, path), 'utf8'), path).toBe(text)
  })
})

describe('ladders', () => {
  async function folderOf(yaml = sumsYaml): Promise<string> {
    const folder = await tempDir()
    for (const [name, text] of Object.entries(sumsFiles(yaml)))
      await writeFile(join(folder, name), text)
    return folder
  }

  it('prints the reference rung of the ratios, or reports that there is none', async () => {
    const { code, stdout } = await runHere('ladders', await folderOf())
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}sizes: N = 64, N = 128; baseline rung: a$/m)
    const none = await runHere(
      'ladders',
      await folderOf(sumsYaml.replace('reference_rung: a\n', '')),
    )
    expect(none.stdout).toMatch(/; baseline rung: none$/m)
  })
})

describe('reasons', () => {
  const recorded = 'recorded:gemm-fp32-h200-4096'

  describe('diff', () => {
    it('lists the causes, then the counters that got worse without effect, and then the others', async () => {
      const { stdout } = await runHere('diff', recorded, '08_warp_tile', '09_register_prefetch')
      const parts = [
        /^Why, as factors that multiply to 1\.20× as fast:\n *1\.\d+× {2}The FMA pipe is busy for 78\.8 % of the active cycles instead of 65\.3 %/m,
        /^ *\d\.\d+× {2}Not explained\.$/m,
        /^Worse, without affecting the time:\n.*DRAM traffic/ms,
        /--profile deep/,
        /^Time +3\.26 ms +2\.71 ms/m,
      ].map((part) => stdout.search(part))
      expect(parts).not.toContain(-1)
      expect(parts).toEqual([...parts].sort((a, b) => a - b))
    })

    it('reports a step within the noise as equal, but still lists the changes', async () => {
      const { stdout } = await runHere('diff', recorded, '11_block_128x256', '12_rasterized')
      expect(stdout).toMatch(
        /Why: The times differ by no more than their spread or half a percent\.\nCounters that changed:\n/,
      )
    })
  })

  describe('show', () => {
    it("has one line per step, and each step's causes in JSON", async () => {
      const { stdout } = await runHere('show', recorded)
      expect(stdout).toMatch(
        /\n {2}09_register_prefetch, 1\.20× as fast as 08_warp_tile: The FMA pipe/,
      )
      const { steps } = JSON.parse((await runHere('show', recorded, '--json')).stdout) as {
        steps: { a: string; b: string; causes: { id: string; share: number }[] }[]
      }
      const step = steps.find(({ b }) => b === '06_float4')!
      expect([step.a, step.causes[0]!.id]).toEqual(['05_thread_tile_2d', 'work'])
    })

    it('mentions only once which profile level collects the limits', async () => {
      const { stdout } = await runHere('show', 'recorded:gemm-tensor-h200-8192')
      expect(stdout.match(/--profile standard/g)).toHaveLength(1)
    })

    it('compares every rung except the first with the previous rung', async () => {
      const { stdout } = await runHere('show', recorded, '--rung', '06_float4')
      expect(stdout).toMatch(
        /Compared with 05_thread_tile_2d:\nWhy, as factors that multiply to 1\.30× as fast:\n/,
      )
      const first = await runHere('show', recorded, '--rung', '01_naive', '--json')
      expect(JSON.parse(first.stdout)).toMatchObject({ before: null, causes: [], noCauses: null })
    })
  })
})

describe('progress', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  function printed(events: readonly RunEvent[]): string[] {
    let text = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
      text += String(chunk)
      return true
    })
    const print = progressPrinter()
    for (const event of events) print(event)
    return text.trimEnd().split('\n')
  }

  it('counts a rung only once if it is verified and then timed', () => {
    const rung = (id: string, stage: 'verify' | 'time', state: 'running' | 'done'): RunEvent => ({
      type: 'rung',
      rung: id,
      stage,
      state,
    })
    const stage = (done: number): RunEvent => ({ type: 'stage', stage: 'measure', done, total: 2 })
    const events = (id: string): RunEvent[] => [
      rung(id, 'verify', 'running'),
      rung(id, 'verify', 'done'),
      rung(id, 'time', 'running'),
      rung(id, 'time', 'done'),
    ]
    expect(printed([stage(0), ...events('a'), stage(1), ...events('b')])).toEqual([
      'Verifying and timing…',
      '  verify 1/2 a',
      '  verify 2/2 b',
    ])
  })

  it('numbers builds in starting order, even if several builds run simultaneously', () => {
    const stage = (done: number): RunEvent => ({ type: 'stage', stage: 'build', done, total: 3 })
    const rung = (id: string, state: 'running' | 'done'): RunEvent => ({
      type: 'rung',
      rung: id,
      stage: 'build',
      state,
    })
    const events = [
      stage(0),
      rung('a', 'running'),
      rung('b', 'running'),
      rung('a', 'done'),
      stage(1),
    ]
    expect(printed([...events, rung('c', 'running')])).toEqual([
      'Building…',
      '  build 1/3 a',
      '  build 2/3 b',
      '  build 3/3 c',
    ])
  })
})
