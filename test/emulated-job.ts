/** A captured rung as a job for the emulator, as a run makes it. */
import { fillBuffer } from '../src-main/domain/emulator/fills'
import type { LaunchPlaces } from '../src-main/domain/emulation/findings'
import type { EmulationJob } from '../src-main/domain/emulation/job'
import { readCubin } from '../src-main/parsers/cubin/cubin'
import type { CapturedRung } from './emulated-captures'

export const capturedJob = (rung: CapturedRung, seed: number): EmulationJob => ({
  machineCode: rung.cubins.map((cubin) => readCubin(Buffer.from(cubin, 'hex'))),
  launches: rung.launches.map((launch) => ({
    ...launch,
    arguments: new Uint8Array(Buffer.from(launch.arguments, 'hex')),
  })),
  memory: rung.memory.map(({ before, to, from, value, bytes }) => ({
    ...{ before, bytes, to: BigInt(to), value: value ?? 0 },
    from: from === undefined ? null : BigInt(from),
  })),
  workspaceBytes: rung.workspaceBytes,
  symbols: [],
  stackBytes: null,
  buffers: rung.buffers.map(({ name, dtype, bytes, fill, stream }) => {
    const contents = fill ? new Uint8Array(bytes) : null
    if (fill && contents) fillBuffer(contents, dtype, fill, seed, stream)
    return { name, bytes, contents, writable: contents === null }
  }),
  checks: false,
  limit: 1e8,
  memoryBytes: 2 ** 30,
})

export const placesOf = ({ launches, machineCode }: EmulationJob): LaunchPlaces[] =>
  launches.map(({ kernel: name, grid, block }) => ({
    kernel: machineCode.flatMap(({ kernels }) => kernels).find((each) => each.name === name)!,
    ...{ name, grid, block },
  }))
