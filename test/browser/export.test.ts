import { readFile } from 'node:fs/promises'
import { strFromU8, unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseReportHtml } from '../../src-main/parsers/report/report-html'
import { shippedSession, startHarness, type Harness } from './support'

let harness: Harness
let ref: string
beforeAll(async () => {
  harness = await startHarness()
  ref = (await shippedSession(harness.core)).ref
})
afterAll(() => harness.stop())

const route = (): string => `/session/${encodeURIComponent(ref)}/export`

describe('the export screen', () => {
  it('is reached from the frame, and saves the chosen rungs as a file', async () => {
    const { page, faults } = await harness.open(`/session/${encodeURIComponent(ref)}/ladder`)
    await page.getByRole('link', { name: 'Report on this session' }).click()
    await page.getByText('Best rung:').waitFor()
    await page.getByLabel('Naive').uncheck()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save report' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^gemm-fp32-.*\.html$/)
    const html = await readFile(await file.path(), 'utf8')
    const { report } = parseReportHtml(html, 'x')
    expect(report.sessions[0]!.session.rungs.map(({ id }) => id)).not.toContain('01_naive')
    expect(await page.getByRole('status').textContent()).toMatch(/Saved gemm-fp32-.*kB/)
    expect(faults).toEqual([])
  })

  it('shows a text format as it will be, and follows the choice', async () => {
    const { page, faults } = await harness.open(route())
    await page.getByRole('radio', { name: /Markdown/ }).check()
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('## Ladder').waitFor()
    await page.getByRole('checkbox', { name: 'Ladder', exact: true }).uncheck()
    await preview.getByText('## Counters').waitFor()
    expect(await preview.textContent()).not.toContain('## Ladder')
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    expect(await page.getByRole('button', { name: 'Save report' }).isDisabled()).toBe(true)
    expect(faults).toEqual([])
  })

  it('hands over Markdown with the pictures that it shows', async () => {
    const { page, faults } = await harness.open(route())
    await page.getByRole('radio', { name: /Markdown/ }).check()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save report' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^gemm-fp32-.*\.zip$/)
    const files = unzipSync(await readFile(await file.path()))
    const [name = ''] = Object.keys(files)
    const shown = [...strFromU8(files[name]!).matchAll(/\]\(([^)]+\.svg)\)/g)].map(
      ([, path]) => path,
    )
    expect(shown.length).toBeGreaterThan(3)
    expect(Object.keys(files)).toEqual([name, ...shown])
    expect(faults).toEqual([])
  })

  it('is not needed for a picture: the charts of the ladder are saved where they stand', async () => {
    const { page, faults } = await harness.open(`/session/${encodeURIComponent(ref)}/ladder`)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Throughput: Save as SVG' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('gemm-fp32-throughput.svg')
    expect(await readFile(await file.path(), 'utf8')).toMatch(/^<svg [^]*Throughput \(TFLOP\/s\)/)
    expect(faults).toEqual([])
  })

  it('refuses two sessions that cannot be compared before anything is made', async () => {
    const { page } = await harness.open(route())
    await page.getByRole('radio', { name: /HTML/ }).check()
    const beside = page.getByLabel('Compared with')
    const option = beside.locator('option', { hasText: '1024' }).first()
    await beside.selectOption((await option.getAttribute('value'))!)
    await page.getByText(/The problems differ/).waitFor()
    expect(await page.getByRole('button', { name: 'Save report' }).isDisabled()).toBe(true)
  })
})
