/**
 * A lab for tests with the fake tools. The lab has the recording's size, and its submissions replay
 * recorded rungs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import type { LabAttempt } from '../../../src-main/adapters/labs/attempt'
import { readLab, type LabFolder } from '../../../src-main/adapters/labs/lab-folders'
import { noAnswers, type LabAnswers } from '../../../src-main/domain/labs/outcome'
import { checkLab } from '../../../src-main/services/labs/check'
import { recordingsDir, type Machine } from '../support'

export const labText = `---
title: Coalesced access
summary: Let a warp read a row.
order: 900
ladder: gemm-fp32
before: 01_naive
target: 02_coalesced
minutes: 30
size: { m: 1024, n: 1024, k: 1024 }
checks:
  - id: right
    kind: correctness
    sizes: [{ m: 64, n: 65, k: 66 }, { m: 128, n: 128, k: 128 }]
  - id: clean
    kind: sanitizer
    tools: [memcheck]
    size: { m: 33, n: 34, k: 35 }
  - id: busy
    kind: metric
    metric: fmaUtilization
    above: { rung: 01_naive, factor: 5 }
  - id: fast
    kind: time
    below: { rung: 01_naive, factor: 0.5 }
  - id: lean
    kind: static
    maxRegisters: 64
    noSpills: true
predictions:
  - id: time
    metric: time
    ask: By which factor does the time change?
  - id: loads
    metric: sharedLoads
    ask: Do shared loads change?
    factor: false
questions:
  - id: blocks
    ask: How many blocks of 32 by 32 does an SM get?
    answer: ceil(m / 32) * ceil(n / 32) / smCount
hints: [Look at threadIdx., Now look at col.]
surprise: It was ten times as fast.
---
# Warps

A warp is \`32\` threads, and $a^2 + b^2$.
`

export async function testLab(
  machine: Machine,
  text = labText,
  id = 'coalesce',
): Promise<LabFolder> {
  const folder = join(machine.kernelsDir, 'labs', id)
  await mkdir(folder, { recursive: true })
  const naive = await readFile(join(machine.kernelsDir, 'gemm/01_naive.cu'), 'utf8')
  const coalesced = await readFile(join(machine.kernelsDir, 'gemm/02_coalesced.cu'), 'utf8')
  await writeFile(join(folder, 'lab.md'), text)
  await writeFile(join(folder, 'starter.cu'), `${naive}// like: 01_naive\n`)
  await writeFile(join(folder, 'solution.cu'), `${coalesced}// like: 02_coalesced\n`)
  return readLab(folder, await readCatalog(machine.kernelsDir))
}

let attempts = 0

export const check = (
  machine: Machine,
  lab: LabFolder,
  source: string,
  answers: LabAnswers = noAnswers,
  target: 'local' | 'recorded' = 'local',
  places: { out?: string; recordingsDir?: string } = {},
): Promise<LabAttempt> =>
  checkLab(
    { lab, source, answers, target },
    {
      machine: machine.setup.machine,
      assets: {
        ...machine.setup.assets,
        recordingsDir: places.recordingsDir ?? recordingsDir,
      },
      appVersion: '0.0.0-test',
      out: places.out ?? join(machine.dir, `attempt-${(attempts += 1)}`),
      settings: { idleSeconds: 2 },
      emit: () => undefined,
      signal: new AbortController().signal,
    },
  )

export const statusesOf = ({ outcome }: LabAttempt): Record<string, string> =>
  Object.fromEntries(outcome.checks.map(({ id, status }) => [id, status]))
