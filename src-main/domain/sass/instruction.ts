/**
 * A decoded machine instruction of sm_75 to sm_90. The decoded form contains enough information to
 * execute the instruction, and to print it in nvdisasm's format.
 *
 * Operands are in printed order, with destinations first. Some properties are fixed for each
 * opcode, such as which operands the instruction writes. The mnemonic, the modifiers and the
 * operand positions determine these properties.
 */

/** Index of RZ, which reads as zero and discards writes. */
export const zeroRegister = 255
/** Index of URZ on sm_75 to sm_90. */
export const zeroUniformRegister = 63
/** Index of PT and of UPT, which are always true. */
export const truePredicate = 7

/** Modifiers of a source operand: `-` or `~` before the operand, or `|…|` around it. */
export interface SourceModifiers {
  readonly negated: boolean
  readonly absolute: boolean
  readonly inverted: boolean
}

export interface RegisterOperand extends SourceModifiers {
  readonly kind: 'register'
  /** Register number. RZ has number 255. */
  readonly index: number
  /**
   * Whether the operand cache keeps the register for the next instruction. The flag does not affect
   * the instruction's result.
   */
  readonly reuse: boolean
  /**
   * Suffixes printed after the register: `H0_H0`, `H1_H1` and `F32` for halves, `B0` to `B3` for
   * bytes, `64`, `ROW` and `COL`.
   */
  readonly suffixes: readonly string[]
}

export interface UniformRegisterOperand extends SourceModifiers {
  readonly kind: 'uniform-register'
  /** Uniform register number. URZ has number 63. */
  readonly index: number
  readonly suffixes: readonly string[]
}

export interface PredicateOperand {
  readonly kind: 'predicate'
  /** Predicate number. PT has number 7. */
  readonly index: number
  readonly negated: boolean
}

export interface UniformPredicateOperand {
  readonly kind: 'uniform-predicate'
  /** Uniform predicate number. UPT has number 7. */
  readonly index: number
  readonly negated: boolean
}

/** All predicates as one operand, `PR` or `UPR`. P2R and R2P use this operand. */
interface PredicateFileOperand {
  readonly kind: 'predicate-file'
  readonly uniform: boolean
}

export interface ImmediateOperand {
  readonly kind: 'immediate'
  /**
   * The bits of the value that the instruction uses.
   *
   * For `f32`, the value is the 32 bits of a float. For `f64`, the value is the high 32 bits of a
   * double whose low bits are zero. For `f16x2` and `bf16x2`, the value consists of two halves,
   * with the first printed half in the high 16 bits. For integers, the value consists of the
   * field's bits. Signed fields are sign-extended to 32 bits.
   */
  readonly bits: number
  readonly type: 'integer' | 'f32' | 'f64' | 'f16x2' | 'bf16x2'
  /** Whether the field is signed and therefore printed with its sign, as in `-0x10`. */
  readonly signed: boolean
}

export interface ConstantOperand extends SourceModifiers {
  readonly kind: 'constant'
  /**
   * Bank number, as in `c[0x3][0x10]`, or the uniform register pair with the bank's handle, as in
   * `cx[UR4][0x10]`.
   */
  readonly bank: number | { readonly uniform: number }
  /** Byte offset within the bank. */
  readonly offset: number
  /**
   * Register that is added to the offset, or null. Examples are `c[0x0][R4+0x8]` in LDC and
   * `c[0x0][UR4+0x8]` in ULDC.
   */
  readonly register: number | null
  readonly uniform: number | null
  /** Suffixes for the halves of a packed pair, as for a register operand. */
  readonly suffixes: readonly string[]
}

