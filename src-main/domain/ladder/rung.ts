/** What a rung's header block declares, and a user's edited copy of a rung. */
import { z } from 'zod'
import { PythonPackage } from '../task/python'

// What a rung's header block declares; the header is the only registry of rungs.

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

/** In the order in which a rung's file is looked for. */
export const rungEndings = ['.cu', '.py'] as const

/** The name of a rung's file, which is its id, with its ending; null if it is no rung's. */
export const rungFileId = (name: string): string | null =>
  /^([^/]+)\.(?:cu|py)$/.exec(name)?.[1] ?? null

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

// A user-edited copy of a rung: saved between visits, built and run after its original rung.

/** More than any CUDA source edited here, and less than a host accepts in a call. */
export const maxSourceLength = 300_000

export const DraftId = z.string().regex(/^draft-[0-9a-f]{16}$/)

export const Draft = z.object({
  schema: z.literal(1),
  id: DraftId,
  ladder: Identifier,
  /** The session's rung that it was copied from. */
  parent: Identifier,
  /** The ladder's rung that it runs after: the parent, or the parent's original. */
  base: Identifier,
  /** Its own id in the ladder, as declared in the source. */
  rung: Identifier,
  /** Parameter values of the parent; those that the copy no longer declares are ignored in builds. */
  params: Parameters,
  source: z.string().max(maxSourceLength),
  /** ISO 8601; null if it was never saved. */
  savedAt: z.string().nullable(),
})
export type Draft = z.infer<typeof Draft>

/** `05_tile` → `05_tile-edit1`, the first free id; a copy of an edited rung continues the numbering. */
export function editId(base: string, taken: ReadonlySet<string>): string {
  // An identifier has at most 80 characters.
  const stem = base.slice(0, 70)
  for (let n = 1; ; n += 1) {
    const id = `${stem}-edit${n}`
    if (!taken.has(id)) return id
  }
}

/** `05_tile-edit2` → `05_tile`; null for an id that does not belong to a copy. */
export const editedFrom = (id: string): string | null => /^(.+)-edit\d+$/.exec(id)?.[1] ?? null

/** The path a copy would have in the library: among the rungs of its task. */
export const draftFile = (rung: string, task: string): string => `${task}/${rung}.cu`
