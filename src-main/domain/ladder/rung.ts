/** What a rung's header block declares. The header is the only registry of rungs. */
import { z } from 'zod'
import { PythonPackage } from '../task/python-rung'

/** The number that an id starts with: `05_thread_tile_2d` → `05`. The hash of a commit may begin with digits and has none. */
export const numberOfId = (id: string): string | null =>
  /^\d{1,4}(?=[a-z]?(?![\da-z]))/i.exec(id)?.[0] ?? null

/** Rung and ladder ids become file names, arguments and URLs: letters, digits, `_`, `-` and `.`. */
export const Identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/, {
  message:
    'An id consists of letters, digits, "_", "-" and ".", and begins with a letter or a digit.',
})

export const expectDirections = ['up', 'down', 'same'] as const
export const Expectation = z.object({ metric: z.string(), direction: z.enum(expectDirections) })
export type Expectation = z.infer<typeof Expectation>

export const RungParameter = z.object({
  /** The macro passed to nvcc as -DNAME=value. */
  name: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  default: z.number().int(),
  allowed: z.array(z.number().int()),
})
export type RungParameter = z.infer<typeof RungParameter>

/** A rung's file is CUDA C++, or Python. */
export const isPythonFile = (file: string): boolean => file.endsWith('.py')

/** Or PTX, machine code, or a shared library, compiled elsewhere: such a file has no header. */
export const isCompiledFile = (file: string): boolean => /\.(ptx|cubin|so)$/.test(file)

/** Of these, one that is launched as its ladder describes. */
export const isKernelFile = (file: string): boolean => /\.(ptx|cubin)$/.test(file)

/** Of these, one that is not text. */
export const isBinaryFile = (file: string): boolean => /\.(cubin|so)$/.test(file)

/** In the order in which a rung's file is looked for: what was compiled of a source often lies beside it. */
export const sourceEndings = ['.cu', '.py'] as const
export const compiledEndings = ['.ptx', '.cubin', '.so'] as const

/** The name of a rung's file, which is its id, with its ending; null if it is no rung's. */
export const rungFileId = (name: string): string | null =>
  /^([^/]+)\.(?:cu|py|ptx|cubin|so)$/.exec(name)?.[1] ?? null

export const RungHeader = z.object({
  id: Identifier,
  title: z.string().min(1),
  after: Identifier.nullable(),
  /** One sentence: what changes and why it should pay off. */
  idea: z.string().min(1),
  expect: z.array(Expectation),
  params: z.array(RungParameter),
  /** By option of the task: the choices that it supports. */
  options: z.record(z.string(), z.array(z.string()).min(1)),
  /** Flags of the task that it turns on, in the task's order. */
  flags: z.array(z.string()),
  /** Minimum compute capability as nvcc spells it (`sm_75`), optionally with a feature letter (`sm_90a`). */
  requires: z
    .string()
    .regex(/^sm_\d{2,3}[af]?$/)
    .nullable(),
  /** Of a rung in Python. */
  package: PythonPackage.optional(),
})
export type RungHeader = z.infer<typeof RungHeader>

/** Macro values that a rung is compiled with. */
export const Parameters = z.record(z.string(), z.number().int())
export type Parameters = z.infer<typeof Parameters>

/** Of CUDA C++, and of Python. */
const comment = /^\s*(?:\/\/|#(?:\s|$))/

/** Number of lines of a source's header comment; 0 if it has none. */
export function headerLines(text: string): number {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !comment.test(line))
  const count = first < 0 ? lines.length : first
  return lines.slice(0, count).some((line) => /^\s*(?:\/\/|#)\s*@rung\b/.test(line)) ? count : 0
}

/** The source with the parameters that it was compiled with in place of the defaults of its header: what sets a variant apart. */
export const asCompiled = (source: string, params: Parameters): string =>
  source.replace(
    /^(\s*(?:\/\/|#)\s*@param\s+([A-Z][A-Z0-9_]*)\s+)(-?\d+)/gm,
    (line, start: string, name: string) => `${start}${params[name] ?? line.slice(start.length)}`,
  )
