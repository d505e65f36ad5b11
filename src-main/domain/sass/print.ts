/** An instruction as NVIDIA's disassembler prints it, without the semicolon. */
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

export function printInstruction(instruction: Instruction): string {
  const { guard } = instruction
  const before = guard.index === truePredicate && !guard.negated ? '' : `@${printOperand(guard)} `
  return `${before}${printOpcode(instruction)} ${printOperands(instruction)}`.trimEnd()
}

/** A target relative to a register stands behind it without a comma. */
function printOperands({ operands, mnemonic }: Instruction): string {
  const texts = operands.map(printOperand)
  const last = operands.at(-1)
  if (last?.kind === 'target' && operands.at(-2)?.kind === 'register' && !warpwide.has(mnemonic))
    texts.push(`${texts.splice(-2).join(' ')}`)
  return texts.join(', ')
}
const warpwide = new Set(['WARPSYNC'])

/** `LDG.E.128.CONSTANT`. */
export const printOpcode = ({ mnemonic, modifiers }: Instruction): string =>
  [mnemonic, ...modifiers].join('.')

export function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'register':
      return modified(
        operand,
        registerName(operand.index),
        operand.reuse ? '.reuse' : '',
        operand.suffixes,
      )
    case 'uniform-register':
      return modified(operand, uniformName(operand.index), '', operand.suffixes)
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
      return modified(operand, `${place}[${parts.join('+')}]`, '', operand.suffixes)
    }
    case 'memory':
      return printMemory(operand)
    case 'matrix-descriptor':
      return ['gdesc', ...operand.suffixes].length > 1
        ? `gdesc[${uniformName(operand.uniform)}].${operand.suffixes.join('.')}`
        : `gdesc[${uniformName(operand.uniform)}]`
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

function modified(
  { negated, absolute, inverted }: SourceModifiers,
  name: string,
  reuse: string,
  suffixes: readonly string[],
): string {
  const behind = suffixes.map((suffix) => `.${suffix}`).join('')
  const value = absolute ? `|${name}${behind}|${reuse}` : `${name}${reuse}${behind}`
  return `${inverted ? '~' : ''}${negated ? '-' : ''}${value}`
}

function printMemory(memory: MemoryOperand): string {
  const { register, width, scale, uniform, uniformWidth, descriptor, offset } = memory
  const parts = []
  if (register !== null && !(register === zeroRegister && uniform !== null))
    parts.push(
      `${registerName(register)}${scale === 1 ? '' : `.X${scale}`}${width === 64 ? '.64' : ''}`,
    )
  if (uniform !== null) parts.push(`${uniformName(uniform)}${uniformWidth === 64 ? '.64' : ''}`)
  if (offset !== 0 || parts.length === 0) parts.push(hex(offset))
  const place = `[${parts.join('+')}]`
  return descriptor === null ? place : `desc[${uniformName(descriptor)}]${place}`
}

function printImmediate({ bits, type }: ImmediateOperand): string {
  switch (type) {
    case 'integer':
      return hex(bits)
    case 'f32':
      return printFloat(float32(bits), bits, 0x7fffff)
    case 'f64':
      return printFloat(float64(bits), bits, 0xfffff)
    case 'f16x2':
      return `${printFloat(float16(bits >>> 16), bits >>> 16, 0x3ff)}, ${printFloat(float16(bits & 0xffff), bits, 0x3ff)}`
    case 'bf16x2':
      return `${printFloat(float32(bits & 0xffff0000), bits >>> 16, 0x7f)}, ${printFloat(float32(bits << 16), bits, 0x7f)}`
  }
}

/** 20 significant digits, or an exponent. */
function printFloat(value: number, bits: number, mantissa: number): string {
  if (Number.isNaN(value)) {
    const quiet = bits & ((mantissa + 1) >>> 1)
    return `${bits >>> 31 ? '-' : '+'}${quiet ? 'Q' : 'S'}NAN`
  }
  if (!Number.isFinite(value)) return `${value < 0 ? '-' : '+'}INF `
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  if (Math.abs(value) > largestInteger) return withExponent(value.toExponential(20))
  const exponent = Number(value.toExponential(19).split('e')[1])
  if (exponent < -4) {
    const [digits, power] = value.toExponential(19).split('e')
    return withExponent(`${withoutZeros(digits!)}e${power}`)
  }
  return withoutZeros(value.toFixed(19 - exponent))
}

/** Beyond it, all 20 digits behind the point are printed. */
const largestInteger = 2 ** 31

const withoutZeros = (digits: string): string =>
  digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits

/** With two digits at least: `1.5e-08`. */
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
