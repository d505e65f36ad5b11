import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { passesInterruptOn, runChild } from '../../scripts/lib/child.mjs'
import { withLock } from '../../scripts/lib/lock.mjs'

const library = new URL('../../scripts/lib/child.mjs', import.meta.url).href

describe('a child', () => {
  it('gives its exit code and output', async () => {
    const script = 'console.log("out"); console.error("err"); process.exit(3)'
    const ended = await runChild(process.execPath, ['-e', script], { output: 'kept' })
    expect(ended.code).toBe(3)
    expect(ended.output).toContain('out\n')
    expect(ended.output).toContain('err\n')
  })

  it('that is killed gives 128 and the signal', async () => {
    const script = 'process.kill(process.pid, "SIGTERM")'
    const ended = await runChild(process.execPath, ['-e', script], { output: 'kept' })
    expect(ended).toMatchObject({ code: 143, signal: 'SIGTERM' })
  })

  it('that does not exist gives 127', async () => {
    expect((await runChild('kernel-ladder-no-such-program', [], { output: 'kept' })).code).toBe(127)
  })

  it('that takes too long is killed', async () => {
    const options = { output: 'kept', timeoutMs: 300 } as const
    expect(
      (await runChild(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], options)).code,
    ).toBe(137)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('hears of %s once, and is outlived', async (signal) => {
    const inner = `let n = 0
      process.on('${signal}', () => { n++; setTimeout(() => { console.log('heard', n); process.exit(7) }, 400) })
      console.log('ready'); setInterval(() => 0, 1e6)`
    const outer = `const { runChild } = await import('${library}')
      process.exit((await runChild(process.execPath, ['-e', ${JSON.stringify(inner)}])).code)`
    const wrapper = spawn(process.execPath, ['--input-type=module', '-e', outer], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    wrapper.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('ready')) {
        wrapper.kill(signal)
        setTimeout(() => wrapper.kill(signal), 100)
      }
      output += text
    })
    const code = await new Promise((done) => wrapper.once('close', done))
    expect(output).toBe('ready\nheard 1\n')
    expect(code).toBe(7)
  })

  it('shares ^C with a terminal', () => {
    expect(passesInterruptOn([{ isTTY: false }, {}])).toBe(true)
    expect(passesInterruptOn([{}, { isTTY: true }])).toBe(false)
  })
})

describe('a lock', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-lock-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  it('lets one in at a time', async () => {
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await new Promise((done) => setTimeout(done, 20))
      inside -= 1
    }
    await Promise.all([1, 2, 3].map(() => withLock('work', work, folder)))
    expect(most).toBe(1)
  })

  it('is let go when the work fails', async () => {
    const failing = withLock('work', () => Promise.reject(new Error('no')), folder)
    await expect(failing).rejects.toThrow('no')
    expect(await withLock('work', () => Promise.resolve(1), folder)).toBe(1)
  })

  it('of a process that has ended is taken over', async () => {
    mkdirSync(join(folder, 'work.lock'))
    writeFileSync(join(folder, 'work.lock/owner'), `4194999 ${hostname()}`)
    expect(await withLock('work', () => Promise.resolve(1), folder)).toBe(1)
  })
})
