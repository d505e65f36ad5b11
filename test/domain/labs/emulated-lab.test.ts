import { describe, expect, it } from 'vitest'
import { readKernelLibrary } from '../../../src-main/adapters/kernels/kernel-library'
import { readShippedLabs } from '../../../src-main/adapters/labs/library'
import { emulatedLab } from '../../../src-main/domain/labs/emulated-lab'
import type { Lab } from '../../../src-main/domain/labs/lab'
import { outcomeStatus, type CheckResult } from '../../../src-main/domain/labs/outcome'
import { flops, leastBytes, problemAt } from '../../../src-main/domain/task/problem'

const library = await readKernelLibrary(new URL('../../../cuda-kernels', import.meta.url).pathname)
const { labs } = await readShippedLabs(library)
const taskOf = (lab: Lab) =>
  library.tasks.get(library.ladders.find(({ id }) => id === lab.ladder)!.task)!

describe('a lab for the emulator', () => {
  it.each(labs.map(({ lab }) => [lab.id, lab] as const))('%s is a matter of seconds', (_, lab) => {
    const task = taskOf(lab)
    const small = emulatedLab(lab, task)
    const sizes = [
      small.size,
      ...small.checks.flatMap((check) => (check.kind === 'correctness' ? check.sizes : [])),
    ]
    for (const size of sizes) {
      const problem = problemAt(task, { at: size }, { options: lab.options })
      expect(flops(task, problem) ?? 0).toBeLessThan(1e7)
      expect(leastBytes(task, problem)).toBeLessThan(1e7)
    }
    expect(small.checks.map(({ id }) => id)).toEqual(lab.checks.map(({ id }) => id))
  })

  it('has as many conflicts to allow as its work is smaller, and the same sectors a request', () => {
    const bounds = (id: string) => {
      const { lab } = labs.find((one) => one.lab.id === id)!
      return [lab, emulatedLab(lab, taskOf(lab))].map(
        ({ checks }) => new Map(checks.map((check) => [check.id, check])),
      )
    }
    const [conflicts, fewer] = bounds('07-bank-conflicts')
    expect(conflicts!.get('loads')).toMatchObject({ max: 1e6 })
    expect(fewer!.get('loads')).toMatchObject({ max: 1e6 / 16 ** 3 })
    const [wide, still] = bounds('06-float4')
    expect(still!.get('sectors')).toEqual(wide!.get('sectors'))
  })
})

describe('the status of an outcome', () => {
  const check = (kind: CheckResult['kind'], id: string, status: CheckResult['status']) =>
    ({ kind, id, status, title: '', sentence: '', figures: [] }) as CheckResult
  const right = check('correctness', 'right', 'passed')
  const untimed = check('time', 'fast', 'unavailable')
  const metric = (status: CheckResult['status']) => check('metric', 'loads', status)

  it.each([
    ['passes what was judged', [right, metric('passed'), untimed], 'passed'],
    ['fails what failed', [right, metric('failed'), untimed], 'failed'],
    ['is open without a counter', [right, untimed], 'unavailable'],
    [
      'is open where a result is not known',
      [check('correctness', 'right', 'unavailable'), metric('passed'), untimed],
      'unavailable',
    ],
  ] as const)('without times: %s', (_, checks, status) => {
    expect(outcomeStatus(checks, { times: false }, ['loads', 'fast'])).toBe(status)
  })

  it('asks for a counter that tells the starter, and for times where there are times', () => {
    const checks = [right, metric('passed'), untimed]
    expect(outcomeStatus(checks, { times: false }, ['fast'])).toBe('unavailable')
    expect(outcomeStatus(checks, { times: true }, ['loads'])).toBe('unavailable')
  })
})
