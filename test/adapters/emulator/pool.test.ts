import { afterEach, expect, it } from 'vitest'
import { emulatorPool, type EmulatorPool } from '../../../src-main/adapters/emulator/pool'
import { emulate } from '../../../src-main/domain/emulation/job'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'
import { readCapture, capturedJob } from '../../emulated-captures'

const capture = readCapture('softmax')
const job = capturedJob(capture.rungs[0]!, capture.seed)
const never = new AbortController().signal
let pool: EmulatorPool | null = null

afterEach(async () => {
  await pool?.close()
})

it('pool threads compute the same results as the main thread, and the next pool reuses these threads', async () => {
  const here = emulate(job)
  const answersTheSame = async (times: number): Promise<void> => {
    const jobs = Array.from({ length: times }, () => pool!.run(job))
    for (const { kernels, outputs } of await Promise.all(jobs)) {
      expect(kernels.map(({ counts }) => counts)).toEqual(here.kernels.map(({ counts }) => counts))
      expect(outputs).toEqual(here.outputs)
    }
  }
  pool = emulatorPool(never, { size: 2 })
  await answersTheSame(2)
  await pool.close()
  let started = 0
  const count = (): void => {
    started += 1
  }
  process.on('worker', count)
  pool = emulatorPool(never, { size: 1 })
  await answersTheSame(1)
  process.off('worker', count)
  expect(started).toBe(0)
})

it('the pool reports progress once per second', async () => {
  const abort = new AbortController()
  pool = emulatorPool(abort.signal, { size: 1 })
  const told: number[] = []
  const { bytes } = packedRow('cubins.jsonl', 'faults.cubin')
  const extents = { grid: [1, 1, 1] as const, block: [64, 1, 1] as const, dynamicSharedBytes: 256 }
  const parameters = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
  const running = pool.run(
    {
      ...{ machineCode: [readCubin(bytes)], limit: 1e9, memoryBytes: 2 ** 24, stackBytes: null },
      ...{ memory: [], symbols: [], workspaceBytes: 0, checks: false, buffers: [] },
      launches: [{ kernel: 'neverEnds', ...extents, arguments: parameters }],
    },
    (instructions) => {
      if (told.push(instructions) === 2) abort.abort()
    },
  )
  await expect(running).rejects.toMatchObject({ kind: 'cancelled' })
  expect(told[1]).toBeGreaterThan(told[0]!)
})

it('the pool stops canceled work and starts no new work', async () => {
  const abort = new AbortController()
  pool = emulatorPool(abort.signal, { size: 1 })
  const running = pool.run(job)
  abort.abort()
  await expect(running).rejects.toMatchObject({ kind: 'cancelled' })
  await expect(pool.run(job)).rejects.toMatchObject({ kind: 'cancelled' })
})
