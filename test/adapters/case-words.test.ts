import { describe, expect, it } from 'vitest'
import { caseWords, launchWords } from '../../src-main/adapters/tools/case-words'
import { caseOf } from '../../src-main/domain/task/problem'
import { gemm, gemmProblem } from '../support'

const line = (words: readonly string[]) => words.join(' ').replaceAll(' --', '\n--').split('\n')

describe("a case in the runner's input format", () => {
  it('lists the launch struct, buffers, reference, and check as numbers', () => {
    expect(
      line(
        caseWords(
          gemm,
          caseOf(gemmProblem(4096)),
          { library: '/reference.so', shown: 'reference.cu' },
          null,
        ),
      ),
    ).toEqual([
      ...['--case f32', '--struct 96'],
      ...['--field 0:i64:4096', '--field 8:i64:4096', '--field 16:i64:4096'],
      ...['--field 24:f32:1', '--field 28:f32:0'],
      ...['--field 32:buffer:a', '--field 40:buffer:b', '--field 48:buffer:c'],
      ...['--field 56:i32:0', '--field 64:workspace', '--field 72:workspace-bytes'],
      '--buffer a:f32:in:4096x4096:uniform,-1,1',
      '--buffer b:f32:in:4096x4096:uniform,-1,1',
      '--buffer c:f32:out:4096x4096',
      ...['--stream a:0', '--stream b:1', '--stream c:2'],
      ...['--reference-library /reference.so', '--reference-struct 104'],
      ...[0, 8, 16].map((offset) => `--reference-field ${offset}:i64:4096`),
      ...['--reference-field 24:f32:1', '--reference-field 28:f32:0', '--reference-field 32:i32:0'],
      ...['--reference-field 40:in:a', '--reference-field 48:in:b', '--reference-field 56:in:c'],
      ...['--reference-field 64:out:c', '--reference-field 72:scale:c'],
      ...['--reference-field 88:progress', '--reference-field 96:sm-count'],
      '--check c:bound,0.0000152587890625',
    ])
  })

  it('fills the inputs before a launch, and includes the buffers that a flag enables', () => {
    const own = caseOf(gemmProblem(8, 16, 32, { alpha: 1.5, beta: 0.5, dtype: 'bf16' }), {
      flags: ['bias', 'relu'],
    })
    const words = line(caseWords(gemm, own, { library: '/r.so', shown: 'reference.cu' }, null))
    expect(words).toEqual(
      expect.arrayContaining([
        '--case bf16+bias+relu',
        '--field 24:f32:1.5',
        '--field 56:i32:2',
        '--field 80:buffer:bias',
        '--field 88:i32:1',
        '--buffer a:bf16:in:8x32:uniform,-1,1',
        '--buffer c:f32:inout:8x16:uniform,-1,1',
        '--buffer bias:f32:in:16:uniform,-1,1',
        '--stream bias:3',
        '--reference-field 36:i32:1',
        '--reference-field 80:in:bias',
      ]),
    )
  })

  it('omits the buffers for the probe, and the reference if nothing is checked', () => {
    const own = caseOf(gemmProblem(8))
    expect(launchWords(gemm, own)).not.toContain('--buffer')
    expect(caseWords(gemm, own, null, null).some((word) => /--(reference|check)/.test(word))).toBe(
      false,
    )
  })
})
