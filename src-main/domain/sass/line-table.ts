/** The line table of machine code: the source line of each instruction, through inlining. */

/** From `address` on, up to the next row. */
export interface LineRow {
  readonly address: number
  /** As the compiler was given it, with its folder. */
  readonly file: string
  readonly line: number
  /** Of inlined code: the function it comes from, and the place that it was inlined at. */
  readonly inlined: { readonly function: string; readonly at: LineRow } | null
}

/** Far deeper than templates nest; a damaged table can be deeper still. */
const deepestInlining = 100

/** Where an instruction comes from, innermost first; empty where nothing is known. */
export function placesOf(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number }[] {
  const places: { file: string; line: number }[] = []
  let row = rowAt(rows, address)
  for (; row && places.length < deepestInlining; row = row.inlined?.at)
    places.push({ file: row.file, line: row.line })
  return places
}

const inBuild = /[\\/]build[\\/][0-9a-f]{32}[\\/]src[\\/]/

const inToolkit = /(^|[\\/])(usr|targets|nvidia|cuda[^\\/]*)[\\/](.*[\\/])?include[\\/]/

/** Whether a path of the compiler is a header of CUDA or of the system. */
export const isToolkitHeader = (path: string): boolean =>
  !inBuild.test(path) && inToolkit.test(path)

/** Where an instruction comes from in the user's code: innermost, but outside of CUDA's headers where possible. */
export function userPlace(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number } | undefined {
  const places = placesOf(rows, address)
  return places.find(({ file }) => !isToolkitHeader(file)) ?? places[0]
}

/** The last row that begins at or before the address. */
function rowAt(rows: readonly LineRow[], address: number): LineRow | undefined {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.address <= address) low = middle + 1
    else high = middle
  }
  return rows[low - 1]
}
