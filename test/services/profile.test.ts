import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cardMetricIds } from '../../src-main/domain/metrics'
import { fakeMachine, rung, setEnv } from './support'

describe('profiling', () => {
  it('starts ncu once for the whole ladder, over marked launches, without clock control', async () => {
    const machine = await fakeMachine()
    await machine.run()
    const profiling = machine.calls('ncu').filter((call) => !call.includes('--version'))
    expect(profiling).toHaveLength(1)
    const [call] = profiling
    expect(call!.filter((word) => word === '--rung')).toHaveLength(7)
    expect(call![call!.indexOf('--clock-control') + 1]).toBe('none')
    expect(call![call!.indexOf('--profile-from-start') + 1]).toBe('off')
  })

  it('gives every rung the seven card metrics as measured numbers, in one pass a kernel', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run()
    for (const { metrics, profile } of session.rungs) {
      for (const id of cardMetricIds) {
        expect(metrics[id]).toMatchObject({ evidence: 'measured' })
        expect(Number.isFinite(metrics[id]?.value)).toBe(true)
      }
      expect(profile?.passes).toBe(1)
      expect(profile?.kernels.length).toBeGreaterThan(0)
    }
  })

  it('keeps ncu’s own report and every raw output, with no path of this machine', async () => {
    const machine = await fakeMachine()
    const { folder } = await machine.run()
    expect(await readFile(join(folder!, 'profile.ncu-rep'), 'utf8')).toMatch(/^NVR/)
    const raw = JSON.parse(await readFile(join(folder!, 'raw/ncu/profile.json'), 'utf8')) as {
      argv: string[]
      exitCode: number
    }
    expect(raw.exitCode).toBe(0)
    expect(raw.argv).toContain('<session>/profile.ncu-rep')
    expect(raw.argv.join(' ')).not.toContain(join(machine.dir, 'cache'))
  })

  it('can be turned off: no ncu, and the counters say why', async () => {
    const machine = await fakeMachine()
    const { session, missing } = await machine.run({ profile: 'none' })
    expect(machine.calls('ncu')).toHaveLength(0)
    expect(missing).toBeNull()
    expect(rung(session, '01_naive').metrics.wavesPerSm).toMatchObject({
      evidence: 'unavailable',
      reason: expect.stringContaining('--profile none') as string,
    })
  })

  it.each([
    ['ncu is not there', ['ncu'], '', /ncu was not found/],
    ['counters are not permitted', [], 'no-permission', /ERR_NVGPUCTRPERM/],
  ])('when %s, times stand and the lack is named', async (_case, without, ncu, message) => {
    const machine = await fakeMachine(without)
    setEnv({ FAKE_NCU: ncu })
    const { session, folder, missing } = await machine.run()
    expect(missing).toMatchObject({
      kind: 'missing',
      message: expect.stringMatching(message) as string,
    })
    expect(missing?.remedy).toBeTruthy()
    expect(folder).not.toBeNull()
    for (const { status, timing, metrics } of session.rungs) {
      expect(status).toBe('ok')
      expect(timing).not.toBeNull()
      expect(metrics.fmaUtilization).toMatchObject({ value: null, evidence: 'unavailable' })
    }
    expect(session.warnings.join()).toMatch(message)
  })
})
