import { describe, expect, it } from 'vitest'
import { recording } from '../../../test/renderer/samples'
import { threadsOf } from '../../../src-main/domain/analysis/derived-metrics'
import { occupancy } from '../../../src-main/domain/gpu/occupancy'
import { rungOf } from '../../../src-main/domain/session/session'
import { defaultFields, fieldsFrom, fieldsOf, kernelOf, parseField, rangeOf } from './what-if'
import { smLimits } from '../../../src-main/domain/gpu/sm-limits'
import { isKnown, rungOccupancy } from '../charts/occupancy-figures'

describe('the what-if screen’s URL', () => {
  it('fills the fields, with defaults for missing fields', () => {
    expect(fieldsFrom({ gpu: '8.6', threads: '128' })).toEqual({
      ...defaultFields,
      gpu: '8.6',
      threads: '128',
    })
    expect(fieldsFrom({})).toEqual(defaultFields)
  })

  it('keeps an invalid number for the user to correct, but replaces an unknown GPU', () => {
    const fields = fieldsFrom({ gpu: '<b>9', threads: ['96', '64'], registers: 'many'.repeat(99) })
    expect(fields).toMatchObject({ gpu: '9.0', threads: '96' })
    expect(fields.registers.length).toBe(20)
    expect(kernelOf(fields)).toEqual(['registers'])
  })

  it('keeps the shared-memory carve-out that the driver chose for a launched kernel', () => {
    const session = recording('gemm-fp32-h200-4096')
    const own = rungOccupancy(session, rungOf(session, '07_conflict_free')!)
    if (!isKnown(own)) throw new Error(own)
    const { registersPerThread, staticSharedBytes, dynamicSharedBytes, carveOutBytes } =
      own.kernel.resources!
    const fields = fieldsOf(
      {
        threads: threadsOf(own.kernel)!,
        registers: registersPerThread!,
        shared: staticSharedBytes! + dynamicSharedBytes!,
        carveOutBytes: carveOutBytes!,
      },
      '9.0',
    )
    const limitOf = (of: typeof fields) => {
      const kernel = kernelOf(of)
      return Array.isArray(kernel) ? null : occupancy(smLimits('9.0')!, kernel).limits.shared
    }
    expect(limitOf(fields)).toBe(own.occupancy.limits.shared)
    expect(limitOf({ ...fields, carveOut: '' })).toBeGreaterThan(own.occupancy.limits.shared!)
    // The carve-out is at least as large as a block's shared memory. Each GPU supports different
    // carve-out sizes.
    expect(limitOf({ ...fields, carveOut: '8192', shared: '100000' })).toBe(2)
    expect(limitOf({ ...fields, carveOut: '12345' })).toBe(limitOf({ ...fields, carveOut: '' }))
  })

  it('restores the kernel from which it was created', () => {
    const fields = fieldsOf({ threads: 256, registers: 120, shared: 8320 }, '9.0')
    expect(fieldsFrom({ ...fields })).toEqual(fields)
    expect(kernelOf(fields)).toEqual({
      threads: 256,
      registers: 120,
      staticSharedBytes: 0,
      dynamicSharedBytes: 8320,
    })
  })
})

describe('a field', () => {
  it('accepts only whole numbers in its range', () => {
    const range = rangeOf('threads', smLimits('9.0')!)
    expect(parseField(' 256 ', range)).toBe(256)
    for (const text of ['', '0', '1025', '2e2', '-1', '1.5', '0x40', '１２'])
      expect(parseField(text, range), text).toBeNull()
  })

  it('accepts as much shared memory as a block may use on the chosen GPU', () => {
    expect(rangeOf('shared', smLimits('7.5')!).max).toBe(64 * 1024)
    expect(rangeOf('shared', smLimits('9.0')!).max).toBe(227 * 1024)
  })
})
