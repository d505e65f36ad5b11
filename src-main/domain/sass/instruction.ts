/**
 * One decoded machine instruction of sm_75 to sm_90, complete enough to execute it and to print it as NVIDIA's disassembler does. Operands
 * are in printed order, destinations first. Facts that are fixed per opcode (such as which operands it writes) follow from the mnemonic,
 * its modifiers and the operand positions.
 */

/** RZ reads as zero and discards writes. */
export const zeroRegister = 255
/** URZ of sm_75 to sm_90. */
export const zeroUniformRegister = 63
/** PT, and UPT in the uniform file: always true. */
export const truePredicate = 7

/** `-` before an operand, `|…|` around it, `~` before it. */
export interface SourceModifiers {
  readonly negated: boolean
  readonly absolute: boolean
  readonly inverted: boolean
}

export interface RegisterOperand extends SourceModifiers {
  readonly kind: 'register'
  /** 255 is RZ. */
  readonly index: number
  /** In the operand cache for the next instruction; no effect on the value. */
  readonly reuse: boolean
  /** As printed after the register: halves `H0_H0`, `H1_H1`, `F32`; parts `B0` to `B3`; `64`; `ROW`, `COL`. */
  readonly suffixes: readonly string[]
}

export interface UniformRegisterOperand extends SourceModifiers {
  readonly kind: 'uniform-register'
  /** 63 is URZ. */
  readonly index: number
  readonly suffixes: readonly string[]
}

export interface PredicateOperand {
  readonly kind: 'predicate'
  /** 7 is PT. */
  readonly index: number
  readonly negated: boolean
}

export interface UniformPredicateOperand {
  readonly kind: 'uniform-predicate'
  /** 7 is UPT. */
  readonly index: number
  readonly negated: boolean
}

/** The whole predicate file, `PR` or `UPR`, which P2R and R2P move. */
interface PredicateFileOperand {
  readonly kind: 'predicate-file'
  readonly uniform: boolean
}

export interface ImmediateOperand {
  readonly kind: 'immediate'
  /**
   * The value as the instruction uses it. `f32`: the 32 bits of a float. `f64`: the high 32 bits of a double whose low bits are zero.
   * `f16x2`, `bf16x2`: two halves, the first printed one in the high 16 bits. Integers: the field, sign-extended to 32 bits if it is
   * signed.
   */
  readonly bits: number
  readonly type: 'integer' | 'f32' | 'f64' | 'f16x2' | 'bf16x2'
  /** A signed field: printed as `-0x10`. */
  readonly signed: boolean
}

export interface ConstantOperand extends SourceModifiers {
  readonly kind: 'constant'
  /** The bank of `c[0x3][0x10]`, or the uniform register pair that holds its handle in `cx[UR4][0x10]`. */
  readonly bank: number | { readonly uniform: number }
  /** In bytes. */
  readonly offset: number
  /** Register added to the offset: `c[0x0][R4+0x8]` in LDC, `c[0x0][UR4+0x8]` in ULDC; null if there is none. */
  readonly register: number | null
  readonly uniform: number | null
  /** Halves of a packed pair, as for a register. */
  readonly suffixes: readonly string[]
}

export interface MemoryOperand {
  readonly kind: 'memory'
  /** null if the form has no register; RZ if the register is zero. */
  readonly register: number | null
  /** `R2.64`: a register pair. `R2.U32`: zero-extended, with a uniform base. `.X4`, `.X8`, `.X16`: scale factors. */
  readonly width: 32 | 64
  readonly scale: 1 | 4 | 8 | 16
  /** Uniform base added to the address: a pair in global memory. */
  readonly uniform: number | null
  /** Uniform register pair that holds the memory descriptor: `desc[UR4]`. */
  readonly descriptor: number | null
  /** Signed, in bytes. */
  readonly offset: number
}

/** `gdesc[UR8]` of WGMMA: the pair of uniform registers with the matrix descriptor. */
interface MatrixDescriptorOperand {
  readonly kind: 'matrix-descriptor'
  readonly uniform: number
  /** `tnspA`, `tnspB`. */
  readonly suffixes: readonly string[]
}

interface SpecialRegisterOperand {
  readonly kind: 'special-register'
  readonly index: number
  /** `SR_TID.X`. */
  readonly name: string
}

/** `B0` to `B15`: where diverged threads reconverge. */
interface ConvergenceBarrierOperand {
  readonly kind: 'convergence-barrier'
  readonly index: number
}

/** `SB0` of DEPBAR, `gsb0` of WARPGROUP.DEPBAR. */
interface ScoreboardOperand {
  readonly kind: 'scoreboard'
  readonly index: number
  readonly group: boolean
}

