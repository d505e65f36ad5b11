/** The functions of a CUDA source, as far as its text tells. */

export interface SourceParameter {
  /** As written, without the name. */
  type: string
  /** Null for a parameter without a name. */
  name: string | null
  isPointer: boolean
}

export interface SourceLaunch {
  /** The kernel without template arguments and namespaces. */
  kernel: string
  /** The expressions between `<<<` and `>>>`. */
  configuration: string[]
  arguments: string[]
}

export interface SourceFunction {
  name: string
  isKernel: boolean
  isTemplate: boolean
  /** Of a template: its parameters, as written. */
  parameters: SourceParameter[]
  launches: SourceLaunch[]
  /** Its body without comments and strings. */
  body: string
}

export const hasMain = (functions: readonly SourceFunction[]): boolean =>
  functions.some(({ name }) => name === 'main')
