/** What a copy counts while it is edited: built, emulated at a small size, and held beside its original. */
import { afterAll, describe, expect, it } from 'vitest'
import { createCore } from '../../src-main/services/core'
import { keeping, keptNvcc } from '../kept-nvcc'
import { said } from '../said'
import { setEnv, setupIn, shippedKernels, tempDir } from './support'

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '10_conflict_free'
const kept = await keptNvcc('look', { artefacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

async function opened() {
  const dir = await tempDir()
  setEnv({ KERNEL_LADDER_DATA: dir })
  const { assets } = setupIn(dir, { kernelsDir: shippedKernels })
  const core = createCore({ assets, machine: await kept.machine() }, { host: 'web' })
  const { schema: _, savedAt: __, ...draft } = await core.call('drafts.open', { session, rung })
  const edited = (change: (text: string) => string) => ({
    session,
    draft: { ...draft, source: change(draft.source) },
  })
  return { core, edited, draft }
}

describe('the counters of a copy', () => {
  it('are those of its original until something is changed, then what the change does', async () => {
    const { core, edited, draft } = await opened()
    const same = await core.call(
      'drafts.counters',
      edited((text) => text),
    )
    expect(same).toMatchObject({ built: true, reason: null, architecture: 'sm_90', at: '256³' })
    expect(same.gpu).toBe('H200')
    expect(same.metrics).toEqual(same.before)
    expect(same.metrics!['sharedStoreBankConflicts']).toMatchObject({
      value: 0,
      evidence: 'emulated',
    })
    const [kernel] = same.profile!.kernels
    expect(kernel!.instructions.some(({ executed }) => executed! > 0)).toBe(true)
    expect(kernel!.lines.some(({ file }) => file === `gemm/${draft.rung}.cu`)).toBe(true)

    const padded = await core.call(
      'drafts.counters',
      edited((text) => text.replace('[BM + 4]', '[BM]')),
    )
    expect(padded.metrics!['sharedStoreBankConflicts']!.value).toBe(4096)
    expect(padded.before).toEqual(same.before)
    await core.close()
  })

  it('are not there for a copy that does not run to its end, and it says at which line', async () => {
    const { core, edited } = await opened()
    const answer = await core.call(
      'drafts.counters',
      edited((text) => text.replace('[BM + 4]', '[BM + 1]')),
    )
    expect(said(answer.reason)).toMatch(/misaligned.*\.cu:\d+/i)
    await core.close()
  })

  it('are those of what was typed last: what is asked before is given up', async () => {
    const { core, edited } = await opened()
    const first = core
      .call(
        'drafts.counters',
        edited((text) => text),
      )
      .catch((error) => error)
    const second = core.call(
      'drafts.counters',
      edited((text) => `${text}\n`),
    )
    expect(await first).toMatchObject({ kind: 'cancelled' })
    expect(await second).toMatchObject({ built: true })
    await core.close()
  })
})

it('has what nvcc built kept', () => {
  if (!keeping) expect(kept.stale, 'keep it anew with KERNEL_LADDER_KEEP=1').toEqual([])
})
