/** The design tokens as values, since a canvas does not see custom properties. */
const names = {
  text: '--text',
  text2: '--text-2',
  rule: '--rule',
  ruleStrong: '--rule-strong',
  bar: '--bar',
  barQuiet: '--bar-quiet',
  mark: '--mark',
  surface: '--surface',
} as const

export type Palette = Record<keyof typeof names, string> & { font: string }

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  const colours = Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, style.getPropertyValue(name).trim()]),
  ) as Record<keyof typeof names, string>
  return { ...colours, font: style.fontFamily }
}
