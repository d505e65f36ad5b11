/** What the shipped recordings of the standard level say of the level itself. */
import { describe, expect, it } from 'vitest'
import { readRaw } from '../../../src-main/adapters/tools/raw-files'
import { instructionKinds, lanes } from '../../../src-main/domain/metrics/mix-metrics'
import { planProfile } from '../../../src-main/domain/analysis/pass-plan'
import { flops } from '../../../src-main/domain/task/problem'
import { roofline } from '../../../src-main/domain/analysis/roofline'
import type { Session } from '../../../src-main/domain/session/session'
import { readRecordings } from '../../../src-main/services/sessions/recording-list'
import { metricsAsked } from '../../asked-metrics'
import { recordingsDir, rung } from '../support'

const recordings = (await readRecordings(recordingsDir)).filter(
  ({ session }) => session.settings.profile === 'standard',
)
const named = (name: string): Session =>
  recordings.find((recording) => recording.name === name)!.session
const value = (session: Session, id: string, metric: string): number =>
  rung(session, id).metrics[metric]!.value!

describe.each(recordings)('$name', ({ session, folder }) => {
  it('has every metric of the level that it was asked for, on every rung', async () => {
    const { call } = (await readRaw(folder, 'ncu/profile'))!
    const asked = metricsAsked('standard', call.argv)
    expect(asked.length).toBeGreaterThan(40)
    for (const { id, metrics } of session.rungs)
      for (const definition of asked)
        expect(metrics[definition.id]?.value, `${id} ${definition.id}`).toBeTypeOf('number')
  })

  it('took at most eight passes a kernel, those that are estimated, and about that time', async () => {
    const plan = planProfile({
      level: 'standard',
      computeCapability: session.device!.computeCapability,
      rungs: session.rungs.map(({ id, timing }) => ({ id, medianMs: timing!.medianMs })),
    })
    expect(plan.passes).toBeLessThanOrEqual(8)
    expect(new Set(session.rungs.map(({ profile }) => profile!.passes))).toEqual(
      new Set([plan.passes]),
    )
    // An estimate is made of one kernel a rung; a tree of launches takes as much for each of its own.
    if (session.rungs.some(({ profile }) => profile!.kernels.length > 2)) return
    const { call } = (await readRaw(folder, 'ncu/profile'))!
    expect(plan.seconds / call.seconds).toBeGreaterThan(0.75)
    expect(plan.seconds / call.seconds).toBeLessThan(1.25)
  })

  it('has a roofline whose operations are those of the product or more, by the counter or by 2·m·n·k', () => {
    // What other tasks count as an operation (a comparison, an exponential) is no FP32 instruction each.
    if (session.ladder.task?.id !== 'gemm') return
    const product = flops(session.ladder.task, session.problem!)!
    const { paths, missing } = roofline(session)
    for (const { level } of missing) expect(level).toBe('l1')
    for (const { rung: id, basis, operations } of paths.dram) {
      // A busy tensor pipe did something else where the FP32 pipe did all of the product.
      const all = value(session, id, 'fp32Operations') >= product
      const tensor = !all && value(session, id, 'tensorUtilization') >= 1
      expect(basis, id).toBe(tensor ? 'tensor' : 'counted')
      expect(operations, id).toBeGreaterThanOrEqual(product)
      expect(operations, id).toBeLessThan(1.01 * product)
    }
  })
})

describe('tensor instructions', () => {
  /** HMMA that a product needs, by warps; ncu counts one for 2·m·n·k operations of its shape. */
  const needed = (session: Session, shape: number, products: number): number =>
    (products * flops(session.ladder.task, session.problem!)!) / (2 * shape)

  it.each([
    ['gemm-tensor-h200-4096', '54_mma_sync', 16 * 8 * 16, 1],
    ['gemm-3xtf32-h200-4096', '60_tf32x3', 16 * 8 * 8, 3],
  ])('of %s %s are in none of the kinds', (name, id, shape, products) => {
    const session = named(name)
    const instructions = value(session, id, 'instructions')
    const kinds = instructionKinds.reduce((sum, kind) => sum + value(session, id, kind), 0)
    const share = needed(session, shape, products) / instructions
    const rest = 1 - kinds / (lanes * instructions)
    expect(share).toBeGreaterThan(0.2)
    expect(rest).toBeGreaterThanOrEqual(share - 1e-3)
    expect(rest).toBeLessThan(share + 0.05)
    expect(value(session, id, 'fp32Operations')).toBeLessThan(
      0.05 * flops(session.ladder.task, session.problem!)!,
    )
  })
})
