import { describe, expect, it } from 'vitest'
import { toErrorShape } from '../../../src-main/domain/errors'
import { fakeMachine, isOneFigure, rung, setEnv, type Machine } from '../support'
import { said, saying } from '../../said'

const noGpu = ['nvidia-smi', 'ncu']
const build = (machine: Machine, target = 'static:h200') => machine.run({ target })

describe('without a GPU, rungs are built for one of the table', () => {
  it('with the compiler’s figures, and occupancy and waves derived as ncu measured them', async () => {
    const { session: measured } = await (await fakeMachine()).run()
    const machine = await fakeMachine(noGpu)
    const { session, folder, missing } = await build(machine)
    expect(missing).toBeNull()
    expect(folder).not.toBeNull()
    expect(session).toMatchObject({
      target: { kind: 'static', name: 'h200' },
      device: null,
      settings: { profile: 'none' },
      completion: 'complete',
    })
    expect(said(session.warnings).join()).toMatch(
      /^Built for H200 .*nothing was run, verified or timed/,
    )
    for (const own of session.rungs.filter(({ id }) => id !== '00_cublas')) {
      const ncu = rung(measured, own.id)
      expect(own).toMatchObject({ status: 'not-run', verify: null, timing: null, profile: null })
      expect(own.build).toMatchObject({
        registersPerThread: ncu.build!.registersPerThread,
        spillStoreBytes: 0,
      })
      for (const id of ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread']) {
        const figure = own.metrics[id]!
        if (isOneFigure(own.id, id)) {
          expect(figure, `${own.id} ${id}`).toMatchObject({ evidence: 'derived' })
          expect(Math.abs(figure.value! - ncu.metrics[id]!.value!)).toBeLessThan(0.006)
        } else {
          expect(figure, `${own.id} ${id}`).toMatchObject({ value: null, evidence: 'unavailable' })
          expect(said(figure.reason)).toContain('launches 2 kernels that differ in this')
        }
      }
      expect(said(own.metrics.fmaUtilization)).toEqual({
        value: null,
        unit: '%',
        evidence: 'unavailable',
        reason: 'It was only built for H200, not run.',
      })
    }
    expect(machine.calls('nvidia-smi')).toEqual([])
    expect(machine.calls('runner')).toEqual([])
  })

  it('and what cannot be known is said: a library, a GPU of which only the architecture is', async () => {
    const { session } = await build(await fakeMachine(noGpu))
    expect(said(rung(session, '00_cublas').metrics.theoreticalOccupancy?.reason)).toBe(
      'What it launches is unknown: it launches no kernel of its own',
    )
    const { session: bare } = await build(await fakeMachine(noGpu), 'static:sm_86')
    const { metrics } = rung(bare, '01_naive')
    // 1024 threads, of the 1536 that an SM of this architecture holds.
    expect(metrics.theoreticalOccupancy?.value).toBeCloseTo(66.67, 2)
    expect(said(metrics.wavesPerSm)).toMatchObject({
      value: null,
      reason: 'The SM count of the GPU is unknown.',
    })
  })

  it('and a rung that does not compile or whose probe crashes costs only its own figures', async () => {
    const machine = await fakeMachine(noGpu)
    await machine.addFault('02_coalesced', 'compile-error')
    const { session } = await build(machine)
    expect(rung(session, '02_coalesced')).toMatchObject({ status: 'failed', build: null })
    expect(rung(session, '01_naive').status).toBe('not-run')
    setEnv({ FAKE_PROBE: 'crash' })
    const { session: crashed } = await build(await fakeMachine(noGpu))
    const { build: built, metrics } = rung(crashed, '01_naive')
    expect(built?.registersPerThread).toBe(32)
    expect(said(metrics.theoreticalOccupancy?.reason)).toMatch(
      /the probe did not finish \(SIGSEGV\)/,
    )
  })

  it('and a rung that would not launch on the GPU either is not passed over', async () => {
    const machine = await fakeMachine(noGpu)
    await machine.addFault('01_naive', 'probe-failed')
    await machine.addFault('02_coalesced', 'probe-unsupported')
    const { session } = await build(machine)
    const [naive, coalesced] = ['01_naive', '02_coalesced'].map((id) => rung(session, id))
    expect(said(naive)).toMatchObject({
      status: 'failed',
      reason: 'It cannot be launched: the reason',
    })
    expect(said(coalesced)).toMatchObject({ status: 'unsupported', reason: 'the reason' })
    expect(said(coalesced?.metrics.wavesPerSm)).toMatchObject({
      value: null,
      reason: 'It is unsupported at this size: the reason',
    })
  })

  it('and a reference that cannot be used ends the run', async () => {
    const machine = await fakeMachine(noGpu)
    setEnv({ FAKE_PROBE: 'reference' })
    expect(said(await build(machine).catch(toErrorShape))).toMatchObject({
      kind: 'failed',
      message: 'The reference gemm/reference.cu defines neither.',
      remedy: 'See gemm/reference.cu.',
    })
  })

  it('and without a compiler that is what is missing', async () => {
    const machine = await fakeMachine(['nvcc', ...noGpu])
    await expect(build(machine)).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('nvcc') as string,
    })
  })

  it('and a GPU that is not in the table is refused with those that are', async () => {
    await expect(build(await fakeMachine(noGpu), 'static:gtx-1050')).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('"gtx-1050"') as string,
      remedy: saying(/h200.*sm_90/),
    })
  })
})
