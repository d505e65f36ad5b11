/** Reports and summaries of compute-sanitizer 2025.3.1 on an H200, and what a broken one becomes. */
import { describe, expect, it } from 'vitest'
import { groupRecords } from '../../../src-main/domain/session/sanitizer'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
} from '../../../src-main/parsers/cuda/compute-sanitizer'
import { captures } from '../captures'

const calls = captures('compute-sanitizer/2025.3.1-h200')
const names = Object.keys(calls).filter((name) => calls[name]!.saved !== undefined)
const savedBy = (name: string): string => calls[name]!.saved!

describe('a real report', () => {
  it.each(names)('of %s holds as many records as its summary counts', (name) => {
    const { records, complete } = parseSanitizerXml(savedBy(name))
    const summary = parseSanitizerSummary(calls[name]!.stdout)
    expect(complete).toBe(true)
    expect(records.length + summary!.notPrinted).toBe(summary!.total)
  })

  it('places a write out of bounds at its line, thread and address, and counts equal ones', () => {
    const [first, api, ...rest] = groupRecords(
      parseSanitizerXml(savedBy('memcheck-out-of-bounds')).records,
    )
    expect(rest).toEqual([])
    expect(first).toEqual({
      kind: 'Precise',
      severity: 'error',
      message: 'Invalid __global__ write of size 4 bytes is out of bounds',
      place: { file: '/src/probe.cu', line: 14, function: 'oob' },
      conflict: null,
      count: 64,
      thread: [0, 0, 0],
      block: [0, 0, 0],
      address: '0x7f81a5400100',
    })
    // The failed launch comes back through the next call, which has no place in the source.
    expect(api).toMatchObject({
      kind: 'Api',
      count: 1,
      place: { file: null, line: null, function: null },
      thread: null,
    })
    expect(api?.message).toContain('due to "unspecified launch failure"')
  })

  it('names both accesses of a race and counts its hazards', () => {
    expect(parseSanitizerXml(savedBy('racecheck-race')).records).toEqual([
      {
        kind: 'Analysis',
        severity: 'error',
        message: 'Race condition',
        place: { file: '/src/probe.cu', line: 15, function: 'race' },
        conflict: {
          place: { file: '/src/probe.cu', line: 15, function: 'race' },
          first: 'Write',
          second: 'Read',
        },
        count: 256,
        thread: null,
        block: null,
        address: null,
      },
    ])
  })

  it('says what was wrong with a barrier', () => {
    expect(groupRecords(parseSanitizerXml(savedBy('synccheck-divergent')).records)).toMatchObject([
      {
        message: 'Barrier error: Divergent thread(s) in warp',
        place: { file: '/src/sync.cu', line: 4, function: 'halfBarrier' },
        count: 20,
      },
    ])
  })

  it('of a clean run has no record', () => {
    expect(parseSanitizerXml(savedBy('memcheck-clean'))).toEqual({ records: [], complete: true })
  })
})

describe('a report that is not whole', () => {
  const whole = savedBy('initcheck-uninitialised')

  it('is never taken for a whole one, wherever it was cut, and keeps its whole records', () => {
    const last = whole.lastIndexOf('</ComputeSanitizerOutput>')
    for (let length = 0; length <= last + 20; length += 97) {
      const text = whole.slice(0, length)
      let parsed
      try {
        parsed = parseSanitizerXml(text)
      } catch (error) {
        // Before the root there is nothing to tell it by.
        expect(length).toBeLessThan(whole.indexOf('<ComputeSanitizerOutput') + 23)
        expect(String(error)).toContain('not a compute-sanitizer report')
        continue
      }
      expect(parsed.complete).toBe(false)
      expect(parsed.records).toHaveLength(text.split('</record>').length - 1)
    }
  })

  it.each([
    ['another document', '<nvidia_smi_log/>'],
    ['text', 'not found\n'],
    ['foreign bytes', '\u0000\u0001\ufffd'],
    [
      'nested beyond reason',
      `<ComputeSanitizerOutput>${'<a>'.repeat(100_000)}</record></ComputeSanitizerOutput>`,
    ],
  ])('is refused in a sentence when it is %s', (_what, text) => {
    expect(() => parseSanitizerXml(text)).toThrow(/not a compute-sanitizer report/)
  })

  it('does not expand entities that it declares itself', () => {
    const laughs = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
      <ComputeSanitizerOutput><record><kind>&b;</kind><what><text>&b; &lt;T&gt; &#65;</text></what></record></ComputeSanitizerOutput>`
    const [record] = parseSanitizerXml(laughs).records
    expect(record).toMatchObject({ kind: '&b;', message: '&b; <T> A' })
  })

  it('leaves out what it does not hold', () => {
    const bare =
      '<ComputeSanitizerOutput><record><where><line>x</line></where></record></ComputeSanitizerOutput>'
    expect(parseSanitizerXml(bare).records[0]).toMatchObject({
      place: { file: null, line: null },
      thread: null,
      address: null,
      count: 1,
    })
  })
})

describe('the summary', () => {
  it('counts errors, hazards, and what was not printed', () => {
    const of = (text: string) => parseSanitizerSummary(`a line\n${text}\n`)
    expect(of('========= ERROR SUMMARY: 0 errors')).toEqual({ total: 0, notPrinted: 0 })
    expect(of('========= ERROR SUMMARY: 1 error')).toEqual({ total: 1, notPrinted: 0 })
    expect(of('========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)')).toEqual({
      total: 3,
      notPrinted: 0,
    })
    expect(
      of(
        '========= ERROR SUMMARY: 200 errors\n========= ERROR SUMMARY: 100 errors were not printed. Use --print-limit option to adjust the number of printed errors',
      ),
    ).toEqual({ total: 200, notPrinted: 100 })
  })

  it('is found behind a line of the program that lacks its end', () => {
    expect(parseSanitizerSummary('no newline========= ERROR SUMMARY: 2 errors')?.total).toBe(2)
  })

  it('is null, not zero, when the tool did not get so far', () => {
    expect(parseSanitizerSummary('========= COMPUTE-SANITIZER\n')).toBeNull()
    expect(parseSanitizerSummary('')).toBeNull()
  })

  it('gives way to the tool’s last words', () => {
    expect(lastSanitizerWord('========= COMPUTE-SANITIZER\n========= Error: no device\n')).toBe(
      'Error: no device',
    )
    expect(lastSanitizerWord('')).toBeNull()
  })
})
