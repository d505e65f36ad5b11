import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  gpuParametersText,
  GpuParametersFile,
  parameterIds,
  parameterValues,
  readGpuParameters,
} from '../../../src-main/domain/prediction/gpu-parameters'
import { gpuFileTexts } from '../../../scripts/lib/gpu-files'
import { saying } from '../../support'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'resources/gpus')
const files = readdirSync(folder)
const read = (file: string): string => readFileSync(join(folder, file), 'utf8')

describe('the built-in parameter files', () => {
  it('cover the H200, H100, A100, T4, and RTX 3090', () => {
    expect(files).toEqual(['a100.json', 'h100.json', 'h200.json', 'rtx-3090.json', 't4.json'])
  })

  it('match the output of `npm run gpus`', () => {
    expect(new Map(files.map((file) => [file, read(file)]))).toEqual(gpuFileTexts(root))
  })

  it.each(files)('%s is valid and matches the published schema', (file) => {
    const gpu = readGpuParameters(read(file), file)
    expect(`${gpu.name}.json`).toBe(file)
    expect(GpuParametersFile.safeParse(JSON.parse(read(file))).success).toBe(true)
    expect(Object.keys(parameterValues(gpu))).toEqual(parameterIds)
    expect(gpuParametersText(gpu)).toBe(read(file))
  })

  it.each(files)(
    '%s claims a measurement only if benchmark output from that GPU is stored',
    (file) => {
      const kept = readdirSync(join(root, 'test/captures/calibrate')).includes(`${file}l`)
      const { values } = readGpuParameters(read(file), file)
      expect(parameterIds.some((id) => values[id].evidence === 'measured')).toBe(kept)
    },
  )
})

describe('an invalid file', () => {
  const good = JSON.parse(read('h100.json')) as {
    values: Record<string, Record<string, unknown>>
  }
  const withValues = (change: (values: typeof good.values) => unknown): string => {
    const copy = structuredClone(good)
    change(copy.values)
    return JSON.stringify(copy)
  }
  const refusal = (text: string): unknown => {
    try {
      readGpuParameters(text, 'mine.json')
    } catch (error) {
      return error
    }
    return null
  }

  it.each([
    [
      'lacks a value',
      (values: typeof good.values) => delete values.latencyL2,
      /has no value for latencyL2/,
      /machine calibrate/,
    ],
    [
      'has an out-of-range value',
      (values: typeof good.values) => (values.clockMHz!.value = 1e9),
      /clockMHz is 1000000000 MHz, which is not between 200 and 5000/,
      /Correct the value/,
    ],
    [
      'has a negative value',
      (values: typeof good.values) => (values.latencyL2!.value = -1),
      /latencyL2 is -1 cycles/,
      /Correct the value/,
    ],
    [
      'has null, as JSON writes NaN',
      (values: typeof good.values) => (values.latencyL2!.value = null),
      /expected number.*latencyL2/,
      /Correct the value/,
    ],
    [
      'has a string',
      (values: typeof good.values) => (values.latencyL2!.value = '276'),
      /expected number.*latencyL2/,
      /Correct the value/,
    ],
    [
      'has an unknown kind of evidence',
      (values: typeof good.values) => (values.latencyL2!.evidence = 'guessed'),
      /latencyL2\.evidence/,
      /Correct/,
    ],
    [
      'has an unknown parameter',
      (values: typeof good.values) => (values.latencyL3 = values.latencyL2!),
      /value for latencyL3, which is not a parameter/,
      /Remove the value, or rename it to latencyL/,
    ],
    [
      'has an unrecognizable parameter',
      (values: typeof good.values) => (values.zzzzzzzzzzzz = values.latencyL2!),
      /zzzzzzzzzzzz/,
      /^Remove the value\.$/,
    ],
  ])('that %s is rejected with an error message and a remedy', (_, change, sentence, remedy) => {
    expect(refusal(withValues(change))).toMatchObject({
      ...{ kind: 'input', statement: saying(sentence), remedy: saying(remedy) },
    })
  })

  it.each([
    ['nothing', ''],
    ['NaN', read('h100.json').replace(/"value":[\d.]+/, '"value":NaN')],
    ['null', 'null'],
    ['a list', '[]'],
    ['a truncated file', read('h100.json').slice(0, 1000)],
    ['a prototype key', read('h100.json').replace('"smCount"', '"__proto__"')],
    ['a name with a path', read('h100.json').replace('"h100"', '"../h100"')],
    [
      'a different version',
      read('h100.json').replace('"kernel_ladder_gpu": 1', '"kernel_ladder_gpu": 2'),
    ],
    ['an unknown key', read('h100.json').replace('"validated"', '"checked"')],
    ['infinity', read('h100.json').replace(/"value":[\d.]+/, '"value":1e999')],
    ['a deeply nested list', '['.repeat(100_000)],
    ['an inherited key', read('h100.json').replace('"smCount"', '"constructor"')],
  ])('with %s is rejected with an input error', (_, text) => {
    expect(refusal(text)).toMatchObject({ kind: 'input', statement: saying('mine.json') })
  })
})
