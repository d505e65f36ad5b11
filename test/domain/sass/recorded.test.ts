/**
 * A rung's cubin against what ncu says of the same machine code on the GPU, in the deep recording: every instruction with
 * its source lines. 03_shared_tile.cubin is the rung as it was recorded, built with the same flags: -DSTEPS=2 -DTILE=32.
 */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import { placesOf } from '../../../src-main/domain/sass/machine-code'
import { printOpcode } from '../../../src-main/domain/sass/print'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { openSession } from '../../../src-main/services/sessions/sessions'
import { setupIn, tempDir } from '../../services/support'

const cubin = new Uint8Array(
  brotliDecompressSync(
    readFileSync(join(import.meta.dirname, '../../captures/cubin/03_shared_tile.cubin.br')),
  ),
)

const inRung = (places: readonly { file: string | null; line: number | null }[]): number[] =>
  places.filter(({ file }) => basename(file!).startsWith('03_shared_tile')).map(({ line }) => line!)

it('is the same code at the same lines', async () => {
  const { deep } = await openSession(setupIn(await tempDir()), 'recorded:gemm-fp32-h200-4096-deep')
  const recorded = (await deep('03_shared_tile'))!.kernels[0]!.instructions
  const { code, lines } = readCubin(cubin).kernels[0]!
  const words = new Uint32Array(code.slice().buffer)
  expect(recorded).toHaveLength(words.length / 4)

  for (const { offset, opcode, file, line, inlinedFrom = [] } of recorded) {
    const [a, b, c, d] = words.subarray(offset / 4, offset / 4 + 4)
    const instruction = decodeInstruction([a!, b!, c!, d!], offset, 90) as Instruction
    expect(`${offset}: ${printOpcode(instruction)}`).toBe(`${offset}: ${opcode}`)
    // ncu lists a call only where it has a row of its own; the table says it of every inlined row. Headers have other
    // lines today than when it was recorded.
    const own = placesOf(lines, offset)
    const theirs = [{ file, line }, ...inlinedFrom]
    expect(own.length).toBeGreaterThanOrEqual(theirs.length)
    expect({ offset, lines: inRung(own) }).toEqual({
      offset,
      lines: expect.arrayContaining(inRung(theirs)),
    })
    if (theirs.length === 1 && own.length === 1)
      expect({ offset, lines: inRung(own) }).toEqual({ offset, lines: inRung(theirs) })
    if (theirs.length === 1 && own.length > 1) expect(inRung(theirs)).toEqual([])
  }
})
