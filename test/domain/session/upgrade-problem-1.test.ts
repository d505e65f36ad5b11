/** What a session of version 1 says of its problem, read today. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSession } from '../../../src-main/adapters/sessions/session-store'
import { withTask, taskOfVersion1 } from '../../../src-main/domain/session/upgrade/problem-1'
import { gflops, problemLabel } from '../../../src-main/domain/task/problem'

const recordings = join(import.meta.dirname, '../../../resources/recordings')
const textOf = (name: string) => readFileSync(join(recordings, name, 'session.json'), 'utf8')
const names = readdirSync(recordings).filter(
  (name) =>
    existsSync(join(recordings, name, 'session.json')) &&
    (JSON.parse(textOf(name)) as { schema: number }).schema === 1,
)

interface Old {
  schema: number
  problem: { m: number; n: number; k: number; alpha: number; beta: number; dtype: string }
  rungs: { id: string; epilogue?: string[]; timing: { gflops: number; medianMs: number } | null }[]
}

describe('a session of version 1', () => {
  it('is what most recordings are', () => {
    expect(names.length).toBeGreaterThan(10)
  })

  it.each(names)('%s has its problem, its flags and every figure', (name) => {
    const old = JSON.parse(textOf(name)) as Old
    const session = parseSession(JSON.stringify(old), name)
    const { m, n, k, alpha, beta, dtype } = old.problem
    expect(session.problem).toEqual({
      sizes: { m, n, k },
      scalars: { alpha, beta },
      options: { dtype },
    })
    expect(problemLabel(session.problem!)).toBe(m === n && n === k ? `${m}³` : `${m}×${n}×${k}`)
    expect(session.rungs.map(({ flags }) => flags)).toEqual(
      old.rungs.map(({ epilogue = [] }) => epilogue),
    )
    expect(session.rungs.map(({ timing }) => timing)).toEqual(old.rungs.map(({ timing }) => timing))
    for (const { timing } of session.rungs)
      if (timing)
        expect(gflops(session.ladder.task, session.problem!, timing.medianMs)).toBe(timing.gflops)
  })

  const verify = (change: object) => ({
    passed: false,
    worstRelativeError: null,
    mismatches: 2,
    firstMismatch: null,
    outOfBounds: false,
    ...change,
  })
  const problem = { m: 1, n: 2, k: 3, alpha: 1, beta: 0.5, dtype: 'f16' }

  it('says which element was wrong, in the one buffer that was written', () => {
    const first = { row: 3, col: 17, expected: 1, actual: null }
    const found = withTask({
      target: { kind: 'live', name: 'local' },
      ladder: { id: 'a', dtype: 'f16', alpha: 1, beta: 0.5, rungs: [{ id: 'b', dtype: 'f32' }] },
      problem,
      rungs: [
        {
          id: 'b',
          verify: verify({ firstMismatch: first }),
          alsoVerified: [{ problem, verify: verify({ outOfBounds: true }) }],
        },
        { id: 'c', epilogue: ['relu'], verify: null },
      ],
    })
    const now = {
      sizes: { m: 1, n: 2, k: 3 },
      scalars: { alpha: 1, beta: 0.5 },
      options: { dtype: 'f16' },
    }
    expect(found).toMatchObject({
      problem: now,
      ladder: {
        task: taskOfVersion1,
        options: { dtype: 'f16' },
        rungs: [{ id: 'b', options: { dtype: 'f32' } }],
      },
      rungs: [
        {
          flags: [],
          verify: {
            firstMismatch: { buffer: 'c', index: [3, 17], expected: 1, actual: null },
            outOfBounds: [],
            changedInputs: [],
          },
          alsoVerified: [{ problem: now, verify: { outOfBounds: ['c'] } }],
        },
        { flags: ['relu'], verify: null },
      ],
    })
    expect(JSON.stringify(found)).not.toContain('"epilogue":[')
  })

  it('that was imported has no problem, and no task', () => {
    const one = { m: 1, n: 1, k: 1 }
    const found = withTask({
      target: { kind: 'imported', name: 'a.csv' },
      ladder: {
        ...{ id: 'imported', dtype: 'f32', alpha: 1, beta: 0, sizes: [one] },
        rungs: [{ id: 'b', header: { id: 'b', dtypes: ['f32'] } }],
      },
      problem: { ...one, alpha: 1, beta: 0, dtype: 'f32' },
      rungs: [],
    })
    expect(found).toEqual({
      target: { kind: 'imported', name: 'a.csv' },
      ladder: {
        ...{ id: 'imported', task: null, scalars: {}, options: {}, sizes: [] },
        rungs: [{ id: 'b', header: { id: 'b', options: {}, flags: [] } }],
      },
      problem: null,
      rungs: [],
    })
  })

  it('that is damaged stays as it is, for its schema to say where', () => {
    expect(withTask({ problem: 'gone', rungs: 7 })).toMatchObject({ problem: 'gone', rungs: 7 })
  })
})
