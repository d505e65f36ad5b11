import { describe, expect, it } from 'vitest'
import { drawingElementId, drawingLabel } from '../../../src-main/domain/report/drawing'
import { parseDrawnPage } from '../../../src-main/parsers/report/drawn-page'

describe('a page that drew a chart', () => {
  it('gives the text of the drawing as it was before the browser wrote the page down', () => {
    const dom = `<html><body><main><h2>Roofline</h2></main><pre id="${drawingElementId(1)}" ${drawingLabel}="a &quot;b&quot; > c">&lt;svg a="&amp;lt;b"&gt;&nbsp;&lt;/svg&gt;</pre></body></html>`
    expect(parseDrawnPage(dom, 2).drawings).toEqual([
      null,
      { label: 'a "b" > c', svg: '<svg a="&lt;b">\u00a0</svg>' },
    ])
  })

  it('that drew none gives what it says in its place', () => {
    const dom =
      '<main class="main"><div><h2>Memory traffic: nothing to draw</h2><p>Not collected &amp; so on.</p> <code>run</code></div></main>'
    expect(parseDrawnPage(dom, 1)).toEqual({
      drawings: [null],
      words: 'Memory traffic: nothing to draw. Not collected & so on. run',
    })
  })

  it('that is empty says nothing', () => {
    expect(parseDrawnPage('', 0)).toEqual({ drawings: [], words: '' })
  })

  it('of signs that begin a tag and end none is read in one go', () => {
    const signs = '<'.repeat(400_000)
    expect(parseDrawnPage(`<main>${signs}</main>`, 0).words).toBe(signs)
    expect(parseDrawnPage('<main>'.repeat(60_000), 0).words).toBe('')
  }, 5000)
})
