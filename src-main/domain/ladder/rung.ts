/** The contents of a rung's header block. The header is the only registry of rungs. */
import { z } from 'zod'
import { PythonPackage } from '../task/python-rung'

/** Returns the number at the start of an id: `05_thread_tile_2d` → `05`. A commit hash may begin with digits but has no number. */
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

/** Whether a rung's file is Python rather than CUDA C++. */
export const isPythonFile = (file: string): boolean => file.endsWith('.py')

/** Whether a file was compiled elsewhere (PTX, machine code or a shared library); such files have no header. */
export const isCompiledFile = (file: string): boolean => /\.(ptx|cubin|so)$/.test(file)

/** Whether a compiled file is launched as its ladder describes. */
export const isKernelFile = (file: string): boolean => /\.(ptx|cubin)$/.test(file)

/** Whether a compiled file is binary. */
export const isBinaryFile = (file: string): boolean => /\.(cubin|so)$/.test(file)

/** In lookup order: a source often has its compiled file next to it. */
export const sourceEndings = ['.cu', '.py'] as const
export const compiledEndings = ['.ptx', '.cubin', '.so'] as const

/** Returns the id (the file name without its ending); null if it is not a rung's file. */
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
  /** For a Python rung. */
  package: PythonPackage.optional(),
})
export type RungHeader = z.infer<typeof RungHeader>

/** Macro values that a rung is compiled with. */
export const Parameters = z.record(z.string(), z.number().int())
export type Parameters = z.infer<typeof Parameters>

/** Comments of CUDA C++ and Python. */
const comment = /^\s*(?:\/\/|#(?:\s|$))/

/** Returns the number of lines of a source's header comment; 0 if it has none. */
export function headerLines(text: string): number {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !comment.test(line))
  const count = first < 0 ? lines.length : first
  return lines.slice(0, count).some((line) => /^\s*(?:\/\/|#)\s*@rung\b/.test(line)) ? count : 0
}

/** Returns the source with the compiled parameters in place of its header's defaults, which distinguishes variants. */
export const asCompiled = (source: string, params: Parameters): string =>
  source.replace(
    /^(\s*(?:\/\/|#)\s*@param\s+([A-Z][A-Z0-9_]*)\s+)(-?\d+)/gm,
    (line, start: string, name: string) => `${start}${params[name] ?? line.slice(start.length)}`,
  )
