/** Prints an instruction in the format of NVIDIA's disassembler, without the semicolon. */
import {
  truePredicate,
  zeroRegister,
  zeroUniformRegister,
  type ImmediateOperand,
  type Instruction,
  type MemoryOperand,
  type Operand,
  type SourceModifiers,
} from './instruction'

interface PrintOptions {
  /** Whether to print operand-cache flags. */
  reuse: boolean
}

export function printInstruction(
  instruction: Instruction,
  options: PrintOptions = { reuse: true },
): string {
  const { guard } = instruction
  const before = guard.index === truePredicate && !guard.negated ? '' : `@${printOperand(guard)} `
  return `${before}${printOpcode(instruction)} ${printOperands(instruction, options)}`.trimEnd()
}

/**
 * Returns the operands as text. There is no comma between a register and a target relative to that
 * register.
 */
function printOperands({ operands, mnemonic }: Instruction, { reuse }: PrintOptions): string {
  const texts = operands.map((operand) =>
    printOperand(operand.kind === 'register' && !reuse ? { ...operand, reuse } : operand),
  )
  if (operands.length > 1 && ['BRX', 'CALL', 'RET'].includes(mnemonic))
    texts.push(`${texts.splice(-2).join(' ')}`)
  return texts.join(', ')
}

/** Returns the opcode with its modifiers, such as `LDG.E.128.CONSTANT`. */
export const printOpcode = ({ mnemonic, modifiers }: Instruction): string =>
  [mnemonic, ...modifiers].join('.')

function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'register':
      return withSuffixes(
        modified(operand, registerName(operand.index)) + (operand.reuse ? '.reuse' : ''),
        operand.suffixes,
      )
    case 'uniform-register':
      return modified(operand, withSuffixes(uniformName(operand.index), operand.suffixes))
    case 'predicate':
      return `${operand.negated ? '!' : ''}${operand.index === truePredicate ? 'PT' : `P${operand.index}`}`
    case 'uniform-predicate':
      return `${operand.negated ? '!' : ''}${operand.index === truePredicate ? 'UPT' : `UP${operand.index}`}`
    case 'predicate-file':
      return operand.uniform ? 'UPR' : 'PR'
    case 'immediate':
      return printImmediate(operand)
    case 'constant': {
      const { bank, offset, register, uniform } = operand
      const place =
        typeof bank === 'number' ? `c[${hex(bank)}]` : `cx[${uniformName(bank.uniform)}]`
      const parts = [
        ...(register === null || (register === zeroRegister && offset !== 0)
          ? []
          : [registerName(register)]),
        ...(uniform === null ? [] : [uniformName(uniform)]),
        ...(offset === 0 && (register !== null || uniform !== null) ? [] : [hex(offset)]),
      ]
      return modified(operand, withSuffixes(`${place}[${parts.join('+')}]`, operand.suffixes))
    }
    case 'memory':
      return printMemory(operand)
    case 'matrix-descriptor':
      return withSuffixes(`gdesc[${uniformName(operand.uniform)}]`, operand.suffixes)
    case 'special-register':
      return operand.name
    case 'convergence-barrier':
      return `B${operand.index}`
    case 'scoreboard':
      return `${operand.group ? 'gsb' : 'SB'}${operand.index}`
    case 'scoreboard-set':
      return `{${operand.indices.join(',')}}`
    case 'target':
      return hex(operand.address)
    case 'word':
      return operand.text
  }
}

const registerName = (index: number): string => (index === zeroRegister ? 'RZ' : `R${index}`)
const uniformName = (index: number): string =>
  index === zeroUniformRegister ? 'URZ' : `UR${index}`

