import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunRequest, type SessionSummary } from '../../../src-main/contract/index'
import { maxSize } from '../../../src-main/domain/task/task'
import {
  customSize,
  formFault,
  freshForm,
  parameterChoices,
  parseExtent,
  parseScalar,
  runRequest,
  parseSeconds,
} from './run-form'
import { ladder, messages } from '../../../test/renderer/samples'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { gemmProblem } from '../../../test/support'
import { leadFigure, rateText, shareText } from '../../../src-main/domain/analysis/lead-figure'
import { replay } from '../../stores/run-state'
import { eventLog, fakeMachine } from '../../../test/services/support'
import { placeWords, runColumns } from './run-columns'
import { parseTarget } from '../../../src-main/domain/targets/targets'
import { machineRequest, stateOf } from './machine-form'
import { estimate, timesFrom } from './profile-estimate'

const fresh = (target = 'local') => freshForm(ladder, target)

describe('extents', () => {
  it.each([
    ['1', 1],
    [' 777 ', 777],
    [String(maxSize), maxSize],
    [String(maxSize + 1), null],
    ['0', null],
    ['-4', null],
    ['1e3', null],
    ['4.5', null],
    ['', null],
  ])('%j is %s', (text, value) => {
    expect(parseExtent(text)).toBe(value)
  })
})

describe('a request', () => {
  it('contains the whole ladder at its first size by default', () => {
    const request = runRequest(fresh(), ladder)
    expect(request).toEqual({
      ladder: 'gemm-fp32',
      target: 'local',
      profile: 'card',
      at: { m: 4096, n: 4096, k: 4096 },
      params: {},
    })
    expect(RunRequest.safeParse(request).success).toBe(true)
  })

  it('includes the reference in addition to the chosen rungs', () => {
    expect(runRequest({ ...fresh(), rungs: ['02_tile'] }, ladder).rungs).toEqual([
      '00_ref',
      '02_tile',
    ])
  })

  it('contains a custom size and a parameter that a chosen rung allows', () => {
    const form = {
      ...fresh(),
      size: customSize,
      custom: { m: '1023', n: '777', k: '1111' },
      params: { BM: '32', GONE: '1' },
    }
    expect(runRequest(form, ladder)).toMatchObject({
      at: { m: 1023, n: 777, k: 1111 },
      params: { BM: 32 },
    })
    expect(runRequest({ ...form, rungs: ['03_wide'] }, ladder).params).toEqual({})
  })

  it('to replay a recording contains neither a size nor parameters', () => {
    const request = runRequest({ ...fresh('recorded:h200'), params: { BM: '32' } }, ladder)
    expect(request).toEqual({ ladder: 'gemm-fp32', target: 'recorded:h200', profile: 'card' })
  })
})

describe('scalars and options', () => {
  const form = { ...fresh(), values: { alpha: '0.5', beta: '', dtype: 'f32', gone: '1' } }

  it('are sent with the size if the user set them', () => {
    expect(runRequest(form, ladder).at).toEqual({
      m: 4096,
      n: 4096,
      k: 4096,
      alpha: 0.5,
      dtype: 'f32',
    })
  })

  it('prevent a run if they are not numbers', () => {
    expect(formFault({ ...form, values: { alpha: 'x' } }, ladder)).toBe('badValue')
  })

  it.each([
    ['1', 'f32', 1],
    ['-1e-3', 'f64', -0.001],
    ['2.5', 'i32', null],
    ['', 'f32', null],
    ['1e999', 'f32', null],
  ] as const)('%j as %s is parsed as %j', (text, dtype, value) => {
    expect(parseScalar(text, dtype)).toBe(value)
  })
})

it('the run form sends a folder instead of the ladder’s id', () => {
  const form = freshForm(ladder, 'local', '/home/me/softmax')
  expect(runRequest(form, ladder).ladder).toBe('/home/me/softmax')
})

describe('form errors', () => {
  it('are reported before a run starts', () => {
    expect(formFault(fresh(), ladder)).toBeNull()
    expect(formFault(fresh(''), ladder)).toBe('noTarget')
    expect(formFault({ ...fresh(), rungs: [] }, ladder)).toBe('noRungs')
    expect(formFault({ ...fresh(), size: customSize }, ladder)).toBe('badSize')
    expect(formFault({ ...fresh('recorded:h200'), size: customSize }, ladder)).toBeNull()
  })
})

