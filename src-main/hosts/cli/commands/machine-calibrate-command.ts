/** `kernel-ladder machine calibrate`: measures a GPU for the timing model. */
import { ownGpusFolder, saveGpu } from '../../../adapters/disk/gpu-files'
import type { SetUp } from '../../../adapters/machine/machine'
import type { GpuParameters } from '../../../domain/prediction/gpu-parameters'
import { parameterIds, valueEvidences } from '../../../domain/prediction/gpu-parameters'
import { parameterTable } from '../../../domain/prediction/parameter-table'
import { inEnglish } from '../../../domain/text/english'
import { calibrate } from '../../../services/calibrate/calibrate'
import { calibrateThere } from '../../../services/calibrate/calibrate-there'
import { machineCalibrateDocument } from '../documents/machine-calibrate'
import { gpuNumber } from '../option-values'
import { note, printJson, printText } from '../output'
import { abortOnStop } from '../stop-signals'
import { table } from '../table'

export interface CalibrateOptions {
  gpu?: string
  json?: boolean
}

export async function machineCalibrateCommand(
  setUp: SetUp,
  name: string,
  { gpu: given, json }: CalibrateOptions,
): Promise<number> {
  const gpu = given === undefined ? undefined : gpuNumber(given)
  const { machine, assets } = await setUp()
  const signal = abortOnStop('stopping; nothing is saved.')
  const onNotice = (notice: Parameters<typeof inEnglish>[0]): void => note(inEnglish(notice))
  const which = gpu === undefined ? [] : ['--gpu', String(gpu)]
  const { parameters, output } =
    name === machine.name
      ? await calibrate(machine, {
          kernelsDir: assets.kernelsDir,
          ...(gpu === undefined ? {} : { gpu }),
          ...{ signal, onNotice },
          onBuilding: (device) => note(`Building the microbenchmarks for ${device}, once.`),
          onGroup: (group, seconds) => note(`  measured ${group} (${seconds.toFixed(1)} s)`),
        })
      : await calibrateThere(
          machine.folders,
          name,
          ['machine', 'calibrate', machine.name, ...which, '--json'],
          { signal, onNotice, onNote: note },
        )
  const file = await saveGpu(ownGpusFolder(machine.folders.config), parameters)
  if (json) printJson(machineCalibrateDocument, { machine: name, file, parameters, output })
  else printText(calibrationText(parameters))
  note(`Saved in ${file}. --target predicted:${parameters.name} uses it from now on.`)
  return 0
}

function calibrationText({ gpu, values }: GpuParameters): string {
  const counts = valueEvidences.flatMap((evidence) => {
    const count = parameterIds.filter((id) => values[id].evidence === evidence).length
    return count === 0 ? [] : [`${count} ${evidence}`]
  })
  const rows = table(parameterIds, [
    { header: 'parameter', align: 'left', cell: (id) => id },
    { header: 'value', align: 'right', cell: (id) => String(values[id].value) },
    { header: 'spread', align: 'right', cell: (id) => String(values[id].spread ?? '') },
    { header: 'unit', align: 'left', cell: (id) => parameterTable[id].unit },
    { header: 'evidence', align: 'left', cell: (id) => values[id].evidence },
    { header: '', align: 'left', cell: (id) => parameterTable[id].about },
  ])
  return `${gpu}: ${counts.join(', ')}\n\n${rows}`
}
