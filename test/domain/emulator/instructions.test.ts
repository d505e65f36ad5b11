/**
 * Compares individual emulated instructions with an H200. Registers, predicates, and shared and
 * global memory must match bit for bit.
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { printInstruction } from '../../../src-main/domain/sass/print'
import {
  allWords,
  decodeAnswers,
  decodeTrials,
  Replay,
  type Answer,
  type Way,
} from '../../gpu/instructions/replay'
import type { Trial } from '../../gpu/instructions/state'
import { decode, formOf } from '../../gpu/instructions/trials'

const read = (name: string): Uint8Array =>
  brotliDecompressSync(
    readFileSync(new URL(`../../captures/instructions/${name}.br`, import.meta.url)),
  )

const replay = new Replay()

/**
 * Matches instructions that this test does not compare. S2R of SR_SWINHI reads an address that only
 * the H200 can provide. MUFU functions use tables that NVIDIA does not publish.
 */
const notCompared = /^(@\S+ )?(MUFU|S2R \S+ SR_SWINHI)/

interface Compared {
  forms: Set<string>
  /** Instruction forms that the emulator rejected in every trial. */
  refused: Set<string>
  inputs: number
  unequal: string[]
}

/** Executes the trials and compares all words of memory and registers with the H200's results. */
function compare(
  trials: readonly Trial[],
  answers: readonly Answer[],
  way: Way,
  chosen = (_: string) => true,
): Compared {
  const found: Compared = { forms: new Set(), refused: new Set(), inputs: 0, unequal: [] }
  for (const { trial: index, status, changes } of answers) {
    const trial = trials[index]!
    const instruction = decode([...trial.words])
    if (!instruction) throw new Error(`trial ${index} is not decoded`)
    const form = formOf(instruction)
    const text = printInstruction(instruction)
    if (notCompared.test(text) || !chosen(form)) continue
    const outcome = replay.run(trial, instruction, way)
    if ('refused' in outcome) {
      found.refused.add(form)
      continue
    }
    found.inputs++
    found.forms.add(form)
    const { words, findings } = outcome
    // If an instruction stopped the GPU, the emulator must reject the instruction or report a
    // fault.
    if (status !== 0) {
      if (findings.length === 0) found.unequal.push(`${index} ${text}: the GPU answered ${status}`)
      continue
    }
    const expected = replay.before(trial).slice(0, allWords)
    for (let at = 0; at < changes.length; at += 2) expected[changes[at]!] = changes[at + 1]!
    const different = expected.findIndex((word, at) => word !== words[at])
    if (different >= 0 || findings.length > 0)
      found.unequal.push(
        `${index} ${text}: word ${different} is ${words[different]?.toString(16)}, on the H200 ${expected[different]?.toString(16)}`,
      )
  }
  for (const form of found.forms) found.refused.delete(form)
  return found
}

describe('instructions that nvcc emits for sm_90, with varied registers and memory', () => {
  const trials = decodeTrials(read('trials-h200.in'))
  const answers = decodeAnswers(read('trials-h200.out'))

  it('were executed by the H200', () => {
    expect(answers).toHaveLength(4385)
    // The first trials show that the test kernel itself does not change the state.
    for (const { changes, status } of answers.slice(0, 5))
      expect([status, changes.length]).toEqual([0, 0])
  })

  it('match the H200 in every word or are rejected', () => {
    const { forms, refused, inputs, unequal } = compare(trials, answers, 'step')
    expect(unequal).toEqual([])
    expect(inputs).toBeGreaterThanOrEqual(3600)
    expect(forms.size).toBeGreaterThanOrEqual(560)
    expect(refused.size).toBeLessThanOrEqual(120)
  })

  it('include dot products and matrix products of bytes', () => {
    const isOfBytes = (form: string): boolean => /^(IDP|IMMA)/.test(form)
    const { forms, refused, unequal } = compare(trials, answers, 'step', isOfBytes)
    expect(unequal).toEqual([])
    expect([...refused]).toEqual([])
    const opcodes = new Set([...forms].map((form) => form.split(' ')[0]))
    expect([...opcodes].sort()).toEqual([
      ...['IDP.2A.HI.U16.U8', 'IDP.2A.LO.S16.S8', 'IDP.4A.S8.S8', 'IDP.4A.U8.U8'],
      ...['IMMA.16816.S8.S8', 'IMMA.16816.U8.U8', 'IMMA.16832.S8.S8', 'IMMA.16832.U8.S8'],
    ])
  })

  it('have the same results when compiled', () => {
    for (const way of ['compiled', 'portable'] as const) {
      const seen = new Set<string>()
      const { inputs, unequal } = compare(trials, answers, way, (form) => {
        // Run one trial per instruction form. The portable mode affects only multiplications and
        // additions.
        if (seen.has(form) || (way === 'portable' && !/^F(FMA|MUL|ADD)/.test(form))) return false
        seen.add(form)
        return true
      })
      expect(unequal).toEqual([])
      expect(inputs).toBeGreaterThan(way === 'portable' ? 20 : 500)
    }
  })
})

describe('encodings that differ by one bit from an encoding that nvcc emits', () => {
  it('match the H200 in every word or are rejected', () => {
    const trials = decodeTrials(read('neighbors-h200.in'))
    const answers = decodeAnswers(read('neighbors-h200.out'))
    const { inputs, unequal } = compare(trials, answers, 'step')
    expect(answers).toHaveLength(760)
    expect(unequal).toEqual([])
    expect(inputs).toBeGreaterThanOrEqual(450)
  })
})
