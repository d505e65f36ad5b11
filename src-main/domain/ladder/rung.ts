/** The contents of a rung's header comment. The header comments are the only registry of rungs. */
import { z } from 'zod'
import { PythonPackage } from '../task/python-rung'

/**
 * Returns the number at the start of an id: `05_thread_tile_2d` has `05`. Returns null for a commit
 * hash, even if it starts with digits.
 */
export const numberOfId = (id: string): string | null =>
  /^\d{1,4}(?=[a-z]?(?![\da-z]))/i.exec(id)?.[0] ?? null

/**
 * A rung or ladder id: letters, digits, `_`, `-` and `.`. Ids become file names, arguments
 * and URLs.
 */
export const Identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/, {
  message:
    'An id consists of letters, digits, "_", "-" and ".", and begins with a letter or a digit.',
})

export const expectDirections = ['up', 'down', 'same'] as const
export const Expectation = z.object({ metric: z.string(), direction: z.enum(expectDirections) })
export type Expectation = z.infer<typeof Expectation>

export const RungParameter = z.object({
  /** Name of the macro that nvcc receives as -DNAME=value. */
  name: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  default: z.number().int(),
  allowed: z.array(z.number().int()),
})
export type RungParameter = z.infer<typeof RungParameter>

/** Returns whether a rung's file is Python instead of CUDA C++. */
export const isPythonFile = (file: string): boolean => file.endsWith('.py')

/**
 * Returns whether a file is PTX, machine code or a shared library. Compiled files have no header.
 */
export const isCompiledFile = (file: string): boolean => /\.(ptx|cubin|so)$/.test(file)

/** Returns whether a compiled file needs a launch description in its ladder. */
export const isKernelFile = (file: string): boolean => /\.(ptx|cubin)$/.test(file)

/** Returns whether a compiled file is binary. */
export const isBinaryFile = (file: string): boolean => /\.(cubin|so)$/.test(file)

/**
 * File extensions in lookup order. Sources come first, because a compiled file is often next to its
 * source.
 */
export const sourceEndings = ['.cu', '.py'] as const
export const compiledEndings = ['.ptx', '.cubin', '.so'] as const

/** Returns the rung id (the file name without extension), or null if the file is not a rung. */
export const rungFileId = (name: string): string | null =>
  /^([^/]+)\.(?:cu|py|ptx|cubin|so)$/.exec(name)?.[1] ?? null

export const RungHeader = z.object({
  id: Identifier,
  title: z.string().min(1),
  after: Identifier.nullable(),
  /** One sentence about the change and its expected benefit. */
  idea: z.string().min(1),
  expect: z.array(Expectation),
  params: z.array(RungParameter),
  /** Supported choices for each of the task's options. */
  options: z.record(z.string(), z.array(z.string()).min(1)),
  /** Task flags that the rung turns on, in the order that the task lists them. */
  flags: z.array(z.string()),
  /**
   * Minimum compute capability in nvcc's notation (`sm_75`), optionally with a feature letter
   * (`sm_90a`).
   */
  requires: z
    .string()
    .regex(/^sm_\d{2,3}[af]?$/)
    .nullable(),
  /** Python package; only for Python rungs. */
  package: PythonPackage.optional(),
})
export type RungHeader = z.infer<typeof RungHeader>

/** Macro values for compiling a rung. */
export const Parameters = z.record(z.string(), z.number().int())
export type Parameters = z.infer<typeof Parameters>

/** Matches a line comment in CUDA C++ or Python. */
const comment = /^\s*(?:\/\/|#(?:\s|$))/

/** Returns the number of lines in a source's header comment, or 0 if it has none. */
export function headerLines(text: string): number {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !comment.test(line))
  const count = first < 0 ? lines.length : first
  return lines.slice(0, count).some((line) => /^\s*(?:\/\/|#)\s*@rung\b/.test(line)) ? count : 0
}

/**
 * Returns the source with the header's defaults replaced by the compiled parameter values. Two
 * variants of the same file therefore have different source texts.
 */
export const asCompiled = (source: string, params: Parameters): string =>
  source.replace(
    /^(\s*(?:\/\/|#)\s*@param\s+([A-Z][A-Z0-9_]*)\s+)(-?\d+)/gm,
    (line, start: string, name: string) => `${start}${params[name] ?? line.slice(start.length)}`,
  )
