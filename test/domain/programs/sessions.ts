/** Sessions of kernels under ncu, as a program or an import makes them. */
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { profiledTime } from '../../../src-main/domain/programs/profiled-time'
import type { RungResult, Session } from '../../../src-main/domain/session/session'

export interface SampleKernel {
  name: string
  grid?: number
  block?: number
  range?: string
  /** Of each launch, in ms. */
  ms: number | number[]
}

const base = await readSession('resources/recordings/gemm-fp32-h200-1024')
export const ladder: Session = base

const rungOf = ({ name, grid = 64, block = 256, range, ms }: SampleKernel, index: number) => {
  const id = `${String(index).padStart(2, '0')}_kernel`
  const rung: RungResult = {
    ...base.rungs[0]!,
    id,
    title: name,
    timing: null,
    profiledTime: profiledTime([ms].flat())!,
    profile: {
      passes: 1,
      kernels: [
        {
          name,
          grid: [grid, 1, 1],
          block: [block, 1, 1],
          passes: 1,
          ...(range === undefined ? {} : { range }),
        },
      ],
    },
  }
  return rung
}

export const kernels = (id: string, list: readonly SampleKernel[]): Session => ({
  ...base,
  id,
  target: { kind: 'imported', name: `${id}.ncu-rep` },
  problem: null,
  rungs: list.map(rungOf),
})