it('the run form offers each value that at least one chosen rung allows', () => {
  expect(parameterChoices(ladder, ['02_tile', '03_wide'])).toEqual([
    { name: 'BM', allowed: [32, 64, 128], rungs: ['02_tile', '03_wide'] },
  ])
  expect(parameterChoices(ladder, ['01_naive'])).toEqual([])
})

const session = await readSession(
  join(import.meta.dirname, '../../../resources/recordings/gemm-fp32-h200-4096'),
)
const rungs = session.rungs.map(({ id }) => id)
const summary = (ref: string, kind: SessionSummary['kind'], size: number): SessionSummary => ({
  ref,
  kind,
  name: ref,
  title: null,
  createdAt: session.createdAt,
  ladder: { id: 'gemm-fp32', title: '' },
  problem: gemmProblem(size),
  deviceName: null,
  profile: 'card',
  rungCount: 7,
})
const at4096 = { m: 4096, n: 4096, k: 4096 }

describe('the estimated cost of profiling', () => {
  it('is based on this machine’s newest matching session, or else on a recording', () => {
    const all = [
      summary('recorded:a', 'recorded', 4096),
      summary('small', 'live', 1024),
      { ...summary('broken', 'live', 4096), damaged: 'It cannot be read.' },
      summary('newest', 'live', 4096),
      summary('older', 'live', 4096),
    ]
    expect(timesFrom(all, 'gemm-fp32', at4096)?.ref).toBe('newest')
    expect(timesFrom(all.slice(0, 3), 'gemm-fp32', at4096)?.ref).toBe('recorded:a')
    expect(timesFrom(all, 'gemm-tensor', at4096)).toBeUndefined()
    expect(timesFrom(all, 'gemm-fp32', null)).toBeUndefined()
  })

  it('increases with the profile level, and is null without a profile', () => {
    const seconds = (['card', 'standard', 'deep'] as const).map(
      (level) => estimate(session, level, rungs, null)!.seconds,
    )
    expect(seconds[0]).toBeLessThan(seconds[1]!)
    expect(seconds[1]).toBeLessThan(seconds[2]!)
    expect(estimate(session, 'none', rungs, null)).toBeNull()
  })

  it('omits rungs above the limit', () => {
    const plan = estimate(session, 'deep', rungs, 10)!
    expect(plan.rungs.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual(['01_naive'])
  })

  it.each([
    ['30', 30],
    [' 0.5 ', 0.5],
    ['2,5', 2.5],
    ['0', null],
    ['-1', null],
    ['1e9', null],
    ['soon', null],
    ['', null],
  ])('has a limit of %j seconds, parsed as %s', (text, value) => {
    expect(parseSeconds(text)).toBe(value)
  })

  it('is limited in the request only if the user set a limit and rungs are profiled', () => {
    const form = { ...freshForm(ladder, 'local'), profileLimit: '12' }
    expect(runRequest(form, ladder)).toMatchObject({ profileLimitSeconds: 12 })
    expect(runRequest({ ...form, profileLimit: '' }, ladder)).not.toHaveProperty(
      'profileLimitSeconds',
    )
    expect(runRequest({ ...form, profile: 'none' }, ladder)).not.toHaveProperty(
      'profileLimitSeconds',
    )
  })
})

describe('the timing modes and the L2 state', () => {
  it('are sent if launches are timed and the settings differ from the defaults', () => {
    const form = freshForm(ladder, 'local')
    expect(form).toMatchObject({ timing: 'single', cacheState: 'cold' })
    const usual = runRequest(form, ladder)
    expect(usual).not.toHaveProperty('timing')
    expect(usual).not.toHaveProperty('cacheState')
    for (const timing of ['burst', 'sustained', 'all'] as const)
      expect(runRequest({ ...form, timing }, ladder)).toMatchObject({ timing })
    const other = { ...form, timing: 'all', cacheState: 'warm' } as const
    expect(runRequest(other, ladder)).toMatchObject({ cacheState: 'warm' })
    for (const target of ['static:h200', 'emulated']) {
      const request = runRequest({ ...other, target }, ladder)
      expect(request).not.toHaveProperty('timing')
      expect(request).not.toHaveProperty('cacheState')
    }
  })
})

const key = { hostname: '10.0.0.7', user: 'ada', port: '22', fingerprint: 'ssh-ed25519 SHA256:a' }
const fields = { name: ' titan ', host: ' ada@titan ', slurm: false, partition: 'gpu' }

describe('the form that adds a machine', () => {
  it('confirms the key that it showed, unless ssh already knows the key', () => {
    const titan = { name: 'titan', host: 'ada@titan', slurm: null }
    expect(machineRequest(fields, { ...key, known: false })).toEqual({
      ...titan,
      fingerprint: 'ssh-ed25519 SHA256:a',
    })
    expect(machineRequest(fields, { ...key, known: true })).toEqual({ ...titan, fingerprint: null })
  })

  it('requests Slurm with the entered partition or the site’s default partition', () => {
    const slurm = (partition: string) =>
      machineRequest({ ...fields, slurm: true, partition }, { ...key, known: true }).slurm
    expect([slurm(' gpu '), slurm('')]).toEqual([{ partition: 'gpu' }, {}])
  })

  it('shows why a machine cannot be reached', () => {
    expect(stateOf({ error: null })).toEqual({ state: 'ok' })
    const error = { kind: 'missing' as const, message: 'titan does not answer.' }
    expect(stateOf({ error })).toEqual({ state: 'unreachable', why: 'titan does not answer.' })
  })
})

async function replayed(recording: string, ladder: string) {
  const machine = await fakeMachine()
  const { events, emit } = eventLog()
  await machine.run({ ladder, target: `recorded:${recording}`, size: undefined }, { emit })
  const { leadContext, rungs } = replay(messages('run-1', events))!
  const results = rungs.flatMap(({ result }) => result ?? [])
  const { lead, metrics, ratios } = runColumns(leadContext, results)
  const before = runColumns(leadContext, [])
  const [fastest] = results
    .map((rung) => leadFigure(leadContext, rung, lead)!)
    .sort((a, b) => b.rate.value! - a.rate.value!)
  return { fastest: fastest!, metrics, ratios, before }
}

it('a run of a memory-bound task shows bytes per second and their share of DRAM bandwidth', async () => {
  const { fastest, metrics, ratios, before } = await replayed('layer-norm-h200', 'layer-norm')
  expect(rateText(fastest)).toMatch(/ [TG]B\/s$/)
  expect(shareText(fastest)).toMatch(/^\d+\.\d %$/)
  expect(metrics).toEqual(['achievedOccupancy', 'dramUtilization', 'sharedLoads'])
  expect(before.metrics).toEqual(metrics)
  expect(ratios).toBe(false)
})

it('a counter that the profile level does not collect has no column', async () => {
  const { metrics, before } = await replayed('reduction-h200-4194304', 'reduction')
  expect(before.metrics).toContain('dramUtilization')
  expect(metrics).toEqual(['achievedOccupancy', 'sharedLoads'])
})

it('a run of a compute-bound task shows operations per second', async () => {
  const { fastest, metrics, ratios } = await replayed('gemm-tensor-h200-8192', 'gemm-tensor')
  expect(rateText(fastest)).toMatch(/ TFLOP\/s$/)
  expect(metrics).not.toContain('dramUtilization')
  expect(metrics).not.toContain('fmaUtilization')
  expect(ratios).toBe(true)
})

it('a run on an emulated GPU is not described as a build', () => {
  const told = (target: string) => placeWords(parseTarget(target)!)
  expect(told('emulated')).toEqual({ how: 'emulatedOn', gpu: 'H200' })
  expect(told('emulated:h100')).toMatchObject({ how: 'emulatedOn' })
  expect(told('static:h200')).toEqual({ how: 'builtFor', gpu: 'H200' })
  expect(told('recorded:x')).toBeNull()
  expect(told('local')).toBeNull()
})
