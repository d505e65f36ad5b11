/**
 * The line table of machine code, which maps each instruction to its source line, including inlined
 * code.
 */

/** A row of the line table, which is valid from `address` up to the next row. */
export interface LineRow {
  readonly address: number
  /** Path of the source file as passed to the compiler, including its folder. */
  readonly file: string
  readonly line: number
  /**
   * For inlined code, the inlined function and the line of the call. Null if the code is not
   * inlined.
   */
  readonly inlined: { readonly function: string; readonly at: LineRow } | null
}

/**
 * Maximum inlining depth to follow. Inlined templates nest much less deeply, but a corrupt table
 * can contain deeper nesting.
 */
const deepestInlining = 100

/**
 * Returns an instruction's source lines, innermost first. The list is empty if the lines are
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

/** Returns whether a path belongs to a CUDA or system header. */
export const isToolkitHeader = (path: string): boolean =>
  !inBuild.test(path) && inToolkit.test(path)

/**
 * Returns the innermost line in the user's code. If no line is in the user's code, returns the line
 * in a CUDA header.
 */
export function userPlace(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number } | undefined {
  const places = placesOf(rows, address)
  return places.find(({ file }) => !isToolkitHeader(file)) ?? places[0]
}

/** Returns the last row that starts at or before `address`. */
function rowAt(rows: readonly LineRow[], address: number): LineRow | undefined {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.address <= address) low = middle + 1
    else high = middle
  }
  return rows[low - 1]
}