const hex = (value: number): string =>
  value < 0 ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`

function modified(operand: SourceModifiers, name: string): string {
  const value = operand.absolute ? `|${name}|` : name
  return `${operand.inverted ? '~' : ''}${operand.negated ? '-' : ''}${value}`
}

const withSuffixes = (name: string, suffixes: readonly string[]): string =>
  [name, ...suffixes].join('.')

function printMemory(memory: MemoryOperand): string {
  const { register, width, scale, uniform, descriptor, offset } = memory
  const parts = []
  if (register !== null && !(register === zeroRegister && (uniform !== null || offset !== 0)))
    parts.push(
      `${registerName(register)}${scale === 1 ? '' : `.X${scale}`}${width === 64 ? '.64' : ''}`,
    )
  if (uniform !== null) parts.push(uniformName(uniform))
  if (offset !== 0 || parts.length === 0) parts.push(hex(offset))
  const place = `[${parts.join('+')}]`
  return descriptor === null ? place : `desc[${uniformName(descriptor)}]${place}`
}

function printImmediate({ bits, type }: ImmediateOperand): string {
  const half = (part: number, value: number, quietBit: number): string =>
    printFloat(value, part >= 0x8000, (part & quietBit) !== 0)
  const [high, low] = [bits >>> 16, bits & 0xffff]
  switch (type) {
    case 'integer':
      return hex(bits)
    case 'f32':
      return printFloat(float32(bits), bits >>> 31 === 1, (bits & 0x400000) !== 0)
    case 'f64':
      return printFloat(float64(bits), bits >>> 31 === 1, (bits & 0x80000) !== 0)
    case 'f16x2':
      return `${half(high, float16(high), 0x200)}, ${half(low, float16(low), 0x200)}`
    case 'bf16x2':
      return `${half(high, float32(high << 16), 0x40)}, ${half(low, float32(low << 16), 0x40)}`
  }
}

/**
 * Returns a float with up to 20 significant digits. Very large and very small numbers are printed
 * with an exponent.
 */
function printFloat(value: number, negative: boolean, quiet: boolean): string {
  if (Number.isNaN(value)) {
    return `${negative ? '-' : '+'}${quiet ? 'Q' : 'S'}NAN `
  }
  if (!Number.isFinite(value)) return `${value < 0 ? '-' : '+'}INF `
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  if (Math.abs(value) >= integersBelow) return withExponent(digitsOf(value, 20))
  const [digits, power] = digitsOf(value, 19).split('e') as [string, string]
  const exponent = Number(power)
  if (exponent < -4) return withExponent(`${withoutZeros(digits)}e${power}`)
  return withoutZeros(shifted(digits, exponent))
}

/**
 * Returns a number in exponential notation, with `count` digits after the decimal point. As in C,
 * ties are rounded to even.
 */
function digitsOf(value: number, count: number): string {
  const [exact, power] = value.toExponential(100).split('e') as [string, string]
  const end = exact.indexOf('.') + 1 + count
  const [kept, rest] = [exact.slice(0, end), exact.slice(end)]
  if (!/^50*$/.test(rest) || Number(kept.at(-1)) % 2 !== 0) return value.toExponential(count)
  return `${kept}e${power}`
}

/**
 * Returns the digits with the decimal point moved right by `exponent` places. For `1.25` and an
 * exponent of 1, the result is `12.5`.
 */
function shifted(digits: string, exponent: number): string {
  const sign = digits.startsWith('-') ? '-' : ''
  const plain = digits.replace(/[-.]/g, '')
  return exponent < 0
    ? `${sign}0.${'0'.repeat(-exponent - 1)}${plain}`
    : `${sign}${plain.slice(0, exponent + 1)}.${plain.slice(exponent + 1)}`
}

/** Numbers of at least this magnitude are printed with 20 decimals and an exponent. */
const integersBelow = 2 ** 31

const withoutZeros = (digits: string): string =>
  digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits

/** Pads the exponent to two digits, as in `1.5e-08`. */
const withExponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

const view = new DataView(new ArrayBuffer(8))
function float32(bits: number): number {
  view.setUint32(0, bits)
  return view.getFloat32(0)
}
function float64(high: number): number {
  view.setUint32(0, high)
  view.setUint32(4, 0)
  return view.getFloat64(0)
}
function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 0x3ff
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  if (exponent === 0) return sign * fraction * 2 ** -24
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}
