/** Parameter files of GPUs for the timing model: read, and every value held against what makes sense. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import {
  parameterTable,
  type ParameterId,
  type ParameterValues,
} from '../../domain/prediction/parameter-table'
import type { PredictionGpu } from '../../domain/prediction/prediction'
import { parseJsonWithin } from '../../parsers/json-within'
import { errorCode, readPlainFile } from '../disk/disk'

const ParameterFile = z.object({
  validated: z.boolean(),
  values: z.record(z.string(), z.union([z.number(), z.object({ value: z.number() })])),
})

export interface ParameterSet extends PredictionGpu {
  /** SHA-256 of the file, hex. */
  hash: string
}

const ids = Object.keys(parameterTable) as ParameterId[]

/** The GPUs that have a parameter file in a folder, by the names of the GPU table. */
export async function parameterFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => [])
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .toSorted()
}

/** The parameters of a GPU; null without a file. Throws an input error if a value is missing or makes no sense. */
export async function readParameters(folder: string, gpu: string): Promise<ParameterSet | null> {
  const file = join(folder, `${gpu}.json`)
  let text: string
  try {
    text = await readPlainFile(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw error
  }
  const refuse = (why: Statement) =>
    inputError(
      message('prediction.badParameters', { file: `${gpu}.json`, why }),
      message('prediction.calibrateAgain'),
    )
  const json = parseJsonWithin(text)
  if ('refused' in json) throw refuse(json.refused)
  const parsed = ParameterFile.safeParse(json.value)
  if (!parsed.success) throw refuse(z.prettifyError(parsed.error).split('\n')[0]!)
  const { validated, values: stated } = parsed.data
  const values = Object.fromEntries(
    ids.map((id) => {
      const found = stated[id]
      const value = typeof found === 'object' ? found.value : found
      const { unit, range } = parameterTable[id]
      if (value === undefined) throw refuse(message('prediction.missingParameter', { id }))
      if (value < range[0] || value > range[1])
        throw refuse(
          message('prediction.absurdParameter', {
            ...{ id, value: String(value), unit },
            ...{ low: String(range[0]), high: String(range[1]) },
          }),
        )
      return [id, value]
    }),
  ) as Record<ParameterId, number> satisfies ParameterValues
  return { values, validated, hash: createHash('sha256').update(text).digest('hex') }
}
