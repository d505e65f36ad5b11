import { describe, expect, it } from 'vitest'
import { ncuFailures } from '../../fakes/ncu-failures.mjs'
import { recognizeNcuFailure, unknownMetrics } from '../../../src-main/parsers/ncu/ncu-failure'
import { said } from '../../said'
import { ncuCapture } from '../captures'

describe('nothing is wrong', () => {
  it.each(['launches-two-rungs', 'set-full', 'no-nvtx'])('with a run that profiled: %s', (name) =>
    expect(recognizeNcuFailure(ncuCapture(name), 0)).toBeNull(),
  )

  it('with a metric that ncu 2025.3 does not know: it profiles without it, silently', () => {
    expect(recognizeNcuFailure(ncuCapture('unknown-metric'), 0)).toBeNull()
  })

  it('with a kernel that writes out of bounds where nothing traps it', () => {
    expect(recognizeNcuFailure(ncuCapture('out-of-bounds-application'), 0)).toBeNull()
  })

  it('when ncu only names a file that is called like a failure', () => {
    const text = '==PROF== Connected to process 7 (./nsight-compute-lock)'
    expect(recognizeNcuFailure(text, 0)).toBeNull()
  })

  it('when the program, and not ncu, prints the words', () => {
    expect(recognizeNcuFailure('grep ERR_NVGPUCTRPERM\nNo kernels were profiled', 0)).toBeNull()
  })
})

describe('as captured', () => {
  it('no kernel was profiled, though the exit code is 0', () => {
    expect(recognizeNcuFailure(ncuCapture('no-kernels'), 0)?.kind).toBe('no-kernels')
  })

  it('the program cannot be started, and is named', () => {
    expect(said(recognizeNcuFailure(ncuCapture('not-an-executable'), 1))).toMatchObject({
      kind: 'not-executable',
      message: expect.stringContaining('./nothere'),
    })
  })
})

// No capture of these exists: see ncu-failures.mjs for where the texts are from.
describe('as quoted', () => {
  const quoted = (kind: keyof typeof ncuFailures): string => ncuFailures[kind].text

  it.each([
    ['counter-permission', /NVreg_RestrictProfilingToAdminUsers=0.*SYS_ADMIN/],
    ['counters-busy', /dcgmi profile --pause/],
    ['driver-library', /same driver version/],
    ['driver-incompatible', /Update the driver/],
    ['application-failed', /without profiling/],
    ['unknown-metric', /ncu of/],
    ['lock-file', /TMPDIR/],
    ['no-kernels', /without profiling/],
  ] as const)('%s, with its remedy', (kind, remedy) => {
    const text = `==PROF== Connected to process 1 (./r)\n${quoted(kind)}\n`
    const failure = recognizeNcuFailure(text, ncuFailures[kind].exitCode)
    expect(failure?.kind).toBe(kind)
    expect(said(failure?.remedy)).toMatch(remedy)
  })

  it('names the metric and the exit code that ncu names', () => {
    expect(
      said(recognizeNcuFailure('==ERROR== Failed to find metric sm__nope.sum', 1)?.message),
    ).toMatch('sm__nope.sum')
    expect(said(recognizeNcuFailure(quoted('application-failed'), 9)?.message)).toMatch(
      'exit code 9',
    )
  })

  it('a cause is told before what followed from it', () => {
    const all = [
      '==ERROR== An error was reported by the driver:',
      quoted('counters-busy'),
      '==ERROR== Failed to profile "gemm" in process 7',
      quoted('application-failed'),
      '==WARNING== No kernels were profiled.',
    ].join('\r\n')
    expect(recognizeNcuFailure(all, 9)?.kind).toBe('counters-busy')
    expect(
      recognizeNcuFailure(
        `${quoted('counter-permission')}\n==WARNING== No kernels were profiled.`,
        0,
      )?.kind,
    ).toBe('counter-permission')
  })
})

describe('a failure that nobody foresaw', () => {
  it("is told in ncu's words, and not by what followed from it", () => {
    const text =
      '==ERROR== Failed to profile "gemm" in process 7\n==ERROR== The moon is full.\n==ERROR== The application returned an error code (9).'
    expect(said(recognizeNcuFailure(text, 9))).toMatchObject({
      kind: 'other',
      message: 'ncu failed: The moon is full.',
    })
  })

  it('is told by the exit code when ncu said nothing', () => {
    expect(said(recognizeNcuFailure('', 139)?.message)).toMatch('139')
    expect(said(recognizeNcuFailure('', null)?.message)).toMatch('signal')
  })
})

it('a line of nothing but quotes is looked at once, not from each of them', () => {
  const line = `==ERROR== ${"'".repeat(400_000)}`
  expect(recognizeNcuFailure(line, 1)?.kind).toBe('other')
})

describe('metrics that ncu does not know', () => {
  it.each([
    ['==ERROR== Failed to find metric regex:^sm__nope\\.(sum|min)$', ['sm__nope']],
    ['==ERROR== Failed to find metric sm__nope.sum', ['sm__nope.sum']],
    [
      '==ERROR== Failed to find metric a__b\n==ERROR== Failed to find metric c__d.avg',
      ['a__b', 'c__d.avg'],
    ],
    ['Failed to find metric sm__nope.sum', []],
    [ncuCapture('unknown-metric'), []],
  ])('are those that it names itself', (text, names) => {
    expect(unknownMetrics(text)).toEqual(names)
  })
})
