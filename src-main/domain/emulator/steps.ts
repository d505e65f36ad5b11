/**
 * Finds the function that executes an instruction, based on its mnemonic. A uniform instruction
 * uses the function of the matching per-lane instruction.
 */
import type { Instruction } from '../sass/instruction'
import { barrierSteps } from './mbarriers'
import { bulkCopySteps } from './bulk-copies'
import { conversionSteps } from './conversions'
import { floatingSteps } from './floating'
import { integerSteps } from './integer'
import { byteProductSteps } from './byte-products'
import { memorySteps } from './memory-steps'
import { moveSteps } from './moves'
import { packedSteps } from './packed'
import { Site, type EmulatorState } from './site'
import { warpgroupSteps } from './hgmma'
import { Halt, type Step } from './warp'
import { tensorSteps } from './hmma'

/**
 * Instructions that have no effect in the emulator. Emulated memory is always sequentially
 * consistent, and the emulator does not model time.
 */
const nothing = new Set([
  'NOP',
  'MEMBAR',
  'ERRBAR',
  'CGAERRBAR',
  'CCTL',
  'CCTLL',
  'FENCE',
  'DEPBAR',
  'LDGDEPBAR',
  'ENDCOLLECTIVE',
  'PREEXIT',
  'ACQBULK',
  'PMTRIG',
  'WARPGROUP',
  'UTMACCTL',
  'UTMACMDFLUSH',
  'UTMAPF',
  'UBLKPF',
])

const tables: Record<string, (at: Site) => Step> = {
  ...integerSteps,
  ...byteProductSteps,
  ...floatingSteps,
  ...conversionSteps,
  ...packedSteps,
  ...moveSteps,
  ...memorySteps,
  ...tensorSteps,
  ...warpgroupSteps,
  ...barrierSteps,
  ...bulkCopySteps,
}

/** Instructions whose functions handle the whole warp. */
const ofWarp = new Set([
  'VOTEU',
  'REDUX',
  'R2UR',
  'ELECT',
  'USETMAXREG',
  'UTMALDG',
  'UTMASTG',
  'UBLKCP',
])

export const isNothing = ({ mnemonic }: Instruction): boolean => nothing.has(mnemonic)

export function stepOf(instruction: Instruction, index: number, machine: EmulatorState): Step {
  const { mnemonic } = instruction
  if (isNothing(instruction)) return () => {}
  const site = new Site(instruction, index, machine)
  const own = tables[mnemonic]
  const make = own ?? (mnemonic.startsWith('U') ? tables[mnemonic.slice(1)] : undefined)
  if (!make) throw new Halt('unknown-instruction', instruction, mnemonic)
  const step = make(site)
  site.finish()
  if (own && (!/^U|^S2UR$/.test(mnemonic) || ofWarp.has(mnemonic))) return step
  return (warp) => step(warp, -1)
}
