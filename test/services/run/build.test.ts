import { appendFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { eventLog, fakeMachine, ladderRungs, rung, statuses } from '../support'
import { said, saying } from '../../said'

/** The runner, the task's reference, and a library a rung. */
const builds = 2 + ladderRungs.length

describe('building a ladder', () => {
  it('compiles the runner and every rung once, and nothing again while nothing changes', async () => {
    const machine = await fakeMachine()
    const first = await machine.run()
    expect(machine.calls('nvcc').filter((call) => !call.includes('--version'))).toHaveLength(builds)
    expect(first.session.rungs.map(({ build }) => build?.cached)).toEqual(
      ladderRungs.map(() => false),
    )

    const before = machine.calls('nvcc').length
    const second = await machine.run()
    expect(machine.calls('nvcc')).toHaveLength(before)
    expect(second.session.rungs.map(({ build }) => build?.cached)).toEqual(
      ladderRungs.map(() => true),
    )
  })

  it('compiles the one rung that was edited', async () => {
    const machine = await fakeMachine()
    await machine.run()
    const before = machine.calls('nvcc').length
    await machine.editRung('04_thread_tile_1d', (text) => `${text}\n// touched\n`)
    await machine.run()
    const later = machine.calls('nvcc').slice(before)
    expect(later).toHaveLength(1)
    expect(later[0]).toContain('gemm/04_thread_tile_1d.cu')
  })

  it('compiles a rung again for another parameter value, and finds both afterwards', async () => {
    const machine = await fakeMachine()
    const only = { rungs: ['03_shared_tile'] }
    await machine.run(only)
    const before = machine.calls('nvcc').length
    await machine.run({ ...only, params: { TILE: 16 } })
    const later = machine.calls('nvcc').slice(before)
    expect(later).toHaveLength(1)
    expect(later[0]).toContain('-DTILE=16')
    await machine.run(only)
    expect(machine.calls('nvcc')).toHaveLength(before + 1)
  })

  it('compiles everything again when a shared header changes', async () => {
    const machine = await fakeMachine()
    await machine.run()
    const before = machine.calls('nvcc').length
    await appendFile(`${machine.kernelsDir}/include/kernel_ladder.h`, '\n// touched\n')
    await machine.run()
    expect(machine.calls('nvcc').length - before).toBe(builds)
  })

  it('compiles a task’s rungs again, and nothing else, when a header of the task changes', async () => {
    const machine = await fakeMachine()
    await machine.run()
    const before = machine.calls('nvcc').length
    await appendFile(`${machine.kernelsDir}/gemm/tensor_common.cuh`, '\n// touched\n')
    await machine.run()
    const later = machine.calls('nvcc').slice(before)
    expect(later.filter((call) => call.some((word) => word.startsWith('runner/')))).toEqual([])
    // The reference beside the rungs; each finds the header whatever folder its source lies in.
    expect(later).toHaveLength(1 + ladderRungs.length)
    for (const call of later) expect(call.slice(call.lastIndexOf('-I'))[1]).toBe('gemm')
  })

  it('compiles for the architecture that the runner found, with parameters as macros', async () => {
    const machine = await fakeMachine()
    await machine.run({ rungs: ['05_thread_tile_2d'] })
    const call = machine.calls('nvcc').find((words) => words.includes('gemm/05_thread_tile_2d.cu'))
    expect(call).toContain('arch=compute_90,code=sm_90')
    expect(call).toEqual(expect.arrayContaining(['-DBM=128', '-DTM=8', '-lineinfo', '-shared']))
  })

  it('shows a compile error at its file and line, and the other rungs go on', async () => {
    const machine = await fakeMachine()
    await machine.addFault('03_shared_tile', 'compile-error')
    const { session } = await machine.run()
    const failed = rung(session, '03_shared_tile')
    expect(failed.status).toBe('failed')
    const error = failed.diagnostics.find(({ severity }) => severity === 'error')
    expect(error?.line).toBeGreaterThan(0)
    expect(error?.message).toContain('undefined')
    expect(said(failed.reason)).toContain(`:${error?.line}:`)
    expect(statuses(session)).toEqual({
      ...Object.fromEntries(ladderRungs.map((id) => [id, 'ok'])),
      '03_shared_tile': 'failed',
    })
  })

  it('reads registers, shared memory and spills from what ptxas said', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run({ rungs: ['03_shared_tile'] })
    const { build } = rung(session, '03_shared_tile')
    expect(build?.registersPerThread).toBeGreaterThan(0)
    // Two tiles of 32 × 64 floats.
    expect(build?.staticSharedBytes).toBe(2 * 32 * 64 * 4)
    expect(build?.spillStoreBytes).toBe(0)
  })

  it('tells of each rung as it is built', async () => {
    const machine = await fakeMachine()
    const log = eventLog()
    await machine.run({}, { emit: log.emit })
    const built = log.events.flatMap((event) =>
      event.type === 'rung' && event.stage === 'build' && event.state === 'done'
        ? [event.rung]
        : [],
    )
    expect(new Set(built)).toEqual(new Set(ladderRungs))
  })
})

describe('parameters that are allowed one by one and cannot go together', () => {
  const request = { rungs: ['14_block_128x256'], params: { BK: 32, STAGES: 4 } }

  it.each(['local', 'static:h200'])(
    'refuse a run of no other rung, on %s, before anything is launched',
    async (target) => {
      const machine = await fakeMachine()
      await machine.addFault('14_block_128x256', 'refused')
      await expect(machine.run({ ...request, target })).rejects.toMatchObject({
        kind: 'input',
        message: '14_block_128x256 cannot take BK=32, STAGES=4: BM must be a multiple of TM.',
        remedy: saying('Nothing was launched'),
      })
      expect(machine.calls('runner').filter(([, command]) => command === 'measure')).toEqual([])
    },
  )

  it('cost only the rungs that cannot take them where others can', async () => {
    const machine = await fakeMachine()
    await machine.addFault('14_block_128x256', 'refused')
    const rungs = ['13_cp_async', '14_block_128x256']
    const { session } = await machine.run({ ...request, rungs })
    expect(statuses(session)).toEqual({ '13_cp_async': 'ok', '14_block_128x256': 'failed' })
    expect(said(rung(session, '14_block_128x256').reason)).toContain('BM must be a multiple of TM')
  })

  it('are no reason to refuse a rung that does not compile as it stands', async () => {
    const machine = await fakeMachine()
    await machine.addFault('14_block_128x256', 'refused')
    const { session } = await machine.run({ rungs: request.rungs })
    expect(statuses(session)).toEqual({ '14_block_128x256': 'failed' })
  })
})
