import { expect, it } from 'vitest'
import { parseRecordedProgram } from '../../../src-main/parsers/cuda/recorded-program'

const launch = {
  event: 'launch',
  cooperative: false,
  symbols: [],
  pointers: [{ parameter: 0, allocation: 1, offset: 0, bytes: 64, filled: false, sample: [] }],
  name: 'f(float*)',
  mangled: '_Z1fPf',
  grid: [1, 1, 1],
  block: [32, 1, 1],
  dynamicSharedBytes: 0,
  clusterBlocks: 0,
  arguments: '0000000000000000',
}

it('launches before a program was stopped are included', () => {
  const lines = ['{"event":"kernel","mangled":"_Z1fPf","name":"f(float*)"}', JSON.stringify(launch)]
  const found = parseRecordedProgram(`${lines.join('\n')}\n${JSON.stringify(launch).slice(0, 40)}`)
  expect(found.kernels).toEqual(new Map([['_Z1fPf', 'f(float*)']]))
  expect(found.launches).toHaveLength(1)
  expect(found).toMatchObject({ ended: null, error: null })
})

it('the exit of a program that ended on its own is reported', () => {
  expect(parseRecordedProgram('{"event":"ended","how":"exit","launches":3}').ended).toEqual({
    how: 'exit',
    launches: 3,
  })
})

it("a program's own output is not a launch", () => {
  const forged = JSON.stringify({ ...launch, grid: 'many' })
  expect(parseRecordedProgram(`{"event":"launch"}\n${forged}\nhello\n{`).launches).toEqual([])
})