export interface MemoryOperand {
  readonly kind: 'memory'
  /** Address register, which may be RZ. Null if the form has no address register. */
  readonly register: number | null
  /**
   * Address register width. `R2.64` is a register pair. `R2.U32` is zero-extended and added to a
   * uniform base. The scale factors are printed as `.X4`, `.X8` and `.X16`.
   */
  readonly width: 32 | 64
  readonly scale: 1 | 4 | 8 | 16
  /**
   * Uniform base register that is added to the address. In global memory, the base is a register
   * pair.
   */
  readonly uniform: number | null
  /** First register of the uniform pair that contains the memory descriptor, as in `desc[UR4]`. */
  readonly descriptor: number | null
  /** Signed byte offset. */
  readonly offset: number
}

/** The `gdesc[UR8]` operand of WGMMA, whose uniform registers contain the matrix descriptor. */
interface MatrixDescriptorOperand {
  readonly kind: 'matrix-descriptor'
  readonly uniform: number
  /** Suffixes such as `tnspA` and `tnspB`. */
  readonly suffixes: readonly string[]
}

interface SpecialRegisterOperand {
  readonly kind: 'special-register'
  readonly index: number
  /** Name of the special register, such as `SR_TID.X`. */
  readonly name: string
}

/** A convergence barrier, `B0` to `B15`. Diverged threads reconverge at this barrier. */
interface ConvergenceBarrierOperand {
  readonly kind: 'convergence-barrier'
  readonly index: number
}

/** A scoreboard, such as `SB0` in DEPBAR or `gsb0` in WARPGROUP.DEPBAR. */
interface ScoreboardOperand {
  readonly kind: 'scoreboard'
  readonly index: number
  readonly group: boolean
}

/** Additional scoreboards that DEPBAR waits for, printed as `{3,2}`. */
interface ScoreboardSetOperand {
  readonly kind: 'scoreboard-set'
  readonly indices: readonly number[]
}

interface TargetOperand {
  readonly kind: 'target'
  /** Byte offset from the first instruction of the function. */
  readonly address: number
}

/** An operand that is a fixed word, such as `ARRIVE`, `.noinc` or `RZ_MASK`. */
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

/**
 * Scheduling information from the compiler, in bits 105 to 125, which affects only when an
 * instruction issues.
 */
export interface Control {
  /** Number of cycles before the next instruction may issue, from 0 to 15. */
  readonly stall: number
  readonly yield: boolean
  /**
   * Scoreboard released when the result is written, and scoreboard released when the sources have
   * been read. Null means none.
   */
  readonly writeBarrier: number | null
  readonly readBarrier: number | null
  /** Mask of the scoreboards to wait for. Bit i represents scoreboard i. */
  readonly waitMask: number
}

export interface Instruction {
  /** Byte offset from the first instruction of the function. */
  readonly address: number
  /** The 128 bits as four unsigned words, least significant word first. */
  readonly words: readonly [number, number, number, number]
  /**
   * Guard printed before the instruction, such as `P0` or `!P0`. An unconditional instruction has
   * the guard PT.
   */
  readonly guard: PredicateOperand | UniformPredicateOperand
  /** Name of the opcode without modifiers, such as `LDG` for `LDG.E.128.CONSTANT`. */
  readonly mnemonic: string
  /** Modifiers in printed order, such as `E`, `128` and `CONSTANT`. */
  readonly modifiers: readonly string[]
  readonly operands: readonly Operand[]
  readonly control: Control
}

/**
 * The 128 bits of an instruction. The class tracks which bits were read. If a set bit does not
 * belong to any field of the opcode, the instruction is unknown. An instruction is therefore never
 * mistaken for a different one.
 */
export class Encoding {
  readonly #read = new Uint32Array(4)
  /** Whether all fields read so far have known values. */
  known = true

  constructor(readonly words: readonly [number, number, number, number]) {}

  /** Returns up to 32 bits as an unsigned number. */
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

  /** Whether every set bit was read and every field has a known value. */
  get complete(): boolean {
    return this.known && this.words.every((word, index) => (word & ~this.#read[index]!) === 0)
  }
}

/**
 * Names of the special registers that S2R, S2UR and CS2R read, keyed by number. A register pair has
 * the name of its low half.
 */
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
