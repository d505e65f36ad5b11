/** The deep level over a recording that is made of captures: what ncu printed on an H200. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readDeep } from '../../../src-main/adapters/sessions/deep-store'
import { runNcu, type NcuAnswer } from '../../../src-main/adapters/tools/ncu'
import { rawRecorder } from '../../../src-main/adapters/tools/raw-files'
import { recordedToolbox } from '../../../src-main/adapters/tools/recorded-toolbox'
import { draftSession } from '../../../src-main/adapters/sessions/session-store'
import type { ToolCall, Toolbox } from '../../../src-main/adapters/tools/toolbox'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import { ncuCapture } from '../../parsers/captures'
import { tempDir } from '../support'
import { said } from '../../said'

const captures: Record<string, string> = {
  'ncu/profile': 'import-set-full',
  'ncu/source-lines': 'source-cuda-sass',
  'ncu/details': 'import-details',
}

async function recording(without: readonly string[] = []): Promise<string> {
  const dir = await tempDir()
  const recorder = rawRecorder(dir, [])
  for (const [key, name] of Object.entries(captures))
    if (!without.includes(key))
      await recorder.record(
        {
          key,
          tool: 'ncu',
          argv: ['ncu'],
          outcome: 'exited',
          exitCode: 0,
          signal: null,
          seconds: 1,
          startedAt: '2026-11-21T02:45:00.000Z',
        },
        ncuCapture(name),
        '',
      )
  return dir
}

const watched = (toolbox: Toolbox): { toolbox: Toolbox; calls: ToolCall[] } => {
  const calls: ToolCall[] = []
  return {
    calls,
    toolbox: {
      ...toolbox,
      exec: (call) => {
        calls.push(call)
        return toolbox.exec(call)
      },
    },
  }
}

const profiled = (toolbox: Toolbox, level: 'card' | 'deep' = 'deep'): Promise<NcuAnswer> =>
  runNcu(toolbox, {
    ncu: 'ncu',
    level,
    command: ['./runner', 'profile'],
    reportPath: '/session/profile.ncu-rep',
    idleMs: 1000,
    signal: new AbortController().signal,
    onEvent: () => undefined,
  })

describe('profiling at the deep level', () => {
  it('collects once, with the full set and the sources, and prints three pages of the report', async () => {
    const { toolbox, calls } = watched(recordedToolbox(await recording()))
    await profiled(toolbox)
    expect(calls.map(({ key }) => key)).toEqual([
      'ncu/profile',
      'ncu/source-sass',
      'ncu/source-lines',
      'ncu/details',
    ])
    expect(calls[0]!.args.join(' ')).toMatch(/--set full --import-source yes .*--metrics \S+/)
    for (const { args } of calls.slice(1))
      expect(args.slice(0, 3)).toEqual(['--import', '/session/profile.ncu-rep', '--csv'])
  })

  it('asks for none of that at the card level', async () => {
    const { toolbox, calls } = watched(recordedToolbox(await recording()))
    const { deep } = await profiled(toolbox, 'card')
    expect(calls.map(({ key }) => key)).toEqual(['ncu/profile'])
    expect(calls[0]!.args).not.toContain('--set')
    expect([...deep.keys()]).toEqual([])
  })

  it('still has the seven figures of the card, and says the passes it took', async () => {
    const { byRung } = await profiled(recordedToolbox(await recording()))
    for (const { metrics, profile } of byRung.values()) {
      for (const id of cardMetricIds)
        expect(metrics[id], id).toMatchObject({ evidence: 'measured' })
      expect(profile.passes).toBe(38)
    }
  })

  it('knows lines, instructions and advice of each rung', async () => {
    const { deep } = await profiled(recordedToolbox(await recording()))
    expect([...deep.keys()]).toEqual(['03_a', '04_b'])
    const [kernel] = deep.get('03_a')!.kernels
    expect(kernel!.instructions).toHaveLength(160)
    expect(kernel!.lines.length).toBeGreaterThan(0)
    expect(kernel!.rules.length).toBeGreaterThan(0)
  })

  it('says which page is missing, and keeps the rest', async () => {
    const { byRung, deep, deepTroubles } = await profiled(
      recordedToolbox(await recording(['ncu/source-lines', 'ncu/details'])),
    )
    expect(byRung.size).toBe(2)
    expect(said(deepTroubles).join(' ')).toMatch(/did not print its source page.*details page/)
    expect(deep.get('03_a')!.kernels[0]).toMatchObject({ instructions: [], lines: [], rules: [] })
  })
})

describe('a deep profile on disk', () => {
  const saved = async () => {
    const { deep } = await profiled(recordedToolbox(await recording()))
    const draft = await draftSession(join(await tempDir(), 'session'))
    for (const profile of deep.values()) await draft.addDeep(profile)
    return { folder: draft.path, profile: deep.get('03_a')! }
  }

  it('lies in a file of its own and reads as it was written', async () => {
    const { folder, profile } = await saved()
    expect(await readdir(join(folder, 'deep'))).toEqual(['03_a.json', '04_b.json'])
    expect(await readDeep(folder, '03_a')).toEqual(profile)
  })

  it('is null for a rung without one, and in a session without any', async () => {
    const { folder } = await saved()
    expect(await readDeep(folder, '99_none')).toBeNull()
    expect(await readDeep(await tempDir(), '03_a')).toBeNull()
  })

  it.each([
    ['cut off', (text: string) => text.slice(0, 100), /03_a\.json.*not JSON/],
    ['something else', () => '[]', /03_a\.json cannot be read as a deep profile/],
    ['of a newer version', () => '{"schema":99}', /schema 99.*newer kernel-ladder/],
    [
      'wrong in one figure',
      (text: string) => text.replace('"executed":32768', '"executed":"many"'),
      /kernels\.0\.instructions\.0\.executed/,
    ],
  ])('that is %s is refused by its name', async (_what, damage, message) => {
    const { folder } = await saved()
    const path = join(folder, 'deep', '03_a.json')
    await writeFile(path, damage(await readFile(path, 'utf8')))
    await expect(readDeep(folder, '03_a')).rejects.toThrow(message)
  })

  it.each(['../session', 'a/b', '..', ''])('is never looked for at %j', async (rung) => {
    await expect(readDeep(await tempDir(), rung)).rejects.toThrow()
  })
})
