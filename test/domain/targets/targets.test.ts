import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunRequest } from '../../../src-main/contract'
import { templates } from '../../../src-main/domain/messages/english'
import {
  can,
  gpuOfTarget,
  isBuiltOnly,
  isMeasuredNow,
  labTargets,
  parseTarget,
  printTarget,
  runnableKinds,
  targetKinds,
  targetUsage,
} from '../../../src-main/domain/targets/targets'
import { SessionRef, recordingOf } from '../../../src-main/domain/session/session-ref'

describe('a target', () => {
  it.each([
    ['local', { kind: 'live', name: null }],
    ['recorded', { kind: 'recorded', name: null }],
    ['recorded:gemm-fp32-h200-1024', { kind: 'recorded', name: 'gemm-fp32-h200-1024' }],
    ['static:h200', { kind: 'static', name: 'h200' }],
    ['static:sm_90', { kind: 'static', name: 'sm_90' }],
    ['emulated', { kind: 'emulated', name: null }],
    ['emulated:h100', { kind: 'emulated', name: 'h100' }],
    ['titan-2', { kind: 'machine', name: 'titan-2' }],
  ] as const)('%s can be parsed and printed again', (text, target) => {
    expect(parseTarget(text)).toEqual(target)
    expect(printTarget(target)).toBe(text)
    expect(RunRequest.shape.target.safeParse(text).success).toBe(true)
  })

  it.each([
    '',
    'static',
    'static:',
    'static:H200',
    'recorded:',
    'recorded:a/b',
    'local:1',
    'live',
    'imported:x',
  ])('%j is not a target', (text) => {
    expect(parseTarget(text)).toBeNull()
    expect(RunRequest.shape.target.safeParse(text).success).toBe(false)
  })

  it('appears in the help in every notation, and in lab help only if labs support it', () => {
    const ways = 'local recorded recorded:<name> static:<gpu> emulated emulated:<gpu> <machine>'
    expect(targetUsage.split(', ')).toEqual(expect.arrayContaining(ways.split(' ')))
    expect(labTargets).toEqual(expect.arrayContaining(['local', 'recorded', 'emulated']))
    expect(labTargets).not.toContain('static:<gpu>')
  })

  it('on a machine without a GPU defaults to emulated, then to recorded, and then to static', () => {
    const kinds = runnableKinds.filter(({ kind }) => !can({ kind }).needsGpu)
    const order = ['emulated', 'recorded', 'static']
    expect(kinds.map(({ kind }) => kind).filter((kind) => order.includes(kind))).toEqual(order)
    expect(kinds[0]!.kind).toBe('emulated')
  })
})

describe("a target kind's capabilities", () => {
  it('distinguish builds from runs and replays', () => {
    const kinds = ['live', 'recorded', 'static', 'emulated', 'machine'] as const
    expect(kinds.filter((kind) => isBuiltOnly({ kind }))).toEqual(['static'])
    expect(kinds.filter((kind) => isMeasuredNow({ kind }))).toEqual(['live', 'machine'])
  })

  it('include a built-in GPU for a static target', () => {
    expect(gpuOfTarget({ kind: 'static', name: 'h200' })).toMatchObject({ smCount: 132 })
    expect(gpuOfTarget({ kind: 'recorded', name: 'h200' })).toBeNull()
  })
})

describe('a session ref', () => {
  it('refers to a recording, in target notation, or to a folder in the store', () => {
    expect(recordingOf('recorded:mine')).toBe('mine')
    expect(recordingOf('mine')).toBeNull()
    for (const ref of ['recorded:mine', 'recorded', 'mine-2'])
      expect(SessionRef.safeParse(ref).success).toBe(true)
    for (const ref of ['static:h200', 'recorded:', 'a/b', '../a', '', 'recorded:../a'])
      expect(SessionRef.safeParse(ref).success).toBe(false)
  })
})

describe('the texts for every target kind', () => {
  it.each(['en', 'ko', 'zh-CN'])('exist in %s', (language) => {
    const file = `../../../src-renderer/locales/${language}/screens.json`
    const { targets } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as {
      targets: Record<string, Record<string, string>>
    }
    expect(Object.keys(targets).sort()).toEqual(Object.keys(targetKinds).sort())
    const always = ['badge', 'tip', 'chart']
    for (const kind of Object.keys(targetKinds))
      expect(Object.keys(targets[kind]!), kind).toEqual(expect.arrayContaining(always))
    for (const { kind, syntax } of runnableKinds) {
      const { needsGpu, elsewhere } = can({ kind })
      const words = [
        ...always,
        ...(syntax.names === 'recordings' ? [] : ['choice', 'missing']),
        ...(syntax.names === 'gpus' ? ['gpu'] : []),
        ...(needsGpu || elsewhere ? [] : ['gives']),
      ]
      expect(Object.keys(targets[kind]!).sort(), kind).toEqual(words.sort())
    }
  })

  it('include the origin section of printed reports', () => {
    expect(Object.keys(templates.origin).sort()).toEqual(Object.keys(targetKinds).sort())
  })
})
