import type { Opcode } from '../parts'
import { controlOpcodes } from './control'
import { conversionOpcodes } from './conversion'
import { floatOpcodes } from './float'
import { integerOpcodes } from './integer'
import { memoryOpcodes } from './memory'
import { tensorOpcodes } from './tensor'
import { uniformOpcodes } from './uniform'

const byCode = new Map<number, Opcode>()
for (const entry of [
  ...floatOpcodes,
  ...integerOpcodes,
  ...conversionOpcodes,
  ...uniformOpcodes,
  ...memoryOpcodes,
  ...controlOpcodes,
  ...tensorOpcodes,
])
  for (const code of entry.codes) {
    if (byCode.has(code)) throw new Error(`two entries for opcode 0x${code.toString(16)}`)
    byCode.set(code, entry)
  }

/** By the low 12 bits of an instruction. */
export const opcodeOf = (code: number): Opcode | undefined => byCode.get(code)
