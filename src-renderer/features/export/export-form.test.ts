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
  it('is the whole session in HTML at first', () => {
    expect(request({})).toEqual({
      ref: 'recorded:x',
      format: 'html',
      sections: ['ladder', 'charts', 'matrix', 'compare'],
    })
  })

  it('names chosen rungs and sections in the order of the ladder and of the report', () => {
    expect(
      request({
        format: 'md',
        rungs: ['06_float4', '02_coalesced'],
        sections: ['compare', 'ladder'],
      }),
    ).toMatchObject({ rungs: ['02_coalesced', '06_float4'], sections: ['ladder', 'compare'] })
    expect(request({ rungs: [] })).toBeNull()
  })

  it('has its author’s words and charts where the format has a place for them', () => {
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

  it('leaves out what the format cannot hold', () => {
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

describe('the request of a saved file', () => {
  it('has the pictures with it, where the format keeps them beside its text', () => {
    expect(savedRequest(request({ format: 'md' })!)).toMatchObject({ pictures: true })
    expect(savedRequest(request({ format: 'html' })!)).not.toHaveProperty('pictures')
  })
})

describe('the answer', () => {
  it('is a file with the same bytes', async () => {
    const text = { name: 'x', mediaType: 'text/csv', encoding: 'text', content: 'é,1' } as const
    expect(await answerFile(text).text()).toBe('é,1')
    const bytes = { ...text, encoding: 'base64', content: 'AP8K' } as const
    expect([...new Uint8Array(await answerFile(bytes).arrayBuffer())]).toEqual([0, 255, 10])
    expect(answerFile(bytes).type).toBe('text/csv')
  })
})
