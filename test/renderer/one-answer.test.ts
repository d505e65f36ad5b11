/**
 * Tests that the CLI, the UI, MCP, and reports describe the same differences between two reports of
 * a program.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createSSRApp } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { compareSessions } from '../../src-main/domain/programs/compare-sessions'
import { inEnglish } from '../../src-main/domain/text/english'
import { compareCommand } from '../../src-main/hosts/cli/commands/compare-command'
import { addReadTools } from '../../src-main/hosts/mcp/read-tools'
import type { AddTool, Workplace } from '../../src-main/hosts/mcp/tool'
import { compareReports, readNcuRep } from '../../src-main/api/index'
import { reportComparison } from '../../src-main/services/report/index'
import { importReport } from '../../src-main/services/import/import-ncu'
import { reportSections } from '../../src-main/domain/report/frozen-report'
import { buildComparison } from '../../src-main/services/report/comparison'
import { comparisonDocument } from '../../src-main/services/report/comparison-document'
import { scrubber } from '../../src-main/services/report/scrub'
import { openSession } from '../../src-main/services/sessions/open-session'
import { recordedRef } from '../../src-main/domain/session/session-ref'
import type { Session } from '../../src-main/domain/session/session'
import SessionPairs from '../../src-renderer/features/compare/SessionPairs.vue'
import { noPrivates } from '../services/report/samples'
import { ncuReport } from '../captures'
import { setupIn, shippedKernels, tempDir } from '../services/support'

/** Returns an MCP tool's response. */
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

/**
 * Returns the HTML of the Compare screen for two sessions, rendered by the app's own component.
 */
async function askUi(a: Session, b: Session): Promise<string> {
  const app = createSSRApp(SessionPairs, { comparison: compareSessions(a, b) })
  app.directive('tip', { getSSRProps: () => ({}) })
  return unescapeHtml((await renderToString(app)).replaceAll(/ data-v-\w+/g, ''))
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescapeHtml = (html: string): string =>
  html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]!)

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
  it('have the same answer on the command line, in MCP, in the report, and in the UI', async () => {
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
    const shown = await askUi(a!.session, b!.session)
    for (const sentence of answer) expect(shown).toContain(`<p class="answer">${sentence}</p>`)
    // The names of the fused kernels occur on the screen only in the answer.
    for (const name of ['bias_gelu_kernel', 'tanh_kernel_cuda'])
      expect(shown.split(name), name).toHaveLength(2)
    expect(shown).not.toContain('Without a counterpart')
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

  it('have the same answer when the library reads their reports', async () => {
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
    const shown = await askUi(a!, b!)
    for (const sentence of answer) expect(shown).toContain(sentence)
  })
})

const onOtherGpu = (session: Session): Session => ({
  ...session,
  device: { ...session.device!, name: 'NVIDIA H100' },
})
const gpusDiffer = 'The GPUs differ: NVIDIA H200 and NVIDIA H100.'

describe('sessions from two GPUs', () => {
  it('have reasons instead of a ratio in every interface', async () => {
    const dir = await tempDir()
    const setup = setupIn(dir, { kernelsDir: shippedKernels })
    const { session, sources } = await openSession(setup, recordedRef('softmax-h200-4096x4096'))
    const other = onOtherGpu(session)
    const folders = ['first', 'second'].map((name) => join(dir, name)) as [string, string]
    for (const [index, one] of [session, other].entries()) {
      await mkdir(folders[index]!)
      await writeFile(join(folders[index]!, 'session.json'), JSON.stringify(one))
    }
    const ratio = /\d× as fast|faster|slower/
    const [printed, answered, shown] = await Promise.all([
      askCli(setup, ...folders),
      askMcp(setup, 'compare', { a: folders[0], b: folders[1] }),
      askUi(session, other),
    ])
    for (const text of [printed, answered, shown]) {
      expect(text).toContain(gpusDiffer)
      expect(text).not.toMatch(ratio)
    }
    for (const format of ['md', 'tex', 'json'] as const) {
      const report = reportComparison(
        { session, sources },
        { session: other, sources },
        { format },
        noPrivates,
      )
      expect(report).toContain(gpusDiffer)
      // Both sessions have the same figures, so any ratio would be 1.00×.
      expect(report).not.toMatch(
        format === 'json' ? /"speedup": \d/ : /\d(×|\\texttimes|\$\\times)/,
      )
    }
    const page = comparisonDocument(
      buildComparison(
        { session, sources, scrub: scrubber(noPrivates), sections: reportSections, date: null },
        {
          session: other,
          sources,
          scrub: scrubber(noPrivates),
          sections: reportSections,
          date: null,
        },
      ),
    )
    const times = page.parts.find(({ id }) => id === 'times')!
    expect(times.body).not.toMatch(/×|better|worse/)
  })
})
