/**
 * Tests the emulator library with machine code and launches that no GPU could run. Each input must
 * produce an error message and a remedy.
 */
import { describe, expect, it } from 'vitest'
import { KernelLadderError } from '../../../src-main/domain/errors'
import { inEnglish } from '../../../src-main/domain/text/english'
import { emulate, type EmulationRequest, type KernelArgument } from '../../../src-main/api/emulate'
import { packedRow } from '../../captures'

const limits = packedRow('cubins.jsonl', 'limits.cubin').bytes
const library = packedRow('cubins.jsonl', 'kernels.so').bytes

const request = (
  kernel: string,
  argument: KernelArgument,
  more: Partial<EmulationRequest> = {},
): EmulationRequest => ({
  launches: [{ kernel, grid: [1], block: [32], arguments: [{ buffer: 'out' }, argument] }],
  buffers: { out: new Uint8Array(1024) },
  ...more,
})

/** Returns the error message and its remedy, or null if the code is accepted. */
function refusal(code: Uint8Array): [string, string] | null {
  try {
    emulate(code, { ...request('farIndex', { i64: 0n }), launches: [] })
    return null
  } catch (error) {
    if (error instanceof RangeError) return [error.message, '']
    if (!(error instanceof KernelLadderError)) throw error
    expect(error.kind).toBe('input')
    return [error.message, inEnglish(error.remedy!)]
  }
}

describe('machine code', () => {
  it('for an unknown architecture is rejected with the names of the known architectures', () => {
    expect(refusal(packedRow('cubins.jsonl', 'limits-100.cubin').bytes)).toEqual([
      'The machine code is for sm_100, whose encoding is unknown.',
      expect.stringContaining('sm_75, sm_80, sm_86, sm_89, sm_90'),
    ])
  })

  it.each([
    ['a cubin', limits],
    ['a fat binary', library],
  ])('that is truncated or damaged is either rejected or read (%s)', (_, whole) => {
    expect(refusal(whole)).toBeNull()
    const said = new Set<string>()
    for (let part = 1; part < 12; part++) {
      const cut = refusal(whole.subarray(0, Math.floor((whole.length * part) / 12)))
      const damaged = whole.slice()
      for (let at = part; at < damaged.length; at += 12 * part) damaged[at] = 0xa5
      for (const found of [cut, refusal(damaged)]) if (found) said.add(found.join(' '))
    }
    expect(said.size).toBeGreaterThan(0)
    for (const sentence of said)
      expect(sentence).toMatch(
        /^(The machine code is damaged: .*\. .*\.|These bytes hold no machine code of nvcc\. ?)$/,
      )
  })
})

describe('a launch', () => {
  it.each([2n ** 40n, -(2n ** 40n), 2n ** 61n])(
    'that writes at index %s has a finding at the line of the write',
    (at) => {
      const { findings, stopped } = emulate(limits, request('farIndex', { i64: at }))
      expect(stopped).toBeNull()
      expect(findings[0]).toMatchObject({
        message: 'Invalid __global__ write of size 4 bytes',
        place: { line: 3 },
        address: null,
      })
    },
  )

  it('that never ends is stopped, and the line that it is executing is reported', () => {
    const { stopped, kernels } = emulate(
      limits,
      request('neverEnds', { i32: 0 }, { limit: 1_000_000 }),
    )
    expect(stopped).toMatch(
      /^The rung was stopped after 1 million warp instructions.*limits\.cu:6\); it may never finish\.$/,
    )
    expect(kernels).toEqual([])
  })

  it('with 240 KB of local memory per thread runs', () => {
    const { stopped, findings, buffers } = emulate(limits, request('muchLocal', { i32: 40 }))
    expect([stopped, findings]).toEqual([null, []])
    expect(buffers['out']).toHaveLength(1024)
  })
})
