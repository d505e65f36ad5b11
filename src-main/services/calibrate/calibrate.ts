/** Measures this machine's GPU and fits the timing model's parameters. */
import { readSharedFiles } from '../../adapters/catalog/catalog'
import type { Machine } from '../../adapters/machine/machine'
import type { ProcessResult } from '../../adapters/tools/process'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { readCalibration, readMeasurement } from '../../domain/prediction/calibration-output'
import { fitParameters } from '../../domain/prediction/fit-parameters'
import type { GpuParameters } from '../../domain/prediction/gpu-parameters'
import { smOf } from '../bench/architecture'
import { Bench } from '../bench/bench'
import { inTurn } from '../bench/gpu-turn'
import { buildCalibration } from '../bench/own-programs'
import { toolboxOn } from '../bench/visible-gpu'

export interface Calibration {
  parameters: GpuParameters
  /** The microbenchmarks' raw output. */
  output: string
}

interface CalibrationOptions {
  kernelsDir: string
  /** GPU index, on a machine with several GPUs. */
  gpu?: number
  signal: AbortSignal
  onNotice: (notice: Statement) => void
  onBuilding: (gpu: string) => void
  /** Called after each group of benchmarks. */
  onGroup: (name: string, seconds: number) => void
}

/**
 * A full calibration takes about 15 s, or several times as long if another program uses the GPU.
 */
const timeoutMs = 5 * 60_000

/** Returns 90a for sm_90, because WGMMA instructions need architecture-specific features. */
const withFeatures = (sm: string): string => (sm === '90' ? '90a' : sm)

/**
 * Returns the fitted parameters. Throws `missing` if the GPU or nvcc is missing, and an input error
 * if the measurements are implausible.
 */
export async function calibrate(
  machine: Machine,
  { kernelsDir, gpu, signal, ...on }: CalibrationOptions,
): Promise<Calibration> {
  const toolbox = toolboxOn(machine, null, gpu)
  const library = { root: kernelsDir, references: new Map() }
  const bench = await Bench.open({ toolbox, cache: machine.cache }, library, signal)
  const { device, pciBusId } = await bench.gpu()
  on.onBuilding(device.name)
  const program = await buildCalibration(
    await bench.compiler(),
    await readSharedFiles(kernelsDir, 'calibrate'),
    withFeatures(smOf(device)),
  )
  const result = await inTurn(
    { toolbox, gpu: { name: device.name, pciBusId }, wait: true, signal, onNotice: on.onNotice },
    () =>
      toolbox.exec({
        ...{ tool: 'runner', key: 'runner/calibrate', file: program, args: [], timeoutMs, signal },
        onStdoutLine(line) {
          const measurement = readMeasurement(line)
          if (measurement?.benchmark === 'group')
            on.onGroup(String(measurement.name), Number(measurement.seconds))
        },
      }),
  )
  requireSuccess(result)
  return { parameters: fitParameters(readCalibration(result.stdout)), output: result.stdout }
}

function requireSuccess({ outcome, exitCode, signal, stderr }: ProcessResult): void {
  if (outcome === 'exited' && exitCode === 0) return
  if (outcome === 'cancelled') throw new KernelLadderError('cancelled', message('asked.cancelled'))
  const why =
    outcome === 'timeout'
      ? message('calibration.stopped', { minutes: timeoutMs / 60_000 })
      : outcome === 'signalled'
        ? message('calibration.killed', { signal: signal ?? '' })
        : message('calibration.failed', {
            exitCode: `${exitCode}`,
            text: stderr.trim().split('\n').pop() ?? '',
          })
  // The program exits with code 3 if a CUDA call fails, for example because another program uses
  // the memory.
  throw new KernelLadderError(
    exitCode === 3 ? 'missing' : 'failed',
    why,
    message('calibration.idle'),
  )
}
