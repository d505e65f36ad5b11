import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printPdf } from '../../../src-main/adapters/print/chromium'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { reportPdf } from '../../../src-main/services/report'
import { barsSvg } from '../../../src-main/services/report/bars-svg'
import { chartFigures } from '../../../src-main/services/report/charts'
import { recordingsDir, setEnv, tempDir } from '../support'
import {
  noPrivates,
  recording,
  slowed,
  withHostileStrings,
  withTroubles,
  type Sample,
} from './samples'
import { placesInPdf, stablePdf } from '../../../src-main/parsers/report/pdf'
import { chromiumCandidates } from '../../../scripts/lib/chromium.mjs'
import { htmlDiff } from '../../../src-main/services/report/print-parts'

/**
 * Prints with a fake printer that records the documents and puts each heading on its own page.
 * Returns the draft and the final document.
 */
async function printed(
  samples: Sample | [Sample, Sample],
  options: Parameters<typeof reportPdf>[1] = {},
) {
  const documents: string[] = []
  const drafts: boolean[] = []
  const stages: string[] = []
  const pdf = await reportPdf(
    Array.isArray(samples) ? samples : [samples],
    options,
    {
      printPdf: (html, { draft = false } = {}) => {
        documents.push(html)
        drafts.push(draft)
        const ids = [...html.matchAll(/<h[23] id="([\w-]+)"/g)].map(([, id]) => id!)
        return Promise.resolve(fakePdf(ids))
      },
      onStage: (stage) => stages.push(stage),
    },
    noPrivates,
  )
  return { documents, drafts, stages, pdf: Buffer.from(pdf).toString('latin1') }
}

/** Returns a PDF with one page per heading. The page tree is as deep as in Chromium's PDFs. */
function fakePdf(ids: readonly string[]): Uint8Array {
  const page = (index: number): number => 100 + index
  const half = Math.ceil(ids.length / 2)
  const kids = (from: number, to: number): string =>
    ids
      .map((_id, index) => `${page(index)} 0 R`)
      .slice(from, to)
      .join(' ')
  const objects = [
    "1 0 obj\n<</Title (T)\n/CreationDate (D:20260101010101+00'00')\n/ModDate (D:20260101010101+00'00')>>\nendobj",
    '2 0 obj\n<</Type /Catalog\n/Pages 3 0 R\n/Dests 4 0 R>>\nendobj',
    '3 0 obj\n<</Type /Pages\n/Kids [5 0 R 6 0 R]>>\nendobj',
    `4 0 obj\n<<${ids.map((id, index) => `/${id} [${page(index)} 0 R /XYZ 6 827 0]`).join('\n')}>>\nendobj`,
    `5 0 obj\n<</Type /Pages\n/Kids [${kids(0, half)}]>>\nendobj`,
    `6 0 obj\n<</Type /Pages\n/Kids [${kids(half, ids.length)}]>>\nendobj`,
    ...ids.map((_id, index) => `${page(index)} 0 obj\n<</Type /Page>>\nendobj`),
  ]
  return Buffer.from(`%PDF-1.4\n${objects.join('\n')}\n`, 'latin1')
}

