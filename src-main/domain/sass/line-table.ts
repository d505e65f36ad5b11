/**
 * The line table of machine code. It maps each instruction to its source line, including inlined
 * code.
 */

/** A row of the line table. It is valid from `address` up to the next row. */
export interface LineRow {
  readonly address: number
  /** Path of the source file as passed to the compiler, including its folder. */
  readonly file: string
  readonly line: number
  /** The function of inlined code and the place where it was inlined. It is null for other code. */
  readonly inlined: { readonly function: string; readonly at: LineRow } | null
}

/** Maximum inlining depth. Templates nest much less deeply, but a damaged table can be deeper. */
const deepestInlining = 100

/**
 * Returns the source places of an instruction, innermost first. The list is empty if they are
 * unknown.
 */
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

/** Returns whether a path is a header of CUDA or of the system. */
export const isToolkitHeader = (path: string): boolean =>
  !inBuild.test(path) && inToolkit.test(path)

/**
 * Returns the innermost place in the user's code. Returns a place in a CUDA header only if there is
 * no other.
 */
export function userPlace(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number } | undefined {
  const places = placesOf(rows, address)
  return places.find(({ file }) => !isToolkitHeader(file)) ?? places[0]
}

/** Returns the last row that starts at or before the address. */
function rowAt(rows: readonly LineRow[], address: number): LineRow | undefined {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.address <= address) low = middle + 1
    else high = middle
  }
  return rows[low - 1]
}
