/**
 * Tests the recommendations for opened sessions: the rung or kernel to change first, and its first
 * step.
 */
import { describe, expect, it } from 'vitest'
import { adviseOn, adviseFirst, rungToChange } from '../../src-main/services/next/advise'
import { openSession, type OpenedSession } from '../../src-main/services/sessions/open-session'
import type { FirstStep } from '../../src-main/domain/next/first-step'
import { inEnglish } from '../../src-main/domain/text/english'
import type { Session } from '../../src-main/domain/session/session'
import { setupIn, shippedKernels, tempDir } from './support'

const setup = setupIn(await tempDir(), { kernelsDir: shippedKernels })
/** Returns the first step of each correct rung. */
async function firstSteps(opened: OpenedSession): Promise<Record<string, FirstStep>> {
  const found: Record<string, FirstStep> = {}
  for (const rung of opened.session.rungs)
    if (rung.status === 'ok') found[rung.id] = await adviseFirst(setup, opened, rung)
  return found
}
const open = (name: string): Promise<OpenedSession> => openSession(setup, `recorded:${name}`)

describe('the first recommendation for a program', async () => {
  const opened = await open('feed-forward-h200-fused')
  const steps = await firstSteps(opened)

  it('is for the kernel whose step saves the most total time', async () => {
    const first = (await rungToChange(setup, opened))!
    const saved = ([id]: [string, unknown]): number => {
      const total = steps[id]?.step?.ofTotal
      return total ? total.msNow - total.msAfter : 0
    }
    const most = Math.max(...Object.entries(steps).map(saved))
    expect(most).toBeGreaterThan(0)
    expect(saved([first.id, null])).toBe(most)
  })

  it('has the total time saved by the step as a figure and as evidence', async () => {
    const first = (await rungToChange(setup, opened))!
    const { step } = await adviseFirst(setup, opened, first)
    const { msNow, msAfter } = step!.ofTotal!
    const saved = first.profiledTime!.totalMs * (1 - 1 / step!.speedup.mid)
    expect(msNow - msAfter).toBeCloseTo(saved, 6)
    const [best] = (await adviseOn(setup, opened, first)).steps
    expect(best!.evidence.map(inEnglish).join(' ')).toContain('that the program spends in kernels')
  })

  it('is never for a library kernel, even a slow one, because users cannot change it', async () => {
    const library = opened.session.rungs.filter(({ id }) => steps[id] && !steps[id].step)
    const longest = opened.session.rungs.toSorted(
      (a, b) => (b.profiledTime?.totalMs ?? 0) - (a.profiledTime?.totalMs ?? 0),
    )[0]!
    expect(library.map(({ id }) => id)).toContain(longest.id)
    expect((await rungToChange(setup, opened))!.id).not.toBe(longest.id)
  })

  it('with 1,000 kernels takes little time', async () => {
    const [kernel] = opened.session.rungs
    const many: Session = {
      ...opened.session,
      rungs: Array.from({ length: 1000 }, (_, index) => ({ ...kernel!, id: `kernel-${index}` })),
    }
    const started = performance.now()
    expect(await rungToChange(setup, { ...opened, session: many })).not.toBeNull()
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('the first recommendation for a ladder', () => {
  it('is for the fastest rung other than the reference', async () => {
    const opened = await open('gemm-fp32-h200-4096')
    const fastest = (await rungToChange(setup, opened))!
    const times = opened.session.rungs.flatMap(({ id, timing }) =>
      timing && id !== opened.session.ladder.reference ? [timing.medianMs] : [],
    )
    expect(fastest.timing!.medianMs).toBe(Math.min(...times))
    const bare = { ...opened.session, rungs: [] }
    expect(await rungToChange(setup, { ...opened, session: bare })).toBeNull()
  })
})
