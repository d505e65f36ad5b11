import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'
import { KernelLadderError } from '../../../src-main/domain/errors'
import { useCounters } from './use-counters'
import type { RungCounters } from '../../../src-main/contract/rung-builds'

/** The requests sent so far. Each request has functions to resolve and reject it. */
let requests: {
  source: string
  answer: (value: RungCounters) => void
  fail: (e: unknown) => void
}[]
let scope: EffectScope
const source = ref('first')

const answerTo = (text: string): RungCounters => ({
  ...{ built: true, reason: text, diagnostics: [], build: null, architecture: 'sm_90' },
  ...{
    gpu: 'NVIDIA H200',
    at: '256³',
    metrics: {},
    before: {},
    ...{ predicted: null, predictedBefore: null, predictedAt: null },
    profile: null,
  },
})

beforeEach(() => {
  vi.useFakeTimers()
  requests = []
  source.value = 'first'
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

const opened = () =>
  scope.run(() =>
    useCounters(source, () =>
      source.value === ''
        ? null
        : new Promise((answer, fail) => requests.push({ source: source.value, answer, fail })),
    ),
  )!

async function type(text: string, pause: number): Promise<void> {
  source.value = text
  await vi.advanceTimersByTimeAsync(pause)
}

describe('an edited copy’s counters', () => {
  it('are requested once, at a pause in typing', async () => {
    const { counting } = opened()
    await type('f', 400)
    await type('fo', 400)
    await type('foo', 999)
    expect(requests).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(requests.map((one) => one.source)).toEqual(['foo'])
    expect(counting.value).toBe(true)
  })

  it('belong to the latest request, even if an earlier response arrives later', async () => {
    const { counters, counting, areCurrent } = opened()
    await type('a', 1000)
    await type('b', 1000)
    requests[1]!.answer(answerTo('b'))
    requests[0]!.answer(answerTo('a'))
    await vi.advanceTimersByTimeAsync(0)
    expect(counters.value?.reason).toBe('b')
    expect(counting.value).toBe(false)
    expect(areCurrent.value).toBe(true)
    source.value = 'bc'
    expect(areCurrent.value).toBe(false)
  })

  it('stay visible while counters for newer text are requested, even if that request is canceled', async () => {
    const { counters, error } = opened()
    await type('a', 1000)
    requests[0]!.answer(answerTo('a'))
    await type('b', 1000)
    requests[1]!.fail(new KernelLadderError('cancelled', 'given up'))
    await type('c', 1000)
    await vi.advanceTimersByTimeAsync(0)
    expect(counters.value?.reason).toBe('a')
    expect(error.value).toBeNull()
  })

  it('are not requested again if there is no compiler', async () => {
    const { possible } = opened()
    await type('a', 1000)
    requests[0]!.fail(new KernelLadderError('missing', 'nvcc was not found'))
    await type('b', 2000)
    expect(possible.value).toBe(false)
    expect(requests.length).toBe(1)
  })

  it('are removed if there is nothing to count', async () => {
    const { counters, counting } = opened()
    await type('a', 1000)
    requests[0]!.answer(answerTo('a'))
    await type('', 1000)
    expect(counters.value).toBeNull()
    expect(counting.value).toBe(false)
  })
})
