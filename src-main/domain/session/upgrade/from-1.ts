/**
 * Upgrades JSON of version 1 to version 2: its English sentences become messages. This is the only place that
 * recognizes sentences. Damaged values are passed through, for the schema to reject. Pure.
 */
import type { Task } from '../../task/task'
import { recognizeAll, recognizeLabel } from './recognize'

/** Values of a file before validation by its schema. */
export type Json = unknown
export type JsonRecord = Record<string, unknown>

export const isRecord = (value: Json): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Maps the objects in a list; anything else is unchanged. */
export const eachRecord = (value: Json, change: (record: JsonRecord) => JsonRecord): Json =>
  Array.isArray(value) ? value.map((one: Json) => (isRecord(one) ? change(one) : one)) : value

/** The record with a part changed, if present. */
export const withPart = (
  record: JsonRecord,
  key: string,
  change: (value: Json) => Json,
): JsonRecord => (Object.hasOwn(record, key) ? { ...record, [key]: change(record[key]) } : record)

// Version 1 knew only one task, the matrix product, and used fixed fields for its names. Here they become values
// of that task, which sessions of version 2 carry. The task is frozen as it was then.

const uniform = { kind: 'uniform', lo: -1, hi: 1 } as const
const most = 2 ** 28

export const taskOfVersion1: Task = {
  id: 'gemm',
  title: 'Matrix product',
  summary: 'C = alpha·A·B + beta·C, row-major: A is m×k, B is k×n, C is m×n',
  formula: 'C = alpha A B + beta C',
  result: 'the product',
  struct: 'KlGemm',
  sizes: {
    m: { title: 'rows of A and C', max: most },
    n: { title: 'columns of B and C', max: most },
    k: { title: 'columns of A, rows of B', max: most },
  },
  scalars: { alpha: { dtype: 'f32', value: 1 }, beta: { dtype: 'f32', value: 0 } },
  options: {
    dtype: { title: 'type of the inputs', field: 'dtype', choices: { f32: 0, f16: 1, bf16: 2 } },
  },
  flags: {
    header: 'epilogue',
    values: {
      bias: { title: 'a bias' },
      relu: { title: 'ReLU', field: 'activation', value: 1, enum: { KL_NONE: 0, KL_RELU: 1 } },
    },
  },
  buffers: {
    a: { dtype: 'dtype', shape: ['m', 'k'], access: 'in', fill: uniform, name: 'A' },
    b: { dtype: 'dtype', shape: ['k', 'n'], access: 'in', fill: uniform, name: 'B' },
    c: {
      dtype: 'f32',
      shape: ['m', 'n'],
      access: 'inout',
      read_when: 'beta',
      fill: uniform,
      name: 'C',
    },
    bias: { dtype: 'f32', shape: ['n'], access: 'in', when: 'bias', fill: uniform },
  },
  reference: 'reference.cu',
  check: { c: { scale: true, bound: '4*sqrt(k)*pow(2,-24)' } },
  work: {
    flops: '2*m*n*k',
    reads: 'dtype.bytes*(m*k + k*n) + 4*m*n*ceil(min(1, abs(beta))) + 4*n*bias',
    writes: '4*m*n',
    tensor: { dtype: ['f16', 'bf16'] },
  },
  sanitize: { m: 131, n: 136, k: 72 },
}

function problem(old: Json): Json {
  if (!isRecord(old)) return old
  const { m, n, k, alpha, beta, dtype } = old
  return { sizes: { m, n, k }, scalars: { alpha, beta }, options: { dtype } }
}

const mismatch = (old: Json): Json => {
  if (!isRecord(old)) return old
  const { row, col, ...values } = old
  return { buffer: 'c', index: [row, col], ...values }
}

const verify = (old: Json): Json => {
  if (!isRecord(old)) return old
  return {
    ...withPart(old, 'firstMismatch', mismatch),
    outOfBounds: old.outOfBounds === true ? ['c'] : [],
    changedInputs: [],
  }
}

const rung = ({ epilogue = [], ...old }: JsonRecord): JsonRecord => {
  const verified = withPart({ ...old, flags: epilogue }, 'verify', verify)
  return withPart(verified, 'alsoVerified', (all) =>
    eachRecord(all, (one) => withPart(withPart(one, 'problem', problem), 'verify', verify)),
  )
}

