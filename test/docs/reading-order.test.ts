/**
 * Tests the reading order in docs/ARCHITECTURE.md. A file must be imported by an earlier file in
 * the list.
 */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readImports } from '../architecture/imports'
import { root } from '../services/support'

const text = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
const section = /^## Reading order\n([\s\S]*?)^## /m.exec(text)![1]!
const walks = section.split(/^(?=\*\*)/m).filter((part) => part.startsWith('**'))

/** For each source file, the source files that it imports. */
const imported = new Map<string, Set<string>>()
for (const { from, specifier } of readImports())
  if (specifier.startsWith('.')) {
    const to = posix.join(posix.dirname(from), specifier).replace(/(\.ts)?$/, '.ts')
    imported.set(from, (imported.get(from) ?? new Set()).add(to))
  }

describe('the reading order', () => {
  it('covers a run, an import, and an emulated rung', () => {
    expect(walks.map((walk) => /^\*\*(.+?)\.?\*\*/.exec(walk)![1])).toEqual([
      'Run a ladder',
      'Import a report',
      'Emulate a rung',
    ])
  })

  it.each(walks)('lists only entry points and files that an earlier file imports: %#', (walk) => {
    const lines = walk.split('\n')
    const read: string[] = []
    for (const line of lines)
      for (const [, file] of line.matchAll(/`(src-main\/[^`]+\.ts)`/g)) {
        const isEntry = !/^[2-9]|^1\d/.test(line) || line.includes(`the UI enters at \`${file}\``)
        if (!isEntry)
          expect(
            read.some((earlier) => imported.get(earlier)?.has(file!)),
            `${file} is imported by none of the files before it`,
          ).toBe(true)
        read.push(file!)
      }
    expect(read.length).toBeGreaterThan(5)
  })
})
