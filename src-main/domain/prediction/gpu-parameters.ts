/**
 * A parameter file: the timing model's values for one GPU. Built-in files are in `resources/gpus`.
 * `machine calibrate` writes files for the user's GPUs.
 */
import { z } from 'zod'
import { inputError, schemaFault } from '../errors'
import { gpus as knownGpus } from '../gpu/gpu-table'
import { message } from '../messages/message'
import { nearest } from '../text/nearest'
import { parameterTable, type ParameterId, type ParameterValues } from './parameter-table'

/**
 * Evidence for a value. The evidence is a benchmark result as printed, arithmetic on such results,
 * or a cited publication. An assumed value comes from a similar GPU and was not measured on this
 * GPU.
 */
export const valueEvidences = ['measured', 'derived', 'published', 'assumed'] as const

const ParameterValue = z.strictObject({
  value: z.number().describe('In the unit of docs/guides/calibration.md.'),
  evidence: z.enum(valueEvidences),
  /** Spread over the benchmark's repetitions, in the unit of the value. */
  spread: z
    .number()
    .nonnegative()
    .optional()
    .describe('Half the range of the middle 80 % of the repetitions.'),
  source: z.string().min(1).max(500).describe('The benchmark’s line, or the publication.'),
})
export type ParameterValue = z.infer<typeof ParameterValue>

export const parameterIds = Object.keys(parameterTable) as ParameterId[]

const head = {
  $schema: z.string().optional(),
  kernel_ladder_gpu: z.literal(1).describe('The version of this format.'),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,59}$/)
    .describe('What --target predicted: calls it, which is also the name of the file.'),
  gpu: z.string().min(1).max(200).describe('The name that CUDA gives it.'),
  computeCapability: z.string().regex(/^\d{1,2}\.\d$/),
  validated: z
    .boolean()
    .describe(
      'Whether predictions with these values were compared with times measured on this GPU.',
    ),
}

/** The published schema, with every parameter and its range. */
export const GpuParametersFile = z.strictObject({
  ...head,
  values: z.strictObject(
    Object.fromEntries(
      parameterIds.map((id) => {
        const { range, unit, about } = parameterTable[id]
        const value = z.number().min(range[0]).max(range[1])
        return [id, ParameterValue.extend({ value }).describe(`${about}, in ${unit}.`)]
      }),
    ),
  ),
})

const AnyFile = z.strictObject({ ...head, values: z.record(z.string(), ParameterValue) })

export interface GpuParameters extends Omit<z.infer<typeof AnyFile>, '$schema' | 'values'> {
  values: Record<ParameterId, ParameterValue>
}

/** Returns the numeric values of the parameters, without their evidence, for the model. */
export const parameterValues = ({ values }: Pick<GpuParameters, 'values'>): ParameterValues =>
  Object.fromEntries(parameterIds.map((id) => [id, values[id].value])) as ParameterValues

/** Returns whether a value is within the parameter's range. NaN and infinity are never in range. */
export const isPlausible = (id: ParameterId, value: number): boolean =>
  value >= parameterTable[id].range[0] && value <= parameterTable[id].range[1]

const isParameter = (id: string): id is ParameterId => Object.hasOwn(parameterTable, id)

/**
 * Parses a parameter file. Throws an input error that names the first invalid value. `file` is used
 * only in error messages.
 */
export function readGpuParameters(text: string, file: string): GpuParameters {
  const parsed = AnyFile.safeParse(parseJson(text, file))
  if (!parsed.success)
    throw inputError(
      message('calibration.notFile', { file, text: schemaFault(parsed.error) }),
      message('calibration.fixValue'),
    )
  const { $schema: _, values, ...rest } = parsed.data
  const missing = parameterIds.find((id) => !Object.hasOwn(values, id))
  if (missing)
    throw inputError(
      message('calibration.missingValue', { file, id: missing }),
      message('calibration.fixValue'),
    )
  for (const [id, { value }] of Object.entries(values)) {
    if (!isParameter(id)) {
      const near = nearest(id, parameterIds)
      throw inputError(
        message('calibration.unknownValue', { file, id }),
        near === null
          ? message('calibration.removeValue')
          : message('calibration.renameValue', { near }),
      )
    }
    if (isPlausible(id, value)) continue
    const { unit, range } = parameterTable[id]
    throw inputError(
      message('calibration.outOfRange', { file, id, value, unit, low: range[0], high: range[1] }),
      message('calibration.fixValue'),
    )
  }
  return { ...rest, values: values as GpuParameters['values'] }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw inputError(
      message('calibration.notJson', { file, text: reason }),
      message('calibration.fixValue'),
    )
  }
}

/** Returns the text of a parameter file, with one line per value. */
export function gpuParametersText({ values, ...head }: GpuParameters): string {
  const lines = parameterIds.map((id) => `    ${JSON.stringify(id)}: ${JSON.stringify(values[id])}`)
  const top = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  )
  return `{\n${top.join('\n')}\n  "values": {\n${lines.join(',\n')}\n  }\n}\n`
}

/** Matches a suffix of a GPU name that denotes a different GPU. */
const otherGpu = /^(ti|super|laptop|max|d|nvl|mig)\b/

/**
 * Returns the GPU id for a device name from CUDA: an id from the GPU table, or else the device name
 * in lower case with dashes.
 */
export function gpuId(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/\b(nvidia|geforce|tesla|quadro)\b/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const [known] = knownGpus
    .map(({ id }) => id)
    .filter(
      (id) =>
        slug === id || (slug.startsWith(`${id}-`) && !otherGpu.test(slug.slice(id.length + 1))),
    )
    .sort((a, b) => b.length - a.length)
  return known ?? (slug === '' ? 'gpu' : slug)
}
