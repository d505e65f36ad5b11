// @ts-check
/** Measures the time to list a large, indexed store, and the memory that the process uses. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/project.mjs'
import { inScratch, median, bundled, megabytes, spread, worker } from './support.mjs'

const count = 10_000

export const rounds = 5

/** Returns a live session with one rung in the format in which a run saves it. */
function sample() {
  const rows = readFileSync(join(root, 'resources/recordings/sessions.jsonl'), 'utf8')
  const row = rows.slice(0, rows.indexOf('\n'))
  const { session: _name, ...session } = JSON.parse(row)
  return { ...session, target: { kind: 'live', name: 'local' }, rungs: session.rungs.slice(0, 1) }
}

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchSessions(judge) {
  await inScratch(async (folder) => {
    const session = sample()
    for (let number = 0; number < count; number += 1) {
      const createdAt = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString()
      const own = join(folder, 'sessions', `session-${String(number).padStart(5, '0')}`)
      mkdirSync(own, { recursive: true })
      writeFileSync(join(own, 'session.json'), JSON.stringify({ ...session, createdAt }))
    }
    const code = await bundled('src-main/services/sessions/list-sessions.ts', folder)
    const list = () => worker('sessions', [code, folder])
    const first = await list()
    const runs = []
    for (let round = 0; round < rounds; round += 1) runs.push(await list())
    if (runs.some((run) => run.count !== first.count || run.count < count))
      throw new Error('The list does not have every session.')
    const times = runs.map(({ seconds }) => 1000 * seconds)
    const cpu = runs.map(({ cpuSeconds }) => 1000 * cpuSeconds)
    const peaks = runs.map(({ peakBytes }) => megabytes(peakBytes))
    console.log(`List of ${count} sessions, each time by a new process, median (min to max):`)
    console.log(
      `  ${spread(times)} ms (${spread(cpu)} ms of processor time), peak ${spread(peaks)} MB; ${first.seconds.toFixed(1)} s the first time`,
    )
    judge('sessionsTime', median(times))
    judge('sessionsMemory', median(peaks))
  })
}
