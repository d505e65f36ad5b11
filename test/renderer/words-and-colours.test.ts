/** Tests that all languages have all texts, and that all themes have legible colors. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rungStatuses } from '../../src-main/domain/session/session'
import { templates } from '../../src-main/domain/messages/english'
import { valueNames } from '../../src-main/domain/messages/format'
import { metricDefinitions } from '../../src-main/domain/metrics/metrics'
import { units } from '../../src-main/domain/metrics/units'
import { reportFormats } from '../../src-main/domain/report/report-format'
import { DoctorCheck } from '../../src-main/contract'
import en from '../../src-renderer/locales/en/screens.json'
import ko, { settle as withParticles } from '../../src-renderer/locales/ko'
import zhCN, { settle as withoutGaps } from '../../src-renderer/locales/zh-CN'
import { translationFaults, wordAt } from './samples'
import { pickLanguage } from '../../src-renderer/ui/language'
import { speak, t } from '../../src-renderer/ui/words'

describe('the UI', () => {
  const root = join(import.meta.dirname, '../../src-renderer')
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(vue|ts)$/.test(file) && !file.endsWith('.test.ts'))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

  const at = (key: string): unknown => wordAt(en, key)

  describe('words', () => {
    it('exist for each key that the source uses', () => {
      const missing = sources.flatMap(({ file, text }) =>
        [...text.matchAll(/\b(?:t|words)\(\s*'([\w.-]+)'/g)]
          .map((match) => match[1]!)
          .filter((key) => typeof at(key) !== 'string')
          .map((key) => `${file}: ${key}`),
      )
      expect(missing).toEqual([])
    })

    it('have no placeholders if the source passes no values', () => {
      const lacking = sources.flatMap(({ file, text }) =>
        [...text.matchAll(/\bt\(\s*'([\w.-]+)'\s*\)/g)]
          .map((match) => match[1]!)
          .filter((key) => valueNames(String(at(key))).size > 0)
          .map((key) => `${file}: ${key}`),
      )
      expect(lacking).toEqual([])
    })

    it('exist for each status, unit, and report format', () => {
      for (const status of rungStatuses) expect(at(`status.${status}`)).toBeTypeOf('string')
      // A unit may contain a dot, so it cannot be part of a dotted key.
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
  ])('the words in %s', (_language, { metrics, statements, ...words }) => {
    it('translate all English texts, with the same placeholders', () => {
      expect(translationFaults(en, words)).toEqual([])
    })

    it('have a name and an explanation for exactly the metrics in the registry', () => {
      const registry = Object.fromEntries(
        metricDefinitions.map(({ id, label, meaning }) => [id, { label, meaning }]),
      )
      expect(translationFaults(registry, metrics)).toEqual([])
    })

    it('have every domain message, with the same placeholders', () => {
      expect(translationFaults(templates, statements)).toEqual([])
    })
  })

  it('words are shown in the current language, with plural forms and particles', () => {
    expect([0, 1, 2].map((n) => t('labs.attemptCount', { n }))).toEqual([
      'no attempts',
      '1 attempt',
      '2 attempts',
    ])
    speak('ko', ko, withParticles)
    expect([0, 1].map((n) => t('labs.attemptCount', { n }))).toEqual(['시도 없음', '시도 1회'])
    expect(t('sessions.deletedOne', { title: '타일' })).toBe('타일을 삭제했습니다.')
    speak('en')
    expect(t('no.such.key')).toBe('no.such.key')
  })

  describe('Korean particles', () => {
    it.each([
      ['공유 메모리 타일와(과) 128비트 접근 비교', '공유 메모리 타일과 128비트 접근 비교'],
      ['입력 자료형이(가) 다릅니다', '입력 자료형이 다릅니다'],
      ['NVIDIA H200(9.0)을(를) 씁니다', 'NVIDIA H200(9.0)을 씁니다'],
      ['ncu을(를) 찾지 못했습니다', 'ncu를 찾지 못했습니다'],
      ['compute-sanitizer을(를) 찾지 못했습니다', 'compute-sanitizer를 찾지 못했습니다'],
      [
        '02_coalesced은(는) 03_shared_tile와(과) 같습니다',
        '02_coalesced는 03_shared_tile과 같습니다',
      ],
      ['16(으)로, 17(으)로, 12.5 %(으)로', '16으로, 17로, 12.5 %로'],
      ['“타일”(으)로, 1024³(으)로', '“타일”로, 1024³으로'],
      ['SVG(으)로 저장, HTML(으)로 저장', 'SVG로 저장, HTML로 저장'],
      ['titan(이)라는 머신', 'titan이라는 머신'],
      // The pronunciation of these names cannot be determined from their letters.
      ['17_fastest은(는) 10_block을(를)', '17_fastest은(는) 10_block을(를)'],
      ['을(를)', '을(를)'],
    ])('take the correct form in %s', (both, one) => {
      expect(withParticles(both)).toBe(one)
    })

    it('agree with a name that ends the preceding text', () => {
      expect(withParticles('은(는) 같습니다', '05_thread_tile')).toBe('은 같습니다')
    })

    it('that have two forms are always written in the same notation', () => {
      const every = withParticles(JSON.stringify(ko).replaceAll(/\{\w+\}/g, '한글'))
      expect(every).not.toMatch(/[은을이과]\/[는를가와]|\((?:[은는을를이가과와]|으|이)\)/)
    })
  })

  it.each([
    ['相对 二维线程分块 的预测', '相对二维线程分块的预测'],
    ['相对 02_coalesced 的预测', '相对 02_coalesced 的预测'],
    ['为 乘积 运算量的 100.0 %', '为乘积运算量的 100.0 %'],
    ['原限制因素 加载/存储流水线（忙碌 77.6 %）', '原限制因素加载/存储流水线（忙碌 77.6 %）'],
    ['CUDA GEMM 优化，1 个块', 'CUDA GEMM 优化，1 个块'],
  ])('Chinese inserted into %s has no spaces around it', (words, settled) => {
    expect(withoutGaps(words)).toBe(settled)
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

  describe.each(['light', 'dark'] as const)('colors, %s', (theme) => {
    const colours = themes[theme]

    it.each(text)('%s is legible on its surfaces', (name, surfaces) => {
      for (const surface of surfaces)
        expect(
          contrast(colours[name]!, colours[surface]!),
          `${name} on ${surface}`,
        ).toBeGreaterThan(4.5)
    })

    it.each(['bar', 'control', 'mark'])(
      'the graphics color %s stands out from the surface',
      (name) => {
        expect(contrast(colours[name]!, colours['surface']!)).toBeGreaterThan(3)
      },
    )
  })
})

describe('internationalization', () => {
  describe('a translation', () => {
    const original = {
      screen: { a: 'Open {name}', n: '{n, plural, one{{n} rung} other{{n} rungs}}' },
    }

    it.each([
      ['a missing key', { screen: { n: '{n}' } }, 'screen.a is missing'],
      [
        'an additional key',
        { screen: { a: '{name}', n: '{n}', b: 'x' } },
        'screen.b is not in English',
      ],
      [
        'a different placeholder',
        { screen: { a: '{nom}', n: '{n}' } },
        'screen.a has the placeholders nom in place of name',
      ],
      [
        'a missing placeholder',
        { screen: { a: 'Open', n: '{n}' } },
        'screen.a has the placeholders none in place of name',
      ],
      ['an empty sentence', { screen: { a: ' ', n: '{n}' } }, 'screen.a is empty'],
    ])('has a fault if there is %s', (_what, translated, fault) => {
      expect(translationFaults(original, translated)).toContain(fault)
    })

    it('may omit plurals', () => {
      expect(
        translationFaults(original, { screen: { a: '{name} 열기', n: '단계 {n}개' } }),
      ).toEqual([])
    })
  })

  describe('the language at startup', () => {
    it.each([
      [['ko-KR', 'en-US'], 'ko'],
      [['zh-TW'], 'zh-CN'],
      [['de', 'zh-Hans-SG'], 'zh-CN'],
      [['fr-FR', 'en-GB', 'ko'], 'en'],
      [['tlh'], 'en'],
      [[], 'en'],
    ])('for %s is %s', (wanted, name) => {
      expect(pickLanguage(wanted)).toBe(name)
    })
  })

  it('English texts contain no Chinese, Japanese, or Korean characters', () => {
    expect(JSON.stringify(en)).not.toMatch(/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/)
  })
})

describe('chart colors', () => {
  const css = readFileSync(
    join(import.meta.dirname, '../../src-renderer/styles/tokens.css'),
    'utf8',
  )
  const [light = '', dark = ''] = css.split(":root[data-theme='dark']")
  const named = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map((match) => match[1]!)
  const series = (text: string) => named(text, /--series-\w+: (#[0-9a-f]{6})/g)
  const surface = (text: string) => named(text, /--surface: (#[0-9a-f]{6})/g)[0]!

  type Vector = [number, number, number]
  const vision: Record<string, Vector[]> = {
    common: [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    protanopia: [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
    deuteranopia: [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    tritanopia: [
      [1.255528, -0.076749, -0.178779],
      [-0.078411, 0.930809, 0.147602],
      [0.004733, 0.691367, 0.3039],
    ],
  }

  const linear = (hex: string): Vector =>
    [1, 3, 5].map((start) => {
      const value = parseInt(hex.slice(start, start + 2), 16) / 255
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    }) as Vector
  const apply = (matrix: Vector[], [r, g, b]: Vector): Vector =>
    matrix.map((row) => row[0] * r + row[1] * g + row[2] * b) as Vector

  // Converts a color to Oklab (Björn Ottosson, "A perceptual color space for image processing",
  // 2020).
  function oklab(rgb: Vector): Vector {
    const cones = apply(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      rgb.map((value) => Math.max(0, value)) as Vector,
    ).map(Math.cbrt) as Vector
    return apply(
      [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
      ],
      cones,
    )
  }

  const distance = (matrix: Vector[], a: string, b: string): number => {
    const [p, q] = [a, b].map((hex) => oklab(apply(matrix, linear(hex)))) as [Vector, Vector]
    return 100 * Math.hypot(...p.map((value, index) => value - q[index]!))
  }
  const luminance = (hex: string): number => {
    const [r, g, b] = linear(hex)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }

  describe.each([
    ['light', light],
    ['dark', dark],
  ])('the series of the %s theme', (_theme, text) => {
    const colours = series(text)

    it.each(Object.keys(vision))('can be distinguished with %s', (name) => {
      expect(colours).toHaveLength(7)
      colours.forEach((a, index) =>
        colours
          .slice(index + 1)
          .forEach((b) => expect(distance(vision[name]!, a, b), `${a} ${b}`).toBeGreaterThan(8)),
      )
    })

    it('stand out from the page', () => {
      const page = luminance(surface(text))
      for (const colour of colours) {
        const [dim, bright] = [luminance(colour), page].sort((a, b) => a - b) as [number, number]
        expect((bright + 0.05) / (dim + 0.05), colour).toBeGreaterThan(3)
      }
    })
  })
})
