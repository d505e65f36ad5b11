/** The design tokens as values, because a canvas cannot read custom properties. */
const names = {
  text: '--text',
  text2: '--text-2',
  text3: '--text-3',
  rule: '--rule',
  ruleStrong: '--rule-strong',
  bar: '--bar',
  barQuiet: '--bar-quiet',
  mark: '--mark',
  accent: '--accent',
  surface: '--surface',
  rest: '--series-rest',
} as const

const seriesNames = [1, 2, 3, 4, 5, 6].map((number) => `--series-${number}`)

export type Palette = Record<keyof typeof names, string> & {
  /** Colors of categories, in order; `rest` is for the remainder. */
  series: readonly string[]
  font: string
}

function paletteFrom(value: (name: string) => string, font: string): Palette {
  const colours = Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, value(name).trim()]),
  ) as Record<keyof typeof names, string>
  return { ...colours, series: seriesNames.map((name) => value(name).trim()), font }
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  return paletteFrom((name) => style.getPropertyValue(name), style.fontFamily)
}

/** The light theme, whatever the screen uses: a saved chart goes on white paper. */
export function printPalette(): Palette {
  const root = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .find(
      (rule): rule is CSSStyleRule =>
        rule instanceof CSSStyleRule &&
        rule.selectorText === ':root' &&
        rule.style.getPropertyValue(names.surface) !== '',
    )
  if (!root) return readPalette(document.documentElement)
  return paletteFrom((name) => root.style.getPropertyValue(name), 'Helvetica, Arial, sans-serif')
}
