/** Tests compute-sanitizer on rungs. The fake tools replay real reports. */
import { Bench } from '../../../src-main/services/bench/bench'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyBuildCache } from '../../../src-main/adapters/disk/build-cache'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import type { SanitizeReport, SanitizerCheck } from '../../../src-main/domain/session/sanitizer'
import { sanitize } from '../../../src-main/services/sanitize/sanitize'
import {
  sanitizeLive,
  type SanitizeOptions,
} from '../../../src-main/services/sanitize/sanitize-job'
import { fakeMachine, isAlive, recordingsDir, type Machine } from '../support'
import { said } from '../../support'
import { SanitizeRequest, type SanitizeProgress } from '../../../src-main/contract/sanitize'
import { recordedToolbox } from '../../../src-main/adapters/tools/recorded-toolbox'

const start = (
  { setup }: Machine,
  request: Partial<SanitizeRequest> = {},
  options: Partial<SanitizeOptions> = {},
): Promise<SanitizeReport> =>
  sanitizeLive(setup, SanitizeRequest.parse({ ladder: 'gemm-fp32', ...request }), {
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...options,
  })

const check = ({ rungs }: SanitizeReport, id: string, tool: string): SanitizerCheck => {
  const found = rungs.find((rung) => rung.id === id)?.checks.find((each) => each.tool === tool)
  if (!found) throw new Error(`no ${tool} of ${id}`)
  return found
}

describe('rungs without a fault', () => {
  it('are clean with every tool, each in one process without the reference', async () => {
    const machine = await fakeMachine()
    const report = await start(machine)
    expect(report.rungs.map(({ id }) => id)).not.toContain('00_cublas')
    expect(
      new Set(report.rungs.flatMap(({ checks }) => checks.map(({ status }) => status))),
    ).toEqual(new Set(['clean']))
    expect(report).toMatchObject({ sanitizer: '2025.3.1.0', completion: 'complete' })
    const calls = machine.calls('compute-sanitizer').filter((call) => call.includes('sanitize'))
    expect(calls.map((call) => call[call.indexOf('--tool') + 1])).toEqual([
      'memcheck',
      'racecheck',
      'initcheck',
      'synccheck',
    ])
    // The sanitizer runs at a small, ragged size without timing.
    expect(calls[0]!.join(' ')).toMatch(/ sanitize --seed 7 /)
    expect(calls[0]!.join(' ')).toContain('--field 0:i64:131 --field 8:i64:136 --field 16:i64:72')
    expect(calls[0]).not.toContain('--reference-library')
  })

  it('written in Python are built with the source files that run a Python script', async () => {
    const machine = await fakeMachine()
    await start(machine, { ladder: 'softmax', rungs: ['08_triton'], tools: ['memcheck'] })
    const build = machine.calls('nvcc').find((call) => call.includes('softmax/08_triton.py.cpp'))
    expect(build?.join(' ')).toContain('-I python ')
  })

  it('have no verdict if they were not launched', async () => {
    const machine = await fakeMachine()
    await machine.addFault('02_coalesced', 'unsupported')
    const report = await start(machine, { tools: ['memcheck'] })
    expect(said(check(report, '02_coalesced', 'memcheck'))).toMatchObject({
      status: 'unsupported',
      reason: 'k is not a multiple of 8',
      total: null,
    })
    expect(check(report, '03_shared_tile', 'memcheck').status).toBe('clean')
  })
})

