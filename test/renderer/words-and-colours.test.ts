/** Every language has every word that is asked for, and the colours meet WCAG AA in both themes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rungStatuses } from '../../src-main/domain/session/session'
import { templates } from '../../src-main/domain/messages/english'
import { metricDefinitions } from '../../src-main/domain/metrics/metrics'
import { units } from '../../src-main/domain/metrics/units'
import { reportFormats } from '../../src-main/domain/report/report-format'
import { DoctorCheck } from '../../src-main/contract'
import en from '../../src-renderer/locales/en/screens.json'
import ko from '../../src-renderer/locales/ko'
import zhCN from '../../src-renderer/locales/zh-CN'
import { translationFaults, wordAt } from './locales'

const root = join(import.meta.dirname, '../../src-renderer')
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(vue|ts)$/.test(file) && !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

const at = (key: string): unknown => wordAt(en, key)

describe('words', () => {
  it('are in the locale for each key that the source names', () => {
    const missing = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/\bt\(\s*'([\w.-]+)'/g)]
        .map((match) => match[1]!)
        .filter((key) => typeof at(key) !== 'string')
        .map((key) => `${file}: ${key}`),
    )
    expect(missing).toEqual([])
  })

  it('are in the locale for each status, unit and format', () => {
    for (const status of rungStatuses) expect(at(`status.${status}`)).toBeTypeOf('string')
    // A unit may hold a dot.
    for (const unit of units)
      expect((at('unit') as Record<string, string>)[unit], unit).toBeTypeOf('string')
    for (const { unit } of metricDefinitions) expect(units).toContain(unit)
    for (const format of reportFormats)
      for (const part of ['name', 'text'])
        expect(at(`export.formats.${format}.${part}`), format).toBeTypeOf('string')
    for (const id of DoctorCheck.shape.id.options)
      expect(at(`doctor.check.${id}`), id).toBeTypeOf('string')
  })
})

describe.each([
  ['Korean', ko],
  ['Chinese', zhCN],
])('%s', (_language, { metrics, statements, ...words }) => {
  it('says all that English says, with the same placeholders', () => {
    expect(translationFaults(en, words)).toEqual([])
  })

  it('names and explains every metric of the registry, and no other', () => {
    const registry = Object.fromEntries(
      metricDefinitions.map(({ id, label, meaning }) => [id, { label, meaning }]),
    )
    expect(translationFaults(registry, metrics)).toEqual([])
  })

  it('says every message of the domain, with the same values set in', () => {
    expect(translationFaults(templates, statements)).toEqual([])
  })
})

const css = readFileSync(join(root, 'styles/tokens.css'), 'utf8')
const [light = '', dark = ''] = css.split(":root[data-theme='dark']")
const tokens = (text: string) =>
  Object.fromEntries([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((m) => [m[1]!, m[2]!]))
const themes = { light: tokens(light), dark: { ...tokens(light), ...tokens(dark) } }

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((start) => {
    const value = parseInt(hex.slice(start, start + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

function contrast(a: string, b: string): number {
  const [dim, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (bright! + 0.05) / (dim! + 0.05)
}

const plain = ['surface', 'surface-sunk', 'surface-hover', 'surface-picked']
const code = ['surface', 'diff-removed', 'diff-added', 'diff-removed-text', 'diff-added-text']
const text: [string, string[]][] = [
  ...['text', 'text-2', 'accent', 'better', 'worse'].map((name): [string, string[]] => [
    name,
    plain,
  ]),
  ['text-3', ['surface', 'surface-sunk']],
  ['caution', ['surface', 'surface-sunk', 'caution-surface']],
  ['on-accent', ['accent']],
  ...['keyword', 'type', 'string', 'number', 'comment', 'macro', 'function'].map(
    (name): [string, string[]] => [`code-${name}`, code],
  ),
]

describe.each(['light', 'dark'] as const)('colours, %s', (theme) => {
  const colours = themes[theme]

  it.each(text)('%s can be read on its surfaces', (name, surfaces) => {
    for (const surface of surfaces)
      expect(contrast(colours[name]!, colours[surface]!), `${name} on ${surface}`).toBeGreaterThan(
        4.5,
      )
  })

  it.each(['bar', 'control', 'mark'])('the graphic %s stands out', (name) => {
    expect(contrast(colours[name]!, colours['surface']!)).toBeGreaterThan(3)
  })
})