/** `{3,2}`: additional scoreboards that DEPBAR waits for. */
interface ScoreboardSetOperand {
  readonly kind: 'scoreboard-set'
  readonly indices: readonly number[]
}

interface TargetOperand {
  readonly kind: 'target'
  /** Bytes from the first instruction of the function. */
  readonly address: number
}

/** A word that is an operand by position: `ARRIVE`, `.noinc`, `RZ_MASK`. */
interface WordOperand {
  readonly kind: 'word'
  readonly text: string
}

export type Operand =
  | RegisterOperand
  | UniformRegisterOperand
  | PredicateOperand
  | UniformPredicateOperand
  | PredicateFileOperand
  | ImmediateOperand
  | ConstantOperand
  | MemoryOperand
  | MatrixDescriptorOperand
  | SpecialRegisterOperand
  | ConvergenceBarrierOperand
  | ScoreboardOperand
  | ScoreboardSetOperand
  | TargetOperand
  | WordOperand

/** Scheduling information from the compiler: bits 105 to 125. It affects when an instruction issues, never what it computes. */
export interface Control {
  /** Cycles before the next instruction may issue, 0 to 15. */
  readonly stall: number
  readonly yield: boolean
  /** Scoreboard released when the result is written, and when the sources have been read; null for none. */
  readonly writeBarrier: number | null
  readonly readBarrier: number | null
  /** Bit i: waits for scoreboard i. */
  readonly waitMask: number
}

export interface Instruction {
  /** Bytes from the first instruction of the function. */
  readonly address: number
  /** The 128 bits, least significant word first, each an unsigned number. */
  readonly words: readonly [number, number, number, number]
  /** `P0` or `!P0` before the instruction; PT if it is unconditional. */
  readonly guard: PredicateOperand | UniformPredicateOperand
  /** `LDG` of `LDG.E.128.CONSTANT`. */
  readonly mnemonic: string
  /** `E`, `128`, `CONSTANT`, in printed order. */
  readonly modifiers: readonly string[]
  readonly operands: readonly Operand[]
  readonly control: Control
}

/**
 * The 128 bits of an instruction. It tracks which bits were read: a set bit that no field of the opcode covers makes the instruction
 * unknown, so it is never printed or executed as something else.
 */
export class Encoding {
  readonly #read = new Uint32Array(4)
  /** False once a field has a value without a known meaning. */
  known = true

  constructor(readonly words: readonly [number, number, number, number]) {}

  /** Up to 32 bits, unsigned. */
  bits(at: number, width: number): number {
    let value = 0
    for (let done = 0; done < width;) {
      const [word, shift] = [(at + done) >> 5, (at + done) & 31]
      const count = Math.min(width - done, 32 - shift)
      const mask = count === 32 ? 0xffffffff : 2 ** count - 1
      value += (((this.words[word]! >>> shift) & mask) >>> 0) * 2 ** done
      this.#read[word]! |= mask << shift
      done += count
    }
    return value >>> 0
  }

  signed(at: number, width: number): number {
    return (this.bits(at, width) << (32 - width)) >> (32 - width)
  }

  bit(at: number): boolean {
    return this.bits(at, 1) === 1
  }

  /** Whether every set bit was read and every field has a known meaning. */
  get complete(): boolean {
    return this.known && this.words.every((word, index) => (word & ~this.#read[index]!) === 0)
  }
}

/** Special registers read by S2R, S2UR and CS2R, by number; pairs have the name of their low half. */
export const specialRegisters: Readonly<Record<number, string>> = {
  0x00: 'SR_LANEID',
  0x02: 'SR_VIRTCFG',
  0x03: 'SR_VIRTID',
  0x21: 'SR_TID.X',
  0x22: 'SR_TID.Y',
  0x23: 'SR_TID.Z',
  0x25: 'SR_CTAID.X',
  0x26: 'SR_CTAID.Y',
  0x27: 'SR_CTAID.Z',
  0x2f: 'SR_SWINHI',
  0x32: 'SR_SMEMSZ',
  0x37: 'SR_LMEMHIOFF',
  0x38: 'SR_EQMASK',
  0x39: 'SR_LTMASK',
  0x3a: 'SR_LEMASK',
  0x3b: 'SR_GTMASK',
  0x3c: 'SR_GEMASK',
  0x43: 'SR_VIRTUALSMID',
  0x50: 'SR_CLOCKLO',
  0x51: 'SR_CLOCKHI',
  0x52: 'SR_GLOBALTIMERLO',
  0x53: 'SR_GLOBALTIMERHI',
  0x88: 'SR_CgaCtaId',
  0xff: 'SRZ',
}
