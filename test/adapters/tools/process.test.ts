import { describe, expect, it } from 'vitest'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { KernelLadderError } from '../../../src-main/domain/errors'
import { isAlive } from '../../services/support'

const run = (
  script: string,
  onStdoutLine: (line: string) => void,
  onSpawn = (_pid: number) => {},
) => runProcess({ file: process.execPath, args: ['-e', script], onStdoutLine, onSpawn })

describe('a listener that throws', () => {
  it('ends the program, and its error comes to the caller with a kind', async () => {
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

  it('keeps the kind of an error of ours, also on the last line, which has no end', async () => {
    const failing = run("process.stdout.write('only')", () => {
      throw new KernelLadderError('missing', 'It is not here.')
    })
    await expect(failing).rejects.toMatchObject({ kind: 'missing', message: 'It is not here.' })
  })
})

describe('lines', () => {
  it('come whole, however their bytes arrive', async () => {
    const lines: string[] = []
    const { outcome } = await run(
      "const put = (t) => new Promise((d) => process.stdout.write(t, d)); (async () => { for (const t of ['a', 'b\\r\\n', '', 'ü'.repeat(3), '\\n\\nlast']) { await put(t); await new Promise((d) => setTimeout(d, 20)) } })()",
      (line) => lines.push(line),
    )
    expect(outcome).toBe('exited')
    expect(lines).toEqual(['ab', 'üüü', '', 'last'])
  })
})
