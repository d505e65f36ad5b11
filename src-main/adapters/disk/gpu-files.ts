/**
 * Reads and writes GPU parameter files. `machine calibrate` writes the user's files, which take
 * precedence over shipped files.
 */
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  gpuParametersText,
  readGpuParameters,
  type GpuParameters,
} from '../../domain/prediction/gpu-parameters'
import { diskError, errorCode, makeFolder, replaceFile } from './disk'

export interface GpuFolders {
  /** Folder that contains the shipped parameter files, `assets.gpusDir`. */
  shipped: string
  /** Folder that contains the user's parameter files, `gpus` in the configuration folder. */
  own: string
}

/** Returns the folders that contain a host's parameter files. */
export const gpuFolders = ({
  assets,
  machine,
}: {
  assets: { gpusDir: string }
  machine: { folders: { config: string } }
}): GpuFolders => ({ shipped: assets.gpusDir, own: ownGpusFolder(machine.folders.config) })

export const ownGpusFolder = (config: string): string => join(config, 'gpus')

export interface FoundGpu {
  parameters: GpuParameters
  file: string
  /** Whether the user has calibrated this GPU. */
  own: boolean
}

async function readIn(folder: string, name: string): Promise<GpuParameters | null> {
  const file = join(folder, `${name}.json`)
  try {
    return readGpuParameters(await readFile(file, 'utf8'), file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw errorCode(error) === undefined ? error : diskError(error, file, 'read')
  }
}

/**
 * Returns a GPU's parameters by its id, such as `h200`. Returns null if no file exists. Throws an
 * input error if the file is invalid.
 */
export async function findGpu(
  { shipped, own }: GpuFolders,
  name: string,
): Promise<FoundGpu | null> {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) return null
  for (const folder of [own, shipped]) {
    const parameters = await readIn(folder, name)
    if (parameters) return { parameters, file: join(folder, `${name}.json`), own: folder === own }
  }
  return null
}

/** Returns the ids of all GPUs that have a parameter file, sorted. */
export async function listGpus({ shipped, own }: GpuFolders): Promise<string[]> {
  const names = await Promise.all(
    [own, shipped].map((folder) => readdir(folder).catch((): string[] => [])),
  )
  const ids = names.flat().filter((name) => name.endsWith('.json'))
  return [...new Set(ids.map((name) => name.slice(0, -'.json'.length)))].sort()
}

/** Writes the user's parameter file for a GPU and returns the file's path. */
export async function saveGpu(own: string, parameters: GpuParameters): Promise<string> {
  const file = join(own, `${parameters.name}.json`)
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, gpuParametersText(parameters))
  } catch (error) {
    throw diskError(error, file, 'write', 'other')
  }
  return file
}
