/**
 * Tests the counters of a copy while the user edits it. The copy is built, emulated at a small
 * size, and compared with its original.
 */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCore } from '../../src-main/services/app/core'
import type { HostMachine } from '../../src-main/adapters/machine/machine'
import { keeping, keptNvcc } from '../kept-nvcc'
import { emulatorWith, launchOf, predictionOf } from '../predicting-emulator'
import { said } from '../support'
import { setEnv, setupIn, shippedKernels, tempDir, templatesDir } from './support'

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '07_conflict_free'
const kept = await keptNvcc('look', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

/** Returns a machine whose timing model predicts 2 ms for every kernel. */
async function keptMachine(): Promise<HostMachine> {
  const machine = await kept.machine()
  const startEmulator = emulatorWith(({ launches }) => predictionOf([launchOf(launches[0]!, 2)]))
  return {
    ...machine,
    toolbox: (recorder) => ({ ...machine.toolbox(recorder), startEmulator }),
  }
}

async function opened() {
  const dir = await tempDir()
  setEnv({ KERNEL_LADDER_DATA: dir })
  const { assets } = setupIn(dir, { kernelsDir: shippedKernels })
  const core = createCore({ assets, machine: await keptMachine() }, { host: 'web' })
  const { schema: _, ...draft } = await core.call('drafts.open', { session, rung })
  const edited = (change: (text: string) => string) => ({
    session,
    draft: { ...draft, source: change(draft.source) },
  })
  return { core, edited, draft }
}

describe('the counters of a copy', () => {
  it("match the original's counters until the code changes, and then show the effect of the change", async () => {
    const { core, edited, draft } = await opened()
    const same = await core.call(
      'drafts.counters',
      edited((text) => text),
    )
    expect(same).toMatchObject({ built: true, reason: null, architecture: 'sm_90', at: '256³' })
    expect(same.gpu).toBe('H200')
    expect(same.metrics).toEqual(same.before)
    expect(same.predicted).toMatchObject({ ms: 2 })
    expect(same).toMatchObject({ predictedBefore: same.predicted, predictedAt: '512³' })
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

  it('are missing if the kernel fails, with a reason that contains the source line', async () => {
    const { core, edited } = await opened()
    const answer = await core.call(
      'drafts.counters',
      edited((text) => text.replace('[BM + 4]', '[BM + 1]')),
    )
    expect(said(answer.reason)).toMatch(/misaligned.*\.cuh?:\d+/i)
    await core.close()
  })

  it('are for the last typed text, and earlier requests are canceled', async () => {
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

describe('the counters of a rung in a ladder folder', () => {
  it('are computed for the typed text and the file once the folder is trusted', async () => {
    const dir = await tempDir()
    setEnv({ KERNEL_LADDER_DATA: dir, KERNEL_LADDER_CONFIG: dir })
    const folder = join(dir, 'transpose')
    await cp(join(templatesDir, 'transpose'), folder, { recursive: true })
    const ladder = join(folder, 'ladder.yaml')
    const named = (await readFile(ladder, 'utf8')).replace(/^id: \w+/m, 'id: mine')
    await writeFile(ladder, named)
    const { assets } = setupIn(dir, { kernelsDir: shippedKernels })
    const core = createCore({ assets, machine: await keptMachine() }, { host: 'web' })
    const { path } = await core.call('folders.open', { path: folder })
    const file = '03_padded.cu'
    const text = await readFile(join(folder, file), 'utf8')
    const unpadded = text.replace('tile[32][33]', 'tile[32][32]')
    expect(unpadded).not.toBe(text)
    const asked = { path, file, text: unpadded }
    await expect(core.call('folders.counters', asked)).rejects.toMatchObject({ kind: 'input' })
    await core.call('folders.trust', { path })
    const { metrics, before, reason } = await core.call('folders.counters', asked)
    expect(reason).toBeNull()
    expect(before!['sharedLoadBankConflicts']!.value).toBe(0)
    expect(metrics!['sharedLoadBankConflicts']!.value).toBeGreaterThan(0)
    await expect(
      core.call('folders.counters', { ...asked, file: 'reference.cu' }),
    ).rejects.toMatchObject({ kind: 'input' })
    await core.close()
  })
})

it('the output of nvcc is stored for every kernel in these tests', () => {
  if (!keeping) expect(kept.stale, 'keep it anew with KERNEL_LADDER_KEEP=1').toEqual([])
})
