/** Tests the next step of each rung in reports. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { firstStep, firstStepWords } from '../../../src-main/domain/next/first-step'
import type { Next } from '../../../src-main/domain/next/next'
import { Session } from '../../../src-main/domain/session/session'
import { parseReportHtml } from '../../../src-main/parsers/report/report-html'
import { adviseOnAll } from '../../../src-main/services/next/advise'
import { report, reportHtml } from '../../../src-main/services/report'
import { buildReport } from '../../../src-main/services/report/model'
import { printPage } from '../../../src-main/services/report/print-document'
import { scrubber } from '../../../src-main/services/report/scrub'
import { sessionDocument } from '../../../src-main/services/report/session-document'
import { reportSections } from '../../../src-main/domain/report/frozen-report'
import { recordingsDir } from '../support'
import { noPrivates, template } from './samples'

const session = Session.parse(await readSession(join(recordingsDir, 'transpose-h200')))
const opened = { session, sources: {}, deep: () => Promise.resolve(null) }
const next = await adviseOnAll({ assets: { recordingsDir } }, opened)

it('Markdown and PDF show the first step of each rung except the reference, in ladder order', () => {
  const sample = { ...opened, next }
  const md = report(sample, { format: 'md' }, noPrivates)
  const [, section = ''] = md.split('## What to change next\n')
  const listed = [...section.split('\n## ')[0]!.matchAll(/^- `(\w+)`: /gm)].map(([, id]) => id)
  expect(listed).toEqual(Object.keys(next))
  expect(listed).not.toContain(session.ladder.reference)
  const rung = session.rungs.find(({ id }) => id === listed[0])!
  const words = firstStepWords(firstStep(session, rung, next[rung.id]!))
  expect(words).toMatch(/[mµ]s → .* to .* [mµ]s\.$/)
  expect(section).toContain(words)
  const model = buildReport({
    ...sample,
    scrub: scrubber(noPrivates),
    sections: reportSections,
    date: null,
  })
  expect(printPage(sessionDocument(model))).toContain('What to change next')
  expect(report(opened, { format: 'md' }, noPrivates)).not.toContain('What to change next')
})

it('HTML includes all recommendations, but no machine names', () => {
  const [id, advice] = Object.entries(next)[0]!
  const line = { file: '/home/jane/k.cu', line: 3, text: 'x', share: 1, changed: null }
  const cited: Next = { ...advice, steps: advice.steps.map((step) => ({ ...step, lines: [line] })) }
  const html = reportHtml([{ ...opened, next: { [id]: cited } }], {}, template, noPrivates)
  const [frozen] = parseReportHtml(html, 'report.html').report.sessions
  expect(frozen!.next![id]!.steps.map(({ msAfter }) => msAfter)).toEqual(
    advice.steps.map(({ msAfter }) => msAfter),
  )
  expect(html).not.toContain('jane')
})
