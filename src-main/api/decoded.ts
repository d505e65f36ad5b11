/** Caches decoded machine code per kernel object. */
import type { DeepKernel, Work } from '../domain/session/deep'
import type { Code, Counters } from './code'

type Decode = () => DeepKernel | null

const decoders = new WeakMap<object, Decode>()
const decoded = new WeakMap<object, DeepKernel | null>()

export const decodesBy = (kernel: object, decode: Decode): void => {
  decoders.set(kernel, decode)
}

/**
 * Returns a kernel's decoded code, or null if the kernel has none. Throws a type error for an
 * object that this library did not return.
 */
export function deepOf(kernel: object): DeepKernel | null {
  const known = decoded.get(kernel)
  if (known !== undefined) return known
  const decode = decoders.get(kernel)
  if (decode === undefined)
    throw new TypeError('hottestLines takes a kernel of readNcuRep, readNcuCsv or emulate.')
  const deep = decode()
  decoded.set(kernel, deep)
  return deep
}

const counters = (work: Work): Counters => ({
  executed: work.executed,
  threadExecuted: work.threadExecuted,
  samples: work.samples,
  stalls: work.stalls,
  sharedWavefronts: work.sharedWavefronts,
  sharedWavefrontsIdeal: work.sharedWavefrontsIdeal,
  globalSectors: work.globalL2Sectors,
  globalSectorsIdeal: work.globalL2SectorsIdeal,
})

export const codeOf = ({ instructions, lines, rules }: DeepKernel): Code => ({
  instructions: instructions.map((one) => ({
    ...counters(one),
    offset: one.offset,
    sass: one.text,
    file: one.file,
    line: one.line,
  })),
  lines: lines.map((one) => ({
    ...counters(one),
    file: one.file,
    line: one.line,
    text: one.text,
  })),
  advice: rules.map(({ name, text, estimatedSpeedup }) => ({ rule: name, text, estimatedSpeedup })),
})
