/** The study whose author varied the threads of a block, as it stands beside ours in a report. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { withRungs } from '../../../src-main/domain/report/frozen-report'
import { publishedFigures } from '../../../src-main/services/report/published'
import { scrubSession } from '../../../src-main/services/report/scrub'
import { recordingsDir } from '../support'

const session = await readSession(join(recordingsDir, 'seed-rtx3090-h200-1024'))
const strides = session.rungs.filter(({ params }) => params['STRIDE'] !== undefined)

describe('the published figures of a parameter study', () => {
  const { columns, rows } = publishedFigures(session)!

  it('have every column of the author’s two tables', () => {
    expect(columns).toEqual([
      'Throughput',
      'Threads per block',
      'Waves per SM',
      'Theoretical occupancy',
      'Achieved occupancy',
      'Shared-memory loads',
      'FMA pipe utilization',
      'Registers per thread',
    ])
  })

  it('set the threads of the author’s blocks beside those that ncu saw in ours', () => {
    expect(strides).toHaveLength(5)
    for (const { id, params } of strides) {
      const { ours, theirs } = rows.find((row) => row.id === id)!
      const threads = String(256 / params['STRIDE']!)
      expect([ours[1], theirs[1]], id).toEqual([threads, threads])
    }
  })

  it('leave a place empty where the author gave no figure', () => {
    const tiled = rows.find(({ id }) => id === '03_shared_tile')!
    expect([tiled.ours[1], tiled.theirs[1]]).toEqual(['256', '–'])
  })

  it('go with the rungs that a report tells, and are not scrubbed', () => {
    const [first] = strides
    const told = withRungs(
      scrubSession(session, (text) => text.replaceAll('stride', 'x')),
      [first!.id],
    )
    expect(told.ladder.published?.threadsPerBlock).toEqual({ [first!.id]: 256 })
  })
})
