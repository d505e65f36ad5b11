/** Limits that the kernel keeps, where it keeps any for this user. */
import { describe, expect, it } from 'vitest'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { findGroups } from '../../../src-main/adapters/sandbox/cgroup'

const memoryBytes = 128 * 2 ** 20
const make = await findGroups({ memoryBytes, tasks: 40 })

const inGroup = async (script: string) => {
  const group = await make!()
  const [file, ...args] = [...group.prefix, 'sh', '-c', script]
  const result = await runProcess({ file: file!, args, timeoutMs: 15_000 })
  const met = await group.met()
  await group.end()
  return { ...result, met }
}

describe('a control group', () => {
  it.skipIf(make === null)('ends what takes more memory, however fast it does', async () => {
    const { met, stdout } = await inGroup(
      `${process.execPath} -e 'Buffer.alloc(2 ** 28, 1); console.log("had it")'; exit 0`,
    )
    expect(stdout).not.toContain('had it')
    expect(met).toBe('memory')
  })

  it.skipIf(make === null)(
    'makes no more tasks than allowed, and ends those that stay',
    async () => {
      const { met } = await inGroup(
        'i=0; while [ $i -lt 60 ]; do setsid sleep 30 & i=$((i + 1)); done >/dev/null 2>&1; exit 0',
      )
      expect(met).toBe('tasks')
    },
  )
})
