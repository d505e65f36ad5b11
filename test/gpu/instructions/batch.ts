/**
 * Writes the files that runner.cu reads: `trials.bin`, and `neighbors.bin` with forms that nvcc did
 * not emit.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { readElf } from '../../../src-main/parsers/cubin/elf'
import { palettes } from './state'
import { put, template } from './template'
import { neighborsOf, trialsOf, type FormTrial } from './trials'

const mostOverrides = 4

function encoded(trials: readonly FormTrial[], text: { offset: number; size: number }): Uint8Array {
  const { before, after } = template()
  if (16 * (before.length + after.length + 1) > text.size)
    throw new Error('the template is too long')
  const words: number[] = [trials.length, before.length, after.length, text.offset, text.size]
  for (const instruction of [...before, ...after]) words.push(...instruction)
  for (const { words: code, seed, palette, immediate, overrides } of trials) {
    if (overrides.length > mostOverrides) throw new Error('too many overrides')
    words.push(...code, seed, palettes.indexOf(palette), immediate, overrides.length)
    for (let place = 0; place < mostOverrides; place++) {
      const each = overrides[place]
      words.push(
        ...(each
          ? [each.row, each.kind === 'global' ? 1 : 0, each.start, each.step]
          : [0, 0, 0, 0]),
      )
    }
  }
  return new Uint8Array(Uint32Array.from(words.map((word) => word >>> 0)).buffer)
}

export const variants = 6

export function trialsOfCaptures(): {
  trials: FormTrial[]
  neighbors: FormTrial[]
  leftOut: string[]
} {
  const packed = readFileSync(join(import.meta.dirname, '../../captures/sass/pairs.tsv.br'))
  const { trials, leftOut } = trialsOf(brotliDecompressSync(packed).toString(), variants)
  return { trials, neighbors: neighborsOf(trials), leftOut }
}

/**
 * Returns one encoding per form, with the guard `@!P2` or `@!UP2`, as input to NVIDIA's
 * disassembler.
 */
function guardedEncodings(...lists: readonly (readonly FormTrial[])[]): Uint8Array {
  const forms = new Map(lists.flat().map(({ form, words }) => [form, words]))
  const words = [...forms.values()].flatMap((each) => put(each, 12, 4, 10))
  return new Uint8Array(Uint32Array.from(words).buffer)
}

export function writeBatch(cubin: string, folder: string): void {
  const file = new Uint8Array(readFileSync(cubin))
  const code = readElf(file).sections.find(({ name }) => name === '.text.slot')
  if (!code) throw new Error('the template has no code')
  const section = { offset: code.bytes.byteOffset - file.byteOffset, size: code.size }
  const { trials, neighbors, leftOut } = trialsOfCaptures()
  writeFileSync(join(folder, 'encodings.bin'), guardedEncodings(trials, neighbors))
  writeFileSync(join(folder, 'trials.bin'), encoded(trials, section))
  writeFileSync(join(folder, 'neighbors.bin'), encoded(neighbors, section))
  const forms = (of: readonly FormTrial[]): number => new Set(of.map(({ form }) => form)).size
  process.stdout.write(
    `${trials.length} trials of ${forms(trials)} forms, ${forms(neighbors)} neighbors, ${leftOut.length} forms left out\n`,
  )
}
