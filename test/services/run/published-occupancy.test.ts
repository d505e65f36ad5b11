/** Tests `static:rtx-3090` against the occupancies published for an RTX 3090. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentWith } from '../../../scripts/lib/document.mjs'
import {
  builtForRtx3090,
  builtRungs,
  occupancyPart,
} from '../../../scripts/lib/published-occupancy'
import { publishedFigures } from '../../../scripts/lib/recorded-ladders'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { runIn } from '../../hosts/cli/support'
import { keeping, keptNvcc } from '../../kept-nvcc'
import { root, tempDir } from '../support'

const published = publishedFigures(root).get('seed-rtx3090')!

const strides = [1, 2, 4, 8, 16].map((stride) => `39_stride_${stride}`)

it('docs/evidence/results.md contains the table from `npm run readme -- figures`', async () => {
  const text = readFileSync(join(root, 'docs/evidence/results.md'), 'utf8')
  const part = occupancyPart(published, builtForRtx3090(root))
  expect(await documentWith('docs/evidence/results.md', [['published-occupancy', part]])).toBe(text)
})

it('every published occupancy and wave count is reproduced to its last digit', () => {
  const built = builtForRtx3090(root)
  const checked: string[] = []
  for (const [rung, figures] of Object.entries(published.metrics))
    for (const metric of ['theoreticalOccupancy', 'wavesPerSm'] as const) {
      const theirs = figures[metric]
      if (theirs === undefined) continue
      const ours = built.find((one) => one.rung === rung)![metric]
      expect(Number(ours.toFixed(2)), `${rung} ${metric}`).toBe(theirs)
      checked.push(`${rung} ${metric}`)
    }
  expect(checked).toEqual([
    '03_shared_tile wavesPerSm',
    ...strides.map((rung) => `${rung} theoreticalOccupancy`),
  ])
})

it('threads per block match the published values', () => {
  const built = new Map(builtForRtx3090(root).map((one) => [one.rung, one.threadsPerBlock]))
  for (const [rung, threads] of Object.entries(published.threadsPerBlock!))
    expect(built.get(rung), rung).toBe(threads)
})

describe.skipIf((await findTool('nvcc')) === null)('with a real nvcc', async () => {
  const compiler = await keptNvcc('published-occupancy', { artifacts: true })

  it('static:rtx-3090 derives the stored figures', async () => {
    const out = join(await tempDir(), 'session')
    const words = ['--target', 'static:rtx-3090', '--size', '1024', '--out', out]
    const machine = await compiler.machine()
    const { code, stderr } = await runIn({ machine }, 'run', '--ladder', 'seed-rtx3090', ...words)
    expect(code, stderr).toBe(0)
    const built = builtRungs(await readSession(out))
    const file = join(root, 'test/captures/static/seed-rtx3090.json')
    if (keeping) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `${JSON.stringify(built, null, 2)}\n`)
    }
    expect(built).toEqual(builtForRtx3090(root))
  })
})
