/** The functions of a CUDA source, parsed only from its text. */

export interface SourceParameter {
  /** Type as written in the source, without the parameter name. */
  type: string
  /** Parameter name; null for an unnamed parameter. */
  name: string | null
  isPointer: boolean
}

export interface SourceLaunch {
  /** Kernel name without template arguments and namespaces. */
  kernel: string
  /** The expressions between `<<<` and `>>>`. */
  configuration: string[]
  arguments: string[]
}

export interface SourceFunction {
  name: string
  isKernel: boolean
  isTemplate: boolean
  /** Parameters as written in the source, even if the kernel is a template. */
  parameters: SourceParameter[]
  launches: SourceLaunch[]
  /** Function body without comments and strings. */
  body: string
}

export const hasMain = (functions: readonly SourceFunction[]): boolean =>
  functions.some(({ name }) => name === 'main')