const header =
  (isKnown: boolean) =>
  (old: Json): Json => {
    if (!isRecord(old)) return old
    const { dtypes, epilogue = [], ...rest } = old
    return { ...rest, options: isKnown ? { dtype: dtypes } : {}, flags: epilogue }
  }

const ladder =
  (isKnown: boolean) =>
  (old: Json): Json => {
    if (!isRecord(old)) return old
    const { dtype, alpha, beta, ...rest } = old
    return {
      ...withPart(rest, 'rungs', (rungs) =>
        eachRecord(rungs, ({ dtype: own, ...one }) => ({
          ...withPart(one, 'header', header(isKnown)),
          ...(own === undefined ? {} : { options: { dtype: own } }),
        })),
      ),
      task: isKnown ? taskOfVersion1 : null,
      scalars: isKnown ? { alpha, beta } : {},
      options: isKnown ? { dtype } : {},
      // An import had all sizes set to 1 instead of none.
      ...(isKnown ? {} : { sizes: [] }),
    }
  }

/** A session of version 1 with its task, and all fields of the matrix product as its values. */
export function withTask(session: JsonRecord): JsonRecord {
  const target = session.target
  const isKnown = !(isRecord(target) && target.kind === 'imported')
  return {
    ...withPart(session, 'ladder', ladder(isKnown)),
    problem: isKnown ? problem(session.problem) : null,
    rungs: eachRecord(session.rungs, rung),
  }
}

/** A copy in which the value at the path is mapped; `*` stands for every item or value. */
function at(
  value: unknown,
  [step, ...rest]: readonly string[],
  map: (found: unknown) => unknown,
): unknown {
  if (step === undefined) return map(value)
  if (typeof value !== 'object' || value === null) return value
  const within = (one: unknown): unknown => at(one, rest, map)
  if (Array.isArray(value)) return step === '*' ? value.map(within) : value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      step === '*' || step === key ? within(one) : one,
    ]),
  )
}

const mapAll = (
  value: unknown,
  paths: readonly string[],
  map: (found: unknown) => unknown,
): unknown => paths.reduce((so, path) => at(so, path.split('.'), map), value)

/** A session repeats the same text for many figures, so each text is parsed once. */
function inText(read: (text: string) => unknown): (found: unknown) => unknown {
  const known = new Map<string, unknown>()
  return (found) => {
    if (typeof found !== 'string') return found
    if (!known.has(found)) known.set(found, read(found))
    return known.get(found)
  }
}

const numbered = (value: unknown, version: Record<string, number>): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value, ...version }
    : value

export const sessionFrom1 = (session: unknown): unknown =>
  numbered(
    mapAll(
      isRecord(session) ? withTask(session) : session,
      ['warnings.*', 'rungs.*.reason', 'rungs.*.alsoVerified.*.reason', 'rungs.*.metrics.*.reason'],
      inText(recognizeAll),
    ),
    { schema: 2 },
  )

export const frozenReportFrom1 = (report: unknown): unknown =>
  numbered(at(report, ['sessions', '*', 'session'], sessionFrom1), { report: 2 })

/** Packed for a report or not, its sentences are in its notes. */
export const deepFrom1 = (profile: unknown): unknown =>
  numbered(at(profile, ['notes', '*'], inText(recognizeAll)), { schema: 2 })

export const labOutcomeFrom1 = (outcome: unknown): unknown =>
  numbered(
    mapAll(
      mapAll(
        outcome,
        [
          'reason',
          'build.reason',
          'checks.*.sentence',
          'checks.*.figures.*.value.reason',
          'predictions.*.before.reason',
          'predictions.*.after.reason',
          'predictions.*.sentence',
          'predictions.*.explanation.*',
          'questions.*.sentence',
        ],
        inText(recognizeAll),
      ),
      ['checks.*.title', 'checks.*.figures.*.label', 'predictions.*.label'],
      inText(recognizeLabel),
    ),
    { schema: 2 },
  )

/** By lab check: an object with the reason why no tool ran, or the tools. */
export const sanitizerVerdictsFrom1 = (verdicts: unknown): unknown => ({
  schema: 2,
  verdicts: mapAll(verdicts, ['*.reason', '*.*.reason'], inText(recognizeAll)),
})
