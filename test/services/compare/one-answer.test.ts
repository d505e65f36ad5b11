/** The same question on every surface: what changed between two reports of a program? */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { inEnglish } from '../../../src-main/domain/text/english'
import { compareCommand } from '../../../src-main/hosts/cli/commands/compare-command'
import { addReadTools } from '../../../src-main/hosts/mcp/read-tools'
import type { AddTool, Workplace } from '../../../src-main/hosts/mcp/tool'
import { compareReports, readNcuRep } from '../../../src-main/api/index'
import { reportComparison } from '../../../src-main/services/report/index'
import { importReport } from '../../../src-main/services/import/import-ncu'
import { openSession } from '../../../src-main/services/sessions/open-session'
import { recordedRef } from '../../../src-main/domain/session/session-ref'
import { noPrivates } from '../report/samples'
import { ncuReport } from '../../captures'
import { setupIn, shippedKernels, tempDir } from '../support'

/** What a tool of MCP answers. */
async function askMcp(setup: Workplace['setup'], tool: string, input: object): Promise<string> {
  let found: ((input: never, call: never) => Promise<{ summary: string }>) | undefined
  const add = ((name: string, { answer }: { answer: typeof found }) => {
    if (name === tool) found = answer
  }) as unknown as AddTool
  const gone = new AbortController().signal
  const fence = { within: (path: string) => Promise.resolve(path) } as unknown as Workplace['fence']
  addReadTools(add, { setup, fence, allowRun: false, gone })
  return (await found!(input as never, undefined as never)).summary
}

async function askCli(setup: Workplace['setup'], a: string, b: string): Promise<string> {
  const written: string[] = []
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  try {
    expect(await compareCommand(setup, a, b, {})).toBe(0)
  } finally {
    spy.mockRestore()
  }
  return written.join('')
}

describe('two programs', () => {
  it('have one answer in the command line, MCP, the report and what the UI renders', async () => {
    const setup = setupIn(await tempDir(), { kernelsDir: shippedKernels })
    const refs = ['feed-forward-h200', 'feed-forward-h200-fused'].map(recordedRef) as [
      string,
      string,
    ]
    const opened = await Promise.all(refs.map((ref) => openSession(setup, ref)))
    const [a, b] = opened.map(({ session, sources }) => ({ session, sources }))
    const compared = compareSessions(a!.session, b!.session)
    const answer = compared.answer.map((sentence) => inEnglish(sentence))
    expect(answer[0]).toMatch(/^Fused: 6 kernels became 1 kernel, 211 µs → 22\.4 µs, 0\.106× /)
    expect(answer).toHaveLength(3)
    const printed = await askCli(setup, ...refs)
    for (const sentence of answer) expect(printed).toContain(sentence)
    expect(await askMcp(setup, 'compare', { a: refs[0], b: refs[1] })).toBe(answer.join(' '))
    const report = reportComparison(a!, b!, { format: 'json' }, noPrivates)
    const document = JSON.parse(report) as {
      answer: string
      rungs: { a: { rung: string }; b: { rung: string } }[]
    }
    expect(document.answer).toBe(answer.join(' '))
    expect(document.rungs.map((one) => [one.a.rung, one.b.rung])).toEqual(
      compared.pairs.map((pair) => [pair.a, pair.b]),
    )
  })

  it('have the same answer from their reports in the library', async () => {
    const dir = await tempDir()
    const setup = setupIn(dir)
    const names = ['deep-twelve', 'deep-after'] as const
    const bytes = names.map((name) => ncuReport(`programs/${name}`))
    const sessions = await Promise.all(
      names.map(async (name, index) => {
        const file = join(dir, `${name}.ncu-rep`)
        await writeFile(file, bytes[index]!)
        return importReport(file, { store: join(dir, 'sessions'), appVersion: '0.0.0' })
      }),
    )
    const { answer } = compareReports(readNcuRep(bytes[0]!), readNcuRep(bytes[1]!))
    const [a, b] = sessions.map(({ session }) => session)
    expect(compareSessions(a!, b!).answer.map((one) => inEnglish(one))).toEqual(answer)
    const [first, second] = sessions.map(({ folder }) => folder) as [string, string]
    expect(await askCli(setup, first, second)).toContain(answer[0])
    expect(await askMcp(setup, 'compare', { a: first, b: second })).toBe(answer.join(' '))
  })
})
