import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { claimGpu, type GpuClaim, type GpuHolder } from '../../../src-main/adapters/tools/gpu-lock'

/** Returns a GPU id that no other test uses. */
const newGpu = (): string => `${randomBytes(4).toString('hex').toUpperCase()}:3B:00.0`

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

function claim(pciBusId: string, wait = true) {
  const abort = new AbortController()
  const told: (GpuHolder | null)[] = []
  const claimed = claimGpu({
    pciBusId,
    wait,
    signal: abort.signal,
    onWait: (by) => told.push(by),
  }).then((end) => {
    if (end.state === 'held') cleanups.push(() => end.lock.release())
    return end
  })
  return { claimed, told, abort }
}

function lockOf(end: GpuClaim) {
  if (end.state !== 'held') throw new Error(`not held but ${end.state}`)
  return end.lock
}

describe('a GPU lock', () => {
  it('is held by one run at a time, and tells the next run which run holds it', async () => {
    const gpu = newGpu()
    const first = lockOf(await claim(gpu).claimed)
    const second = claim(gpu)
    const third = claim(gpu)
    await expect.poll(() => second.told.length + third.told.length).toBe(2)
    expect(second.told[0]?.pid).toBe(process.pid)
    expect(Date.parse(second.told[0]!.since)).toBeLessThanOrEqual(Date.now())

    first.release()
    const either = [second.claimed, third.claimed]
    lockOf(await Promise.race(either)).release()
    expect((await Promise.all(either)).map(({ state }) => state)).toEqual(['held', 'held'])
  })

  it('applies to one GPU, not to all GPUs', async () => {
    lockOf(await claim(newGpu()).claimed)
    expect((await claim(newGpu(), false).claimed).state).toBe('held')
  })

  it('reports its holder immediately to a run that does not wait', async () => {
    const gpu = newGpu()
    lockOf(await claim(gpu).claimed)
    const { claimed, told } = claim(gpu, false)
    expect(await claimed).toMatchObject({ state: 'taken', by: { pid: process.pid } })
    expect(told).toEqual([])
  })

  it('is not claimed by a run that is canceled while it waits', async () => {
    const gpu = newGpu()
    lockOf(await claim(gpu).claimed)
    const { claimed, told, abort } = claim(gpu)
    await expect.poll(() => told).toHaveLength(1)
    abort.abort()
    expect(await claimed).toEqual({ state: 'cancelled' })
  })
})

/**
 * Returns the lock address that another program would use. The address is padded to the maximum
 * length of a socket name.
 */
const addressOf = (gpu: string): string =>
  `\0kernel-ladder-gpu-${gpu.replaceAll(':', '-')}`.padEnd(108, '.')

function stranger(gpu: string, answer: (socket: Socket) => void): Promise<Server> {
  return new Promise((done) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      answer(socket)
    })
    cleanups.push(() => server.close())
    server.listen(addressOf(gpu), () => done(server))
  })
}

describe.runIf(process.platform === 'linux')(
  "another program's process that holds the lock",
  () => {
    it.each([
      ['sends nothing', () => undefined],
      ['closes the connection', (socket: Socket) => socket.destroy()],
      ['sends endless data', (socket: Socket) => socket.write('x'.repeat(5000))],
      [
        'sends terminal control codes',
        (socket: Socket) =>
          socket.write(
            `${JSON.stringify({ pid: 1, user: '\u001b[2J', since: '2026-11-21T03:05:07Z' })}\n`,
          ),
      ],
      ['sends something else', (socket: Socket) => socket.write('[]\n{}\n')],
    ])('is reported as a process that does not identify itself if it %s', async (_, answer) => {
      const gpu = newGpu()
      await stranger(gpu, answer)
      expect(await claim(gpu, false).claimed).toEqual({ state: 'taken', by: null })
      const { claimed, told, abort } = claim(gpu)
      await expect.poll(() => told).toEqual([null])
      abort.abort()
      expect(await claimed).toEqual({ state: 'cancelled' })
    })
  },
)
