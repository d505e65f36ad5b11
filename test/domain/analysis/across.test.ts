import { expect, it } from 'vitest'
import { across } from '../../../src-main/domain/analysis/comparability'
import type { Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/text'
import { standardSession } from '../standard-session'

const other = (session: Session): Session => ({
  ...session,
  device: { ...session.device!, name: 'NVIDIA A100', computeCapability: '8.0', smCount: 108 },
  rungs: session.rungs.slice(1),
})

it('has each rung with what each machine found, and compares no times across GPUs', async () => {
  const session = await standardSession()
  const { rungs, timesComparable, reasons } = across([session, other(session)])
  expect(timesComparable).toBe(false)
  expect(reasons.map((reason) => inEnglish(reason)).join(' ')).toContain('times cannot')
  expect(rungs[0]!.on[1]).toBeNull()
  const [first, second] = rungs[1]!.on
  const timing = session.rungs[1]!.timing!
  expect(first!.timeMs).toBe(timing.medianMs)
  // The same rate is a larger share of a smaller GPU's peak: fewer SMs with half the lanes.
  expect(first!.rate).toEqual(second!.rate)
  expect(first!.share).not.toBeNull()
  expect(second!.share).not.toBeNull()
})

it('compares times where the GPUs are of one kind', async () => {
  const session = await standardSession()
  const { timesComparable, reasons } = across([session, session])
  expect(timesComparable).toBe(true)
  expect(reasons).toEqual([])
})
