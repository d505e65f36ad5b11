import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { ReportAnswer } from '../../../src-main/contract/report'
import { answerReport } from '../../../src-main/services/report/make'
import type { OpenedSession } from '../../../src-main/services/sessions/sessions'
import { recording } from './samples'

const opened = (): OpenedSession => ({
  ...recording(),
  folder: '',
  deep: () => Promise.resolve(null),
})
const tools = {
  assets: { reportTemplate: join('/', 'nope', 'template.html') } as never,
  printPdf: () => Promise.resolve(Uint8Array.of(0, 255, 10)),
}

describe('a report for a UI', () => {
  it('is text, or bytes as base64, with a name for the file', async () => {
    const text = await answerReport(tools, [opened()], { format: 'csv' })
    expect(ReportAnswer.parse(text)).toMatchObject({
      name: 'gemm-fp32-4096-20261121-032713.csv',
      encoding: 'text',
      mediaType: 'text/csv',
    })
    expect(text.content).toContain('06_float4')
    const bytes = await answerReport(tools, [opened()], { format: 'pdf' })
    expect(bytes).toMatchObject({ encoding: 'base64', content: 'AP8K' })
    const other = opened()
    other.session.id = '../../<b>'
    const both = await answerReport(tools, [opened(), other], { format: 'md' })
    expect(both.name).toBe('gemm-fp32-4096-20261121-032713-beside--b-.md')
  })

  it('in Markdown comes with its pictures as a zip, whose same content is the same bytes', async () => {
    const make = (choice: object) =>
      answerReport(tools, [opened()], { format: 'md', pictures: true, ...choice })
    const zip = await make({})
    const name = 'gemm-fp32-4096-20261121-032713'
    expect(zip).toMatchObject({ name: `${name}.zip`, mediaType: 'application/zip' })
    const files = unzipSync(Buffer.from(zip.content, 'base64'))
    const text = strFromU8(files[`${name}.md`]!)
    const shown = [...text.matchAll(/\]\(([^)]+\.svg)\)/g)].map(([, path]) => path)
    expect(shown.length).toBeGreaterThan(3)
    expect(Object.keys(files)).toEqual([`${name}.md`, ...shown])
    for (const path of shown) expect(strFromU8(files[path!]!)).toMatch(/^<svg /)
    expect((await make({})).content).toBe(zip.content)
    // Without the charts there is nothing to lie beside it.
    expect((await make({ sections: ['ladder'] })).mediaType).toBe('text/markdown')
  })

  it('says what is missing, and what is not made', async () => {
    await expect(answerReport(tools, [opened()], { format: 'html' })).rejects.toMatchObject({
      kind: 'missing',
    })
    const other = opened()
    other.session.ladder.id = 'another'
    await expect(answerReport(tools, [opened(), other], { format: 'pdf' })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('cannot be compared') as string,
    })
  })
})
