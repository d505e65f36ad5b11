/** Small sessions for tests of the UI's logic: what is not looked at is left plain. */
import type { RunEvent, RunMessage } from '../../src-main/contract'
import type { Ladder } from '../../src-main/domain/ladder/ladder'
import type { RungResult, Session } from '../../src-main/domain/session/session'
import { gemm, gemmProblem } from '../gemm'

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
    schema: 2,
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
      flushL2: false,
      profile: 'none',
      clockControl: null,
      cacheControl: null,
    },
    completion: 'complete',
    warnings: [],
    rungs,
  }
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