describe('a rung with a fault', () => {
  it('is the only rung that is reported, at its source line', async () => {
    const machine = await fakeMachine()
    await machine.addFault('02_coalesced', 'out-of-bounds')
    const report = await start(machine, { tools: ['memcheck', 'racecheck'] })
    const found = check(report, '02_coalesced', 'memcheck')
    expect(found).toMatchObject({ status: 'found', total: 65 })
    const source = await readFile(join(machine.kernelsDir, 'gemm/02_coalesced.cu'), 'utf8')
    expect(found.findings[0]).toMatchObject({
      count: 64,
      place: { file: 'gemm/02_coalesced.cu', line: 14 },
      excerpt: { from: 12, lines: source.split('\n').slice(11, 16) },
    })
    for (const id of ['01_naive', '03_shared_tile'])
      expect(check(report, id, 'memcheck').status).toBe('clean')
    expect(check(report, '02_coalesced', 'racecheck').status).toBe('clean')
  })

  it('that has a race is reported with both accesses', async () => {
    const machine = await fakeMachine()
    await machine.addFault('03_shared_tile', 'race')
    const report = await start(machine, { tools: ['racecheck'], rungs: ['03_shared_tile'] })
    const [race] = check(report, '03_shared_tile', 'racecheck').findings
    expect(race).toMatchObject({
      count: 256,
      place: { file: 'gemm/03_shared_tile.cu', line: 15 },
      conflict: { first: 'Write', second: 'Read', place: { file: 'gemm/03_shared_tile.cu' } },
    })
  })

  it('that does not compile is reported as failed, with the compiler’s messages', async () => {
    const machine = await fakeMachine()
    await machine.addFault('02_coalesced', 'compile-error')
    const report = await start(machine, { tools: ['memcheck'] })
    expect(said(check(report, '02_coalesced', 'memcheck'))).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('Does not compile') as string,
    })
    expect(check(report, '01_naive', 'memcheck').status).toBe('clean')
  })

  it('is not reported as clean if the check crashes after a partial report', async () => {
    const machine = await fakeMachine()
    await machine.addFault('02_coalesced', 'sanitizer-cut')
    const report = await start(machine, { tools: ['memcheck'] })
    const cut = check(report, '02_coalesced', 'memcheck')
    expect(said(cut)).toMatchObject({
      status: 'found',
      total: null,
      reason: expect.stringContaining('Internal sanitizer error') as string,
    })
    expect(cut.findings[0]!.count).toBeGreaterThan(10)
  })
})

describe('a check that does not end', () => {
  it('is killed with its whole process tree and leaves the rung without a verdict', async () => {
    const machine = await fakeMachine([], { processes: true })
    await machine.addFault('01_naive', 'sanitizer-hang')
    const report = await start(
      machine,
      { tools: ['memcheck'], rungs: ['01_naive'] },
      { secondsARung: 1 },
    )
    expect(said(check(report, '01_naive', 'memcheck'))).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('did not finish within 1 s') as string,
    })
    const [[, pid]] = machine.calls('child') as [string[]]
    await expect.poll(() => isAlive(Number(pid)), { timeout: 60_000 }).toBe(false)
  })

  it('stops when canceled and keeps the finished results', async () => {
    const machine = await fakeMachine()
    await machine.addFault('01_naive', 'sanitizer-hang')
    const abort = new AbortController()
    const seen: SanitizeProgress[] = []
    const report = await start(
      machine,
      { tools: ['memcheck'], rungs: ['01_naive'] },
      {
        signal: abort.signal,
        onProgress: (progress) => {
          seen.push(progress)
          if (progress.stage === 'check') abort.abort()
        },
      },
    )
    expect(report.completion).toBe('cancelled')
    expect(check(report, '01_naive', 'memcheck').status).toBe('not-run')
    expect(seen.map(({ stage }) => stage)).toContain('build')
  })
})

describe('a job that cannot start', () => {
  it('reports a missing compute-sanitizer and the remedy', async () => {
    await expect(start(await fakeMachine(['compute-sanitizer']))).rejects.toMatchObject({
      kind: 'missing',
      message: 'compute-sanitizer was not found.',
    })
  })

  it('reports that a recording has no sanitizer data', async () => {
    const machine = await fakeMachine()
    const work = sanitize(
      {
        bench: await Bench.open(
          {
            toolbox: recordedToolbox(join(recordingsDir, 'gemm-fp32-h200-1024')),
            cache: emptyBuildCache,
          },
          null,
        ),
        catalog: await readCatalog(machine.kernelsDir),
        onProgress: () => undefined,
      },
      SanitizeRequest.parse({ ladder: 'gemm-fp32' }),
    )
    await expect(work).rejects.toThrow(/not recorded/)
  })

  it('reports an unknown rung', async () => {
    await expect(start(await fakeMachine(), { rungs: ['99_none'] })).rejects.toThrow(/99_none/)
  })
})