describe('a printed report', () => {
  it("takes the page numbers for its table of contents from a draft, and shows the session's date", async () => {
    const { documents, drafts, stages, pdf } = await printed(recording())
    expect([drafts, stages]).toEqual([
      [true, false],
      ['layout', 'print'],
    ])
    // The draft hides the page numbers that the final report shows.
    expect(documents.map((html) => html.includes('visibility: hidden'))).toEqual([true, false])
    const contents = (html: string): string[] =>
      [...html.matchAll(/<a href="#([\w-]+)">.*?<span>(\d*)<\/span>/g)].map(
        ([, id, page]) => `${id} ${page}`,
      )
    expect(contents(documents[0]!).slice(0, 3)).toEqual(['summary ', 'ladder ', 'charts '])
    expect(contents(documents[1]!)).toEqual([
      'summary 1',
      'ladder 2',
      'charts 3',
      'counters 4',
      'steps 5',
      ...[0, 1, 2, 3, 4].map((step) => `step-${step} ${step + 6}`),
      'provenance 11',
    ])
    expect(pdf).toContain('/CreationDate (D:20261121032713')
    expect(pdf).toContain('/ModDate (D:20261121032713')
  })

  it('includes the summary, figures with their marks, diffs, and the origin', async () => {
    const [html = ''] = (await printed(withTroubles())).documents
    expect(html).toContain('<p class="best">Best rung: <code>06_float4</code>')
    expect(html).toContain('<td class="num">40.3 TFLOP/s</td>')
    expect(html).toContain('<sup>1</sup>')
    expect(html).toMatch(/<span class="added">\+[^<]*__shared__/)
    expect(html).toContain('gemm/03_shared_tile.cu:12: error: expected a &quot;;&quot;')
    expect(html).toContain('kernel-ladder run --ladder gemm-fp32')
    expect(html.match(/<svg /g)!.length).toBeGreaterThan(5)
  })

  it('includes only the chosen sections', async () => {
    const [html = ''] = (await printed(recording(), { sections: ['charts'] })).documents
    expect([...html.matchAll(/<h2 id="(\w+)"/g)].map(([, id]) => id)).toEqual([
      'summary',
      'charts',
      'provenance',
    ])
  })

  it("lists only the counters behind a step's causes if a Counters section has the rest", async () => {
    // The standard level collects few counters, and each of these is evidence for a listed cause.
    const session = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096'))
    const rows = async (sections: ('compare' | 'matrix')[]) => {
      const [html = ''] = (await printed({ session, sources: {} }, { sections })).documents
      const step = html.slice(html.indexOf('id="step-0"'), html.indexOf('id="step-1"'))
      return { step, rows: step.match(/<tr>/g)!.length }
    }
    const [short, whole] = [await rows(['compare', 'matrix']), await rows(['compare'])]
    expect(short.rows).toBeLessThan(whole.rows)
    expect(short.step).toContain('Also changed, with figures under Counters: ')
    expect(whole.step).not.toContain('Also changed')
  })

  it('has no bar chart for data in the occupancy chart, unless the bar chart has a caption', async () => {
    const svg = '<svg width="10" height="10"></svg>'
    const drawn = new Map([['occupancy', { svg, label: 'Occupancy limiters' }]])
    const bars = async (options: Parameters<typeof printed>[1]) => {
      const [html = ''] = (await printed(recording(), options)).documents
      const labels = ['Waves per SM', 'Achieved occupancy', 'FMA pipe utilization']
      return labels.filter((label) => html.includes(`<title>${label}`))
    }
    expect(await bars({})).toHaveLength(3)
    expect(await bars({ drawn })).toEqual(['FMA pipe utilization'])
    const captions = { wavesPerSm: 'One wave and a tail.' }
    expect(await bars({ drawn, captions })).toEqual(['Waves per SM', 'FMA pipe utilization'])
  })

  it('contains no markup from malicious text', async () => {
    const [html = ''] = (await printed(withHostileStrings())).documents
    expect(html).not.toMatch(/<script|<img|<[a-z]+ [^>]*\bon\w+=/i)
    expect(html.replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
  })
})

describe('two printed sessions', () => {
  const after = (): Sample => {
    const sample = slowed(recording(), '06_float4', 1.5)
    sample.sources['06_float4'] += '// <changed>\n'
    sample.session.rungs.at(-1)!.sourceHash = 'f'.repeat(64)
    sample.session.device!.driver = '590'
    return sample
  }

  it('include warnings, times, changed metrics, diffs, and both origins', async () => {
    const [, html = ''] = (await printed([recording(), after()])).documents
    expect(html).toContain('<title>FP32 matrix multiplication at 4096³ FP32: two sessions</title>')
    expect(html).toContain('The driver versions differ: 580.159.04 and 590.')
    expect(html).toContain('0 got faster, 1 slower,')
    expect(html).toMatch(/<code>06_float4<\/code><\/th>.*3\.41 ms.*5\.12 ms.*▼ worse/)
    expect(html).toContain('<span class="added">+// &lt;changed&gt;</span>')
    expect(html).toContain('f'.repeat(64))
    const titles = [...html.matchAll(/<h2 id="([\w-]+)"/g)].map(([, id]) => id)
    expect(titles).toEqual(['summary', 'times', 'charts', 'counters', 'sources', 'provenance'])
    expect(html.match(/kernel-ladder run --ladder gemm-fp32/g)!.length).toBe(2)
  })

  it('include only the chosen sections, and are rejected if they cannot be compared', async () => {
    const chosen = await printed([recording(), after()], { sections: ['compare'] })
    const titles = [...chosen.documents[1]!.matchAll(/<h2 id="([\w-]+)"/g)].map(([, id]) => id)
    expect(titles).toEqual(['summary', 'sources', 'provenance'])
    const other = recording()
    other.session.ladder.id = 'another'
    await expect(async () => printed([recording(), other])).rejects.toThrow(/cannot be compared/)
  })

  it('contain no markup from malicious text', async () => {
    const [html = ''] = (await printed([withHostileStrings(), withHostileStrings()])).documents
    expect(html).not.toMatch(/<script|<img|<[a-z]+ [^>]*\bon\w+=/i)
  })
})

describe('a printed diff', () => {
  it('joins consecutive lines of the same kind, except lines that wrap', () => {
    const long = `+${'x'.repeat(200)}`
    const lines = [' a', '-b', '-c', '+d', long, '+e']
    expect(htmlDiff([{ oldStart: 1, oldLines: 3, newStart: 4, newLines: 4, lines }])).toBe(
      `<pre class="diff"><span class="hunk">lines from 1, now from 4</span><span class="same"> a</span><span class="removed">-b\n-c</span><span class="added">+d</span><span class="added long">${long}</span><span class="added">+e</span></pre>`,
    )
  })
})

describe('a PDF in a format other than Chromium’s', () => {
  it('is unchanged, and has no heading positions', () => {
    const other = Buffer.from('%PDF-2.0\nstream of objects\n')
    expect(placesInPdf(other).size).toBe(0)
    expect(Buffer.from(stablePdf(other, new Date(0)))).toEqual(other)
  })
})

describe('pages printed twice', () => {
  it("have the same bytes, regardless of the browser's element numbering", () => {
    const from = (first: number): Uint8Array =>
      Buffer.from(
        [0, 1, 2].map((at) => `/ID (node${String(first + at).padStart(8, '0')})`).join('\n'),
      )
    const [a, b] = [from(8), from(99)].map((pdf) => Buffer.from(stablePdf(pdf, new Date(0))))
    expect(a!.equals(b!)).toBe(true)
    expect(a!.toString()).toContain('/ID (node00000003)')
  })
})

describe('a chart', () => {
  it('is a self-contained SVG with each figure as text and a line for the reference', () => {
    const svg = barsSvg(
      {
        id: 'x',
        title: 'A <b>',
        description: 'd',
        bars: [
          { label: '00 cuBLAS', value: 40, text: '40 k', isReference: true },
          { label: '01 & long', value: 10, text: '10 k', isReference: false },
          { label: '02', value: null, text: 'failed', isReference: false },
        ],
      },
      { width: 400, labelWidth: 100 },
    )
    expect(svg).toContain('<title>A &lt;b&gt;</title>')
    const widths = [...svg.matchAll(/<rect .*? width="([\d.]+)" height="11"/g)].map(([, w]) => +w!)
    expect(widths).toEqual([226, 56.5])
    expect(svg).toContain('>failed</text>')
    expect(svg).toContain('stroke-dasharray')
  })

  it('with too many bars for a page is split into several charts with the same scale', () => {
    const bars = Array.from({ length: 100 }, (_, index) => ({
      label: `${index}`,
      value: index,
      text: `${index}`,
      isReference: index === 99,
    }))
    const figures = chartFigures(
      { id: 'x', title: 'T', description: 'd', bars },
      { width: 400, labelWidth: 100 },
    )
    expect(figures.map((svg) => /<title>(.*?)<\/title>/.exec(svg)![1])).toEqual([
      'T, 1 of 3',
      'T, 2 of 3',
      'T, 3 of 3',
    ])
    for (const svg of figures) {
      expect(svg).toContain('stroke-dasharray')
      expect(+/height="(\d+)"/.exec(svg)![1]!).toBeLessThan(900)
    }
    const widths = figures.flatMap((svg) =>
      [...svg.matchAll(/<rect .*? width="([\d.]+)" height="11"/g)].map(([, width]) => +width!),
    )
    expect(widths[99]! / widths[33]!).toBeCloseTo(3, 2)
  })

  it('has an axis but no bars when every figure is zero', () => {
    const bars = [{ label: 'a', value: 0, text: '0', isReference: false }]
    const svg = barsSvg(
      { id: 'x', title: 't', description: 'd', bars },
      { width: 300, labelWidth: 50 },
    )
    expect(svg).not.toMatch(/NaN|Infinity/)
  })
})

describe("this machine's browser", () => {
  const browser = async (script: string): Promise<string> => {
    const path = join(await tempDir(), 'chromium')
    await writeFile(path, `#!/bin/sh\n${script}\n`)
    await chmod(path, 0o755)
    return path
  }

  it('is reported as missing if none is found or the chosen browser is missing', async () => {
    setEnv({ PATH: '', KERNEL_LADDER_PATH_ONLY: '1', KERNEL_LADDER_CHROMIUM: '', CHROME_PATH: '' })
    setEnv({ CHROMIUM_PATH: '' })
    await expect(printPdf('x')).rejects.toMatchObject({
      kind: 'missing',
      message: 'A PDF requires Chromium or Chrome, and none was found on this machine.',
    })
    setEnv({ KERNEL_LADDER_CHROMIUM: '/nope/chromium' })
    await expect(printPdf('x')).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('/nope/chromium') as string,
    })
  })

  it('may be any browser that the tests find, even a headless browser', async () => {
    const folder = await tempDir()
    const path = join(folder, 'chromium-headless-shell')
    await writeFile(path, '#!/bin/sh\necho shell >&2; exit 3\n')
    await chmod(path, 0o755)
    const [found] = chromiumCandidates({ PATH: folder }, 'linux', () => undefined)
    expect(found).toBe(path)
    setEnv({ PATH: `${folder}:/usr/bin:/bin`, KERNEL_LADDER_CHROMIUM: '', CHROME_PATH: '' })
    setEnv({ KERNEL_LADDER_PATH_ONLY: '1' })
    await expect(printPdf('x')).rejects.toMatchObject({
      message: expect.stringMatching(/Its last output: shell/) as string,
    })
  })

  it('includes its output in the error if it fails, and leaves no files on disk', async () => {
    const program = await browser('echo boom >&2; exit 7')
    const temporary = await tempDir()
    setEnv({ KERNEL_LADDER_CHROMIUM: program, TMPDIR: temporary })
    await expect(printPdf('x')).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(
        /produced no PDF: it exited with code 7\. Its last output: boom/,
      ) as string,
    })
    expect(await readdir(temporary)).toEqual([])
  })

  it('is reported as failed if it leaves a partial document, as on a full disk', async () => {
    const program = await browser(
      'for word in "$@"; do case "$word" in --print-to-pdf=*) out="${word#*=}";; esac; done; printf %%PDF-1.4 > "$out"',
    )
    setEnv({ KERNEL_LADDER_CHROMIUM: program })
    await expect(printPdf('x')).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/left an incomplete PDF in .*: the disk is full/) as string,
    })
  })

  it('gets its own profile, and runs without a sandbox only as root', async () => {
    const program = await browser(
      'for word in "$@"; do case "$word" in --print-to-pdf=*) out="${word#*=}";; esac; done; (echo "$@"; echo %%EOF) > "$out"',
    )
    setEnv({ KERNEL_LADDER_CHROMIUM: program })
    const words = Buffer.from(await printPdf('x')).toString()
    expect(words).toMatch(/--headless .*--user-data-dir=\S+\/profile/)
    expect(words.includes('--no-sandbox')).toBe(process.getuid?.() === 0)
    expect(words).toMatch(/--generate-pdf-document-outline file:\/\/\S+report\.html$/m)
    const draft = Buffer.from(await printPdf('x', { draft: true })).toString()
    expect(draft).toMatch(/--disable-pdf-tagging file:/)
  })
})
