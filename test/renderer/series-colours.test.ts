/**
 * The colours of a chart's categories are told apart by readers who lack one kind of cone, and stand
 * out from the page. Simulation: Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB;
 * distances in OKLab, where 100 is from black to white.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const css = readFileSync(join(import.meta.dirname, '../../src-renderer/styles/tokens.css'), 'utf8')
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

// Björn Ottosson, "A perceptual color space for image processing", 2020.
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

  it.each(Object.keys(vision))('are told apart with %s', (name) => {
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
