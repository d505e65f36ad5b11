import { setMaxListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { runProcess, type ProcessCall } from '../../../src-main/adapters/tools/process'
import { KernelLadderError } from '../../../src-main/domain/errors'
import { isAlive } from '../../services/support'

const run = (
  script: string,
  onStdoutLine: (line: string) => void,
  onSpawn = (_pid: number) => {},
) => runProcess({ file: process.execPath, args: ['-e', script], onStdoutLine, onSpawn })

describe('a listener that throws', () => {
  it('ends the program and passes the caller an error with an error kind', async () => {
    let pid = 0
    const lines: string[] = []
    const failing = run(
      "console.log('one\\ntwo\\nthree'); setInterval(() => console.log('more'), 20)",
      (line) => {
        lines.push(line)
        if (line === 'two') throw new TypeError('no such field')
      },
      (started) => {
        pid = started
      },
    )
    await expect(failing).rejects.toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('no such field') as string,
    })
    expect(lines).toEqual(['one', 'two'])
    expect(isAlive(pid)).toBe(false)
  })

  it('preserves the kind of a KernelLadderError, even on an unterminated last line', async () => {
    const failing = run("process.stdout.write('only')", () => {
      throw new KernelLadderError('missing', 'It is not here.')
    })
    await expect(failing).rejects.toMatchObject({ kind: 'missing', message: 'It is not here.' })
  })
})

describe('a program', () => {
  const told = (script: string, limits: Partial<ProcessCall> = {}) =>
    runProcess({ file: process.execPath, args: ['-e', script], ...limits })
  const stays = "console.log('here'); setInterval(() => {}, 1000)"

  it.each([
    ['idle', { idleMs: 100 }],
    ['timeout', { timeoutMs: 100 }],
  ])('is killed when it times out (%s)', async (outcome, limit) => {
    let pid = 0
    const ended = await told(stays, { ...limit, onSpawn: (started) => (pid = started) })
    expect(ended).toMatchObject({ outcome, exitCode: null })
    expect(isAlive(pid)).toBe(false)
  })

  it('is killed when it prints too much', async () => {
    const { outcome } = await told("setInterval(() => console.log('x'.repeat(999)), 1)", {
      outputLimit: 5000,
    })
    expect(outcome).toBe('flooded')
  })

  it('waits for a slow reader, and delivers all of its output', async () => {
    const reader = { reading: 0, most: 0, length: 0 }
    const { exitCode, stdout } = await told("process.stdout.write('x'.repeat(3_000_000))", {
      passOn: {
        keep: 10,
        async to(_, text) {
          reader.reading += 1
          reader.most = Math.max(reader.most, reader.reading)
          await new Promise((read) => setTimeout(read, 1))
          reader.length += text.length
          reader.reading -= 1
        },
      },
    })
    expect(reader).toMatchObject({ reading: 0, length: 3_000_000 })
    // When the program ends, the unread output arrives in one part. Without backpressure, this
    // output would arrive in 46 parts.
    expect(reader.most).toBeLessThan(4)
    expect([exitCode, stdout]).toEqual([0, 'x'.repeat(10)])
  })

  it('is canceled with all programs that share its abort signal, without a warning', async () => {
    const warnings: string[] = []
    const listen = ({ name }: Error) => warnings.push(name)
    process.on('warning', listen)
    const stop = new AbortController()
    const { signal } = stop
    // Set the listener limit to the Node 20 default. Later Node versions have no limit.
    setMaxListeners(10, signal)
    const started = Array.from({ length: 16 }, () =>
      runProcess({ file: 'sleep', args: ['60'], signal }),
    )
    await new Promise((next) => setImmediate(next))
    stop.abort()
    const outcomes = (await Promise.all(started)).map(({ outcome }) => outcome)
    process.off('warning', listen)
    expect(new Set(outcomes)).toEqual(new Set(['cancelled']))
    expect(warnings).toEqual([])
  })

  it('is reported with its signal or exit code and its output, or as missing', async () => {
    expect(await told("console.log('last'); process.kill(process.pid, 'SIGSEGV')")).toMatchObject({
      outcome: 'signalled',
      signal: 'SIGSEGV',
      stdout: 'last\n',
    })
    expect(await told("console.error('why'); process.exit(7)")).toMatchObject({
      outcome: 'exited',
      exitCode: 7,
      stderr: 'why\n',
    })
    expect(await runProcess({ file: '/nonexistent/tool', args: [] })).toMatchObject({
      outcome: 'not-found',
    })
  })
})

describe('lines', () => {
  it('arrive complete, regardless of how the bytes are split', async () => {
    const lines: string[] = []
    const { outcome } = await run(
      "const put = (t) => new Promise((d) => process.stdout.write(t, d)); (async () => { for (const t of ['a', 'b\\r\\n', '', 'ü'.repeat(3), '\\n\\nlast']) { await put(t); await new Promise((d) => setTimeout(d, 20)) } })()",
      (line) => lines.push(line),
    )
    expect(outcome).toBe('exited')
    expect(lines).toEqual(['ab', 'üüü', '', 'last'])
  })
})
