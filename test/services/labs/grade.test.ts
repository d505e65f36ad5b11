/** Grading without a sandbox: which outcome of a check counts, and what is kept of a grading that was killed. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFinishedRows, submissionHash } from '../../../src-main/adapters/labs/submissions'
import { emptyRow } from '../../../src-main/domain/labs/outcome'
import { toRow } from '../../../src-main/services/labs/grade'
import { said } from '../../support'
import { fakeMachine, tempDir } from '../support'
import { check, testLab } from './support'

describe('the row of a check', () => {
  it('has its outcome only if it ended as that says', async () => {
    const machine = await fakeMachine()
    const lab = await testLab(machine)
    const { outcome } = await check(machine, lab, lab.solution)
    const ended = (exitCode: number | null, status = outcome.status) =>
      toRow({ lab }, 'a', {
        stdout: JSON.stringify({ ...outcome, status }),
        ...{ stderr: '', stopped: null, seconds: 1, exitCode: exitCode as number },
      })
    expect(ended(0).status).toBe('passed')
    expect(ended(1, 'failed').status).toBe('failed')
    expect(ended(3, 'unavailable').status).toBe('unavailable')
    // Killed, or of another mind than what was printed in its name.
    for (const exitCode of [null, 1, 3, 137]) {
      const row = ended(exitCode)
      expect(row.status).toBe('stopped')
      expect(Object.values(row.checks)).not.toContain('passed')
      expect(said(row.reason)).toContain('it printed “passed” and ended with exit code')
    }
  })
})

describe('rows of a grading that was killed', () => {
  const grading = {
    ...{ folder: '/handed-in', lab: 'a', program: 'b', target: 'local' },
    ...{ limits: {}, gpus: ['0'], isolated: null },
  }

  it('are found by student, code and grading, also behind a line that was cut off', async () => {
    const cache = await tempDir()
    const machine = await fakeMachine()
    const { lab } = await testLab(machine)
    const row = (student: string) => emptyRow(lab, student, 'stopped', 'x', 2)
    const code = submissionHash('code', null)
    const first = await openFinishedRows({ cache }, grading)
    expect(first.find('a', code)).toBeUndefined()
    await first.add(code, row('a'))
    const [name] = await readdir(join(cache, 'grades'))
    const file = join(cache, 'grades', name!)
    await writeFile(file, `${await readFile(file, 'utf8')}\n{"submission":"x","row":{"stu`)
    await first.add(code, row('b'))

    const next = await openFinishedRows({ cache }, grading)
    expect(next.find('a', code)).toEqual(row('a'))
    expect(next.find('b', code)).toEqual(row('b'))
    expect(next.find('a', submissionHash('code', 'answers'))).toBeUndefined()
    const other = await openFinishedRows({ cache }, { ...grading, gpus: ['1'] })
    expect(other.find('a', code)).toBeUndefined()
    await next.forget()
    expect((await openFinishedRows({ cache }, grading)).find('a', code)).toBeUndefined()
  })
})
