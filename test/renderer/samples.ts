/** Small sample sessions for tests of the UI's logic. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSession } from '../../src-main/adapters/sessions/session-store'
import type { RunEvent, RunMessage } from '../../src-main/contract/index'
import type { Ladder } from '../../src-main/domain/ladder/ladder'
import type { RungResult, Session } from '../../src-main/domain/session/session'
import { valueNames } from '../../src-main/domain/messages/format'
import { gemm, gemmProblem } from '../support'

const header = (id: string, params: Ladder['rungs'][number]['header']['params'] = []) => ({
  id,
  title: id,
  file: `gemm/${id}.cu`,
  params: {},
  header: {
    id,
    title: id,
    after: null,
    idea: 'an idea',
    expect: [],
    params,
    options: { dtype: ['f32'] },
    flags: [],
    requires: null,
  },
})

export const ladder: Ladder = {
  id: 'gemm-fp32',
  title: 'FP32',
  summary: 'A summary.',
  task: gemm,
  scalars: { alpha: 1, beta: 0 },
  options: { dtype: 'f32' },
  sizes: [
    { m: 4096, n: 4096, k: 4096 },
    { m: 1024, n: 1024, k: 1024 },
  ],
  reference: '00_ref',
  rungs: [
    header('00_ref'),
    header('01_naive'),
    header('02_tile', [{ name: 'BM', default: 64, allowed: [32, 64] }]),
    header('03_wide', [{ name: 'BM', default: 128, allowed: [64, 128] }]),
  ],
}

export function rung(id: string, medianMs: number | null, over: Partial<RungResult> = {}) {
  const result: RungResult = {
    id,
    title: id,
    after: null,
    idea: 'an idea',
    expect: [],
    flags: [],
    params: {},
    file: `gemm/${id}.cu`,
    sourceHash: '0'.repeat(64),
    status: medianMs === null ? 'failed' : 'ok',
    diagnostics: [],
    build: null,
    verify: null,
    timing:
      medianMs === null
        ? null
        : {
            cacheState: 'cold',
            medianMs,
            spread: 0.01,
            samples: 3,
            samplesMs: [medianMs, medianMs, medianMs],
            settled: true,
            gflops: 2000 / medianMs,
            ratioToReference: 1 / medianMs,
            referenceMedianMs: 1,
            smClockBeforeMHz: null,
            smClockAfterMHz: null,
          },
    profile: null,
    metrics: {},
    ...over,
  }
  return result
}

export function session(rungs: RungResult[]): Session {
  return {
    schema: 3,
    id: 'sample',
    createdAt: '2026-11-21T02:30:00.000Z',
    elapsedSeconds: 1,
    appVersion: '0.1.0',
    target: { kind: 'live', name: 'local' },
    ladder,
    problem: gemmProblem(1000),
    device: null,
    tools: { nvcc: null, ncu: null },
    settings: {
      nvccFlags: [],
      seed: 1,
      cacheState: 'cold',
      profile: 'none',
      clockControl: null,
      cacheControl: null,
    },
    completion: 'complete',
    warnings: [],
    rungs,
  }
}

/**
 * Returns a session with a reference and one rung. Each ratio is the reference's time divided by
 * the rung's time, per timing mode.
 */
export function beside(ratios: { single?: number; burst?: number; sustained?: number }): Session {
  const own = rung('01_own', 1)
  const timing = { ...own.timing!, ratioToReference: ratios.single ?? null }
  const warm = { cacheState: 'warm' as const, medianMs: 1, gflops: null, referenceMedianMs: null }
  if (ratios.burst !== undefined)
    timing.burst = {
      ...{ ...warm, launches: 8, restSeconds: 1, samplesMs: [1] },
      ratioToReference: ratios.burst,
    }
  if (ratios.sustained !== undefined)
    timing.sustained = {
      ...{ ...warm, seconds: 2, spread: 0.001, smClockMHz: 1500, powerW: 650 },
      ratioToReference: ratios.sustained,
      gpu: {
        ...{ smClockLowMHz: 1490, smClockHighMHz: 1510, memoryClockMHz: null },
        ...{ temperatureC: 60, powerW: 660, powerLimitW: 700, heldDownBy: ['powerCap'] },
      },
    }
  const made = session([rung('00_library', 1), { ...own, timing }])
  return { ...made, ladder: { ...made.ladder, reference: '00_library' } }
}

export const started: RunEvent = {
  type: 'started',
  ladder: 'gemm-fp32',
  target: 'local',
  task: gemm,
  problem: gemmProblem(8),
  rungs: [
    { id: '00_ref', title: 'Reference' },
    { id: '01_naive', title: 'Naive' },
  ],
}

export const messages = (runId: string, events: RunEvent[]): RunMessage[] =>
  events.map((event, seq) => ({ runId, seq, event }))

/** One language's texts by key. Keys may be nested. */
export type Words = { [key: string]: string | Words }

/** Returns the value at a dotted key. */
export const wordAt = (words: Words, key: string): string | Words | undefined =>
  key
    .split('.')
    .reduce<string | Words | undefined>(
      (node, part) => (typeof node === 'object' ? node[part] : undefined),
      words,
    )

export interface Sentence {
  key: string
  text: string
}

/**
 * Returns every sentence of a locale with its dotted key. A key may itself contain dots or other
 * symbols.
 */
export const sentences = (words: Words, path: readonly string[] = []): Sentence[] =>
  Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [{ key: [...path, key].join('.'), text: value }]
      : sentences(value, [...path, key]),
  )

/**
 * Returns the placeholders of a message, and `$` if the text is an editor phrase that contains `$`.
 */
export const placeholders = (text: string): string[] =>
  [...valueNames(text), ...(text.includes('$') ? ['$'] : [])].sort()

/**
 * Returns a translation's faults, one sentence per fault. The list is empty for a valid
 * translation.
 */
export function translationFaults(original: Words, translated: Words): string[] {
  const wanted = new Map(sentences(original).map(({ key, text }) => [key, text]))
  const found = new Map(sentences(translated).map(({ key, text }) => [key, text]))
  return [
    ...[...wanted.keys()].filter((key) => !found.has(key)).map((key) => `${key} is missing`),
    ...[...found.keys()].filter((key) => !wanted.has(key)).map((key) => `${key} is not in English`),
    ...[...found].flatMap(([key, text]) => {
      const source = wanted.get(key)
      if (source === undefined) return []
      const [a, b] = [placeholders(source).join(', '), placeholders(text).join(', ')]
      return [
        ...(text.trim() === '' && source.trim() !== '' ? [`${key} is empty`] : []),
        ...(a === b
          ? []
          : [`${key} has the placeholders ${b || 'none'} in place of ${a || 'none'}`]),
      ]
    }),
  ]
}

let rows: readonly string[] | null = null
const recordings = join(import.meta.dirname, '../../resources/recordings/sessions.jsonl')

/** Returns a built-in recording. */
export const recording = (name: string): Session => {
  const beginning = `{"session":"${name}",`
  rows ??= readFileSync(recordings, 'utf8').split('\n')
  const row = rows.find((text) => text.startsWith(beginning))
  if (row === undefined) throw new Error(`There is no recording ${name}.`)
  return parseSession(`{${row.slice(beginning.length)}`, name)
}
