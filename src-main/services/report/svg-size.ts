/** The size of a drawing. */

/** In CSS pixels, as stated in the drawing. */
export function sizeOfSvg(svg: string): { width: number; height: number } {
  const of = (name: string): number =>
    Number(new RegExp(`^<svg[^>]* ${name}="(\\d+)`).exec(svg)?.[1])
  const [width, height] = [of('width'), of('height')]
  if (!(width > 0 && height > 0)) throw new Error('The drawing does not state its size.')
  return { width, height }
}
