import { describe, expect, it } from 'vitest'
import {
  endOf,
  isEarly,
  parseQueueLine,
  stateOf,
  submittedId,
} from '../../../src-main/domain/remote/slurm-job'
import { SlurmOptions } from '../../../src-main/domain/remote/machine-file'

describe('sbatch output', () => {
  it.each([
    [['12345'], { id: '12345', cluster: null }],
    [['Welcome', '', '12345;alps', 'Quota: 12 %'], { id: '12345', cluster: 'alps' }],
    // A number in the login banner precedes the job id.
    [['2026', '77'], { id: '77', cluster: null }],
    [['Submitted batch job 12'], null],
    [[], null],
  ])('returns the job id from %j', (lines, id) => {
    expect(submittedId(lines)).toEqual(id)
  })
})

describe('squeue output', () => {
  it.each([
    ['12|RUNNING|None|n[1-2]', { state: 'running', node: 'n[1-2]' }],
    ['12_4|PENDING|Priority|', { state: 'queued', reason: 'Priority' }],
    ['12|PENDING|JobHeldUser|', { state: 'held', reason: 'JobHeldUser' }],
    [
      '12|PENDING|launch failed requeued held|',
      { state: 'held', reason: 'launch failed requeued held' },
    ],
    ['12|SUSPENDED|None|n1', { state: 'running', node: 'n1' }],
    ['12|COMPLETING|None|n1', { state: 'ending', node: 'n1' }],
    ['12|NODE_FAIL|NodeDown|n1', { state: 'over' }],
  ])('returns the job state from the line %s', (line, state) => {
    expect(stateOf(parseQueueLine(line)!)).toEqual(state)
  })

  it('skips lines that are not jobs', () => {
    expect(parseQueueLine('Maintenance on 12|12 at noon')).toBeNull()
    expect(parseQueueLine('')).toBeNull()
  })
})

describe('the final state of a job without a result', () => {
  const step = (why: string): string =>
    `slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026 ${why} ***`
  it.each([
    ['TIMEOUT', null, null, 'TIMEOUT', true],
    [null, 'CANCELLED by 1000', null, 'CANCELLED', true],
    // Slurm's queue no longer lists the job, and the cluster has no accounting.
    ['RUNNING', null, step('DUE TO PREEMPTION'), 'PREEMPTED', true],
    ['RUNNING', null, step(''), 'CANCELLED', true],
    ['COMPLETED', null, null, 'COMPLETED', false],
    ['RUNNING', null, null, 'LOST', false],
    [null, null, null, 'LOST', false],
  ])(
    'depends on the queue state %s and the accounting state %s',
    (queue, accounting, said, state, early) => {
      const ended = endOf({ queue, accounting, step: said })
      expect(ended.state).toBe(state)
      expect(isEarly(state)).toBe(early)
    },
  )
})

describe('site-specific sbatch options', () => {
  it.each([
    [{ partition: 'gpu,gpu-long', constraint: '[a100|h100]&nvme', gres: 'gpu:h100:1' }, true],
    [{ time: '1-12:30:00', options: ['--disable-dcgm', '--reservation=lab'] }, true],
    [{ partition: 'gpu; reboot' }, false],
    [{ partition: '--wrap=x' }, false],
    [{ account: "a'b" }, false],
    [{ options: ['-p gpu'] }, false],
    [{ options: ['--array=1-9'] }, false],
    [{ time: '' }, false],
  ])('are rejected if they are malformed or unsafe: %j', (options, valid) => {
    expect(SlurmOptions.safeParse(options).success).toBe(valid)
  })
})
