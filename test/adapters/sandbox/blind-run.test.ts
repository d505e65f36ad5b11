import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blindCalls, measureBlind } from '../../../src-main/adapters/sandbox/blind-run'
import type { ProcessResult } from '../../../src-main/adapters/tools/process'
import type { ToolCall } from '../../../src-main/adapters/tools/toolbox'
import { tempDir } from '../../services/support'

const words = [
  ...[
    'measure',
    '--seed',
    '7',
    '--warm',
    '--ceilings',
    '--max-seconds',
    '1',
    '--reference',
    'best',
  ],
  ...['--case', 'f32', '--struct', '8', '--reference-rung', 'plain'],
  ...['--rung', 'best=/best.so', '--rung', 'plain=/plain.so', '--rung', 'mine=/replay.so'],
]

const timing = (rung: string, medianMs: number) => ({
  ...{ event: 'timing', rung, medianMs, spread: 0, samplesMs: [medianMs], settled: true },
  ...{ referenceMedianMs: null, referenceSamplesMs: [] },
  ...{ smClockBeforeMHz: 1980, smClockAfterMHz: 1980 },
})
const verify = (rung: string, passed: boolean) => ({
  ...{ event: 'verify', rung, passed, worstRelativeError: 0, worstToleranceRatio: 0 },
  ...{ mismatches: passed ? 0 : 1, firstMismatch: null, outOfBounds: false },
})
const start = (rung: string, stage: string) => ({ event: 'start', rung, stage })

describe('the arguments of a blind measurement', () => {
  const { others, blind, check } = blindCalls(words, 'mine', '/results')

  it('never load the submission together with another rung', () => {
    expect(others).not.toContain('mine=/replay.so')
    const rungs = (args: readonly string[]) => args.filter((_, at) => args[at - 1] === '--rung')
    expect(rungs(blind)).toEqual(['mine=/replay.so'])
    expect(rungs(check)).toEqual(['plain=/plain.so', 'mine=/replay.so'])
  })

  it('are valid for each command', () => {
    expect(blind.slice(0, 8).join(' ')).toBe(
      'blind --results /results --seed 7 --warm --max-seconds 1',
    )
    expect(check.slice(0, 6).join(' ')).toBe('check --results /results --seed 7 --case')
  })
})

describe('a blind measurement', () => {
  const ended: ProcessResult = {
    ...{ outcome: 'exited', exitCode: 0, signal: null, stdout: '', stderr: '', seconds: 1 },
  }
  const done = { event: 'done' }

  async function measured(answers: Record<string, { events: object[]; result?: ProcessResult }>) {
    const lines: string[] = []
    const asked: string[] = []
    const results = join(await tempDir(), 'results')
    const run = (call: ToolCall): Promise<ProcessResult> => {
      const command = call.args[0]!
      asked.push(command)
      expect(existsSync(results)).toBe(true)
      const { events, result = ended } = answers[command]!
      for (const event of events) call.onStdoutLine?.(JSON.stringify(event))
      return Promise.resolve(result)
    }
    const call: ToolCall = {
      ...{ tool: 'runner', key: 'runner/measure-1', file: 'kl-runner', args: words },
      onStdoutLine: (line) => lines.push(line),
    }
    const result = await measureBlind(call, 'mine', results, run)
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(result.stdout.split('\n').filter(Boolean)).toEqual(lines)
    return { asked, result, said }
  }
  const others = { events: [start('best', 'time'), timing('best', 2), done] }
  const blind = {
    events: [start('mine', 'load'), start('mine', 'time'), timing('mine', 4), done],
  }
  const checked = (passed: boolean) => ({
    events: [verify('plain', true), start('mine', 'verify'), verify('mine', passed), done],
  })
  const told = (said: readonly Record<string, unknown>[]): unknown[] =>
    said.map(({ event, rung, stage }) => [event, rung, stage].filter(Boolean).join(' '))

  it('reports a time only if the results of timed launches are correct', async () => {
    const { said } = await measured({ measure: others, blind, check: checked(true) })
    expect(told(said)).toEqual([
      ...['start best time', 'timing best', 'start mine load'],
      ...['start mine verify', 'verify mine', 'start mine time', 'timing mine', 'done'],
    ])
    expect(said.find(({ event, rung }) => event === 'timing' && rung === 'mine')).toMatchObject({
      medianMs: 4,
      referenceMedianMs: 2,
    })
  })

  it('reports no time for wrong results', async () => {
    const { said } = await measured({ measure: others, blind, check: checked(false) })
    expect(told(said).slice(3)).toEqual(['start mine verify', 'verify mine', 'done'])
  })

  it('attributes the failure to the submission if its kernels fail or end the process', async () => {
    const crash = { ...ended, outcome: 'signalled' as const, exitCode: null, signal: 'SIGSEGV' }
    const crashed = await measured({
      ...{ measure: others, check: checked(true) },
      blind: { events: blind.events.slice(0, 2), result: crash },
    })
    expect(told(crashed.said).at(-1)).toBe('start mine time')
    expect(crashed.result).toMatchObject({ outcome: 'signalled' })
    expect(crashed.asked).not.toContain('check')
    const failed = { event: 'failed', rung: 'mine', stage: 'time', reason: 'x', fatal: false }
    const { said, asked } = await measured({
      ...{ measure: others, check: checked(true) },
      blind: { events: [...blind.events.slice(0, 2), failed, done] },
    })
    expect(told(said).slice(-3)).toEqual(['start mine time', 'failed mine time', 'done'])
    expect(asked).not.toContain('check')
  })
})
