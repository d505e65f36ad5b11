import { describe, expect, it } from 'vitest'
import {
  answerFile,
  canBeDated,
  freshForm,
  requestOf,
  savedRequest,
  type ExportForm,
} from './export-form'
import { recording } from '../../../test/services/report/samples'
import { ReportRequest } from '../../../src-main/contract/reports'

const { session } = recording()
const request = (change: Partial<ExportForm>) => {
  const made = requestOf('recorded:x', session, { ...freshForm(session), ...change }, '2026-11-21')
  if (made) expect(ReportRequest.safeParse(made).success).toBe(true)
  return made
}

describe('an export request', () => {
  it('defaults to the whole session in HTML', () => {
    expect(request({})).toEqual({
      ref: 'recorded:x',
      format: 'html',
      sections: ['ladder', 'charts', 'matrix', 'compare'],
    })
  })

  it('lists the chosen rungs in ladder order, and the sections in report order', () => {
    expect(
      request({
        format: 'md',
        rungs: ['06_float4', '02_coalesced'],
        sections: ['compare', 'ladder'],
      }),
    ).toMatchObject({ rungs: ['02_coalesced', '06_float4'], sections: ['ladder', 'compare'] })
    expect(request({ rungs: [] })).toBeNull()
  })

  it('includes the author’s texts and charts if the format supports them', () => {
    const own = {
      title: ' Mine ',
      notes: 'a\n\nb',
      charts: ['throughput', 'stalls'],
      captions: { stalls: ' Waiting ', roofline: 'not drawn', throughput: '' },
    }
    expect(request({ format: 'pdf', ...own })).toMatchObject({
      title: 'Mine',
      notes: ['a\n\nb'],
      charts: ['throughput', 'stalls'],
      captions: { stalls: 'Waiting' },
    })
    expect(Object.keys(request({ format: 'tex', ...own })!)).toEqual([
      'ref',
      'format',
      'sections',
      'title',
      'notes',
    ])
    expect(request({ format: 'html', ...own })).toEqual(request({ format: 'html' }))
    expect(request({ format: 'md', ...own, compare: 'x' })).not.toHaveProperty('charts')
    expect(request({ format: 'md', ...own, sections: ['ladder'] })).not.toHaveProperty('charts')
    expect(request({ format: 'md', charts: [] })).not.toHaveProperty('charts')
  })

  it('leaves out options that the format does not support', () => {
    expect(request({ format: 'csv', wide: true, compare: 'x' })).toEqual({
      ref: 'recorded:x',
      format: 'csv',
      compare: 'x',
    })
    expect(request({ format: 'csv', wide: true })).toMatchObject({ wide: true })
    expect(request({ format: 'json', dated: true })).not.toHaveProperty('date')
    expect(request({ format: 'json', dated: true, compare: 'x' })).toHaveProperty('date')
    expect(request({ format: 'tex', wide: true })).toMatchObject({
      sections: ['ladder', 'matrix', 'compare'],
    })
    expect(canBeDated({ ...freshForm(session), format: 'json' })).toBe(false)
  })
})

describe('the request for a saved file', () => {
  it('includes pictures if the format stores them in separate files', () => {
    expect(savedRequest(request({ format: 'md' })!)).toMatchObject({ pictures: true })
    expect(savedRequest(request({ format: 'html' })!)).not.toHaveProperty('pictures')
  })
})

describe('a report file', () => {
  it('has the same bytes as the response', async () => {
    const text = { name: 'x', mediaType: 'text/csv', encoding: 'text', content: 'é,1' } as const
    expect(await answerFile(text).text()).toBe('é,1')
    const bytes = { ...text, encoding: 'base64', content: 'AP8K' } as const
    expect([...new Uint8Array(await answerFile(bytes).arrayBuffer())]).toEqual([0, 255, 10])
    expect(answerFile(bytes).type).toBe('text/csv')
  })
})
