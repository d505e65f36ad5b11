/**
 * Finds the changes between two sources. All lists of changes and the merge view use the same
 * result, so they agree.
 */
import { Change, Chunk, diff, type DiffConfig } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import { diffArrays } from 'diff'
import type { Hunk, LineRange } from '../../../src-main/domain/analysis/chain'
import type { SourceText } from './source-text'

/**
 * Limits the work that a diff may do. Above this limit, a diff becomes coarser instead of slower.
 */
const limits: DiffConfig = { scanLimit: 500 }

/**
 * Number of characters above which a character diff of a whole source hits the scan limit, and
 * would report only a single change.
 */
const longText = 20_000
/** In long sources, changed blocks above this many characters get no character diff. */
const longBlock = 1000
/** Approximate number of lines in a source of `longText` characters. */
const longList = 500

const isLongText = (a: string, b: string) => Math.max(a.length, b.length) >= longText

export const diffConfig: DiffConfig = {
  ...limits,
  override: (a, b) => (isLongText(a, b) ? diffByLines(a, b, sameLines) : diff(a, b, limits)),
}

/** A diff configuration that treats lines as equal if they differ only in white space. */
export const looseDiffConfig: DiffConfig = {
  ...limits,
  override: (a, b) => diffByLines(a, b, sameButForSpaces),
}

/** Returns the indices of the lines that two sources have in common, ascending in both. */
type SameLines = (a: readonly string[], b: readonly string[]) => [number, number][]

/** Returns the index of each line that occurs exactly once. */
function onceIn(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  const often = new Set<string>()
  for (const [at, line] of lines.entries()) {
    if (found.has(line)) often.add(line)
    found.set(line, at)
  }
  for (const line of often) found.delete(line)
  return found
}

/**
 * Returns the longest list of pairs that ascends in both members (patience sorting). The input
 * pairs already ascend in their first member.
 */
function ascending(pairs: readonly [number, number][]): [number, number][] {
  type Link = { pair: [number, number]; before: Link | undefined }
  const tops: Link[] = []
  for (const pair of pairs) {
    let [low, high] = [0, tops.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (tops[middle]!.pair[1] < pair[1]) low = middle + 1
      else high = middle
    }
    tops[low] = { pair, before: tops[low - 1] }
  }
  const found: [number, number][] = []
  for (let link = tops.at(-1); link; link = link.before) found.unshift(link.pair)
  return found
}

/**
 * Implements Bram Cohen's patience diff, one level deep. Lines that occur once in both sources are
 * anchors, and equal lines around an anchor are matched too. The run time is nearly independent of
 * the number of differences. Computing a shortest edit script would take longer with each
 * additional difference.
 */
const sameLines: SameLines = (a, b) => {
  const [inA, inB] = [onceIn(a), onceIn(b)]
  const anchors = ascending(
    [...inA].flatMap(([line, at]): [number, number][] => {
      const other = inB.get(line)
      return other === undefined ? [] : [[at, other]]
    }),
  )
  const same: [number, number][] = []
  let [pastA, pastB] = [0, 0]
  for (const [atA, atB] of [...anchors, [a.length, b.length] as [number, number]]) {
    while (pastA < atA && pastB < atB && a[pastA] === b[pastB]) same.push([pastA++, pastB++])
    const above: [number, number][] = []
    let [lineA, lineB] = [atA - 1, atB - 1]
    while (lineA >= pastA && lineB >= pastB && a[lineA] === b[lineB])
      above.unshift([lineA--, lineB--])
    same.push(...above)
    if (atA < a.length) same.push([atA, atB])
    ;[pastA, pastB] = [atA + 1, atB + 1]
  }
  return same
}

const bare = (line: string) => line.replace(/\s+/g, '')
const sameButForSpaces: SameLines = (left, right) => {
  const [a, b] = [left.map(bare), right.map(bare)]
  // A shortest edit script for two unrelated 1,500-line sources takes a second to compute.
  if (Math.max(a.length, b.length) >= longList) return sameLines(a, b)
  const same: [number, number][] = []
  let [lineA, lineB] = [0, 0]
  for (const { added, removed, count } of diffArrays(a, b))
    for (let at = 0; at < count; at += 1)
      if (removed) lineA += 1
      else if (added) lineB += 1
      else same.push([lineA++, lineB++])
  return same
}

/** Compares the lines first, then the characters of the lines that differ. */
function diffByLines(a: string, b: string, common: SameLines): readonly Change[] {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const starts = (lines: readonly string[], length: number) => {
    let at = 0
    // A block at the end of the text has no final line break to include.
    return [...lines.map(({ length: own }) => (at += own + 1) - own - 1), length + 1].map((start) =>
      Math.min(start, length),
    )
  }
  const [startsA, startsB] = [starts(left, a.length), starts(right, b.length)]
  const isLong = isLongText(a, b)
  const found: Change[] = []
  let [fromA, fromB] = [0, 0]
  for (const [lineA, lineB] of [
    ...common(left, right),
    [left.length, right.length] as [number, number],
  ]) {
    const [charA, charB] = [startsA[fromA]!, startsB[fromB]!]
    const [endA, endB] = [startsA[lineA]!, startsB[lineB]!]
    const isShort = !isLong || Math.max(endA - charA, endB - charB) < longBlock
    if (fromA < lineA && fromB < lineB && isShort) {
      const inner = diff(a.slice(charA, endA), b.slice(charB, endB), limits)
      for (const own of inner)
        found.push(
          new Change(own.fromA + charA, own.toA + charA, own.fromB + charB, own.toB + charB),
        )
    } else if (fromA < lineA || fromB < lineB) found.push(new Change(charA, endA, charB, endB))
    ;[fromA, fromB] = [lineA + 1, lineB + 1]
  }
  return found
}

export const textOf = ({ text }: SourceText): Text => Text.of(text.split('\n'))

/**
 * Returns the 1-based file line numbers for a range of the shown text. For an empty range, the
 * result's `to` is `from` - 1.
 */
export function linesOf(doc: Text, { lines }: SourceText, from: number, to: number): LineRange {
  const at = (position: number) => lines[doc.lineAt(Math.min(position, doc.length)).number - 1] ?? 1
  if (from >= to) return { from: at(from), to: at(from) - 1 }
  return { from: at(from), to: at(to - 1) }
}

export function sourceHunks(a: SourceText, b: SourceText, config = diffConfig): Hunk[] {
  const [left, right] = [textOf(a), textOf(b)]
  return Chunk.build(left, right, config).map(({ fromA, toA, fromB, toB }) => ({
    a: linesOf(left, a, fromA, toA),
    b: linesOf(right, b, fromB, toB),
  }))
}
