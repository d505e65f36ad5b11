/**
 * ncu's categories of thread instructions, by opcode family.
 *
 * The table is derived from deep recordings on an H200 that counted instructions and categories in
 * the same run. In every recorded rung, the count of each category equals the sum of the counts of
 * its families (test/domain/emulation/instruction-kinds.test.ts).
 */

const families = {
  fp32Instructions: 'FADD FFMA FMNMX FMUL FSEL FSETP MUFU',
  integerInstructions: 'IABS IADD3 IMAD ISETP LEA LOP3 SHF VIADD VIADDMNMX VIMNMX',
  memoryInstructions:
    'ATOM ATOMG ATOMS CCTL LD LDC LDG LDGDEPBAR LDGSTS LDL LDS LDSM MEMBAR RED REDG ST STAS STG STL STS STSM UBLKCP UTMACCTL UTMACMDFLUSH UTMALDG UTMASTG',
  controlInstructions:
    'ACQBULK BRA BSSY BSYNC CALL ENDCOLLECTIVE EXIT NANOSLEEP PREEXIT RET WARPSYNC YIELD',
  uniformInstructions: 'UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP3 UMOV UPLOP3 UPOPC UPRMT USEL USHF',
  miscInstructions:
    'BAR CGAERRBAR CS2R DEPBAR ERRBAR FENCE MOV NOP R2UR S2R S2UR SYNCS UCGABAR_ARV UCGABAR_WAIT USETMAXREG',
  bitInstructions: 'FLO P2R PLOP3 POPC PRMT R2P SEL',
  conversionInstructions: 'F2F F2FP F2I I2F',
  exchangeInstructions: 'ELECT SHFL VOTE VOTEU WARPGROUP',
} as const

export type InstructionKind = keyof typeof families

/** Opcode families that belong to no category, such as half, double and matrix arithmetic. */
const outside =
  'DADD DFMA DMNMX DMUL DSETP HADD2 HFMA2 HGMMA HMMA HMNMX2 HMUL2 HSETP2 IGMMA IMMA QGMMA'

/** Category of each family, or null if the family has none. */
const kindOfFamily = new Map<string, InstructionKind | null>([
  ...Object.entries(families).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as InstructionKind] as const),
  ),
  ...outside.split(' ').map((name) => [name, null] as const),
])

/**
 * Returns an opcode family's category. Returns null if the family has no category, and
 * undefined if the family is unknown.
 */
export const instructionKind = (family: string): InstructionKind | null | undefined =>
  kindOfFamily.get(family)
