/**
 * Assembles instructions from text in the format of NVIDIA's disassembler. Assembly text makes the
 * programs in tests readable.
 */
import { halfBits } from '../../../src-main/domain/emulator/float'
import {
  truePredicate,
  zeroRegister,
  zeroUniformRegister,
  type Instruction,
  type MemoryOperand,
  type Operand,
} from '../../../src-main/domain/sass/instruction'

const control = {
  stall: 0,
  yield: false,
  writeBarrier: null,
  readBarrier: null,
  waitMask: 0,
}

const index = (name: string, zero: string, zeroIndex: number): number =>
  name === zero ? zeroIndex : Number(name.replace(/^[A-Z]+/, ''))

function floatBits(text: string): number {
  const value = text.replace('QNAN', 'NaN').replace('INF', 'Infinity')
  return new Int32Array(new Float32Array([Number(value)]).buffer)[0]!
}

const register = (name: string): number => index(name, 'RZ', zeroRegister)
const uniform = (name: string): number => index(name, 'URZ', zeroUniformRegister)
const predicate = (name: string): number =>
  /^U?PT$/.test(name) ? truePredicate : Number(name.replace(/^U?P/, ''))

function memory(text: string): MemoryOperand {
  const described = /^desc\[(UR\w+)\]/.exec(text)
  const inner = /\[([^[\]]*)\]$/.exec(text)![1]!
  const operand = {
    kind: 'memory' as const,
    register: null as number | null,
    width: 32 as 32 | 64,
    scale: 1 as 1 | 4 | 8 | 16,
    uniform: null as number | null,
    descriptor: described ? uniform(described[1]!) : null,
    offset: 0,
  }
  for (const part of inner.split('+')) {
    const [, name, suffixes] = /^([A-Z0-9]+)((?:\.[A-Z0-9]+)*)$/.exec(part) ?? []
    if (name?.startsWith('UR')) operand.uniform = uniform(name)
    else if (name?.startsWith('R')) {
      operand.register = register(name)
      if (suffixes!.includes('.64')) operand.width = 64
      const scale = /\.X(\d+)/.exec(suffixes!)
      if (scale) operand.scale = Number(scale[1]) as 4
    } else operand.offset += Number(part.startsWith('-') ? -Number(part.slice(1)) : part)
  }
  return operand
}

export function parseOperand(text: string, float: boolean): Operand {
  const constant = /^([-~]?)(\|?)c\[(\w+)\]\s*\[(\w+)\](?:\.(\w+))?\|?$/.exec(text)
  if (constant)
    return {
      kind: 'constant',
      negated: constant[1] === '-',
      inverted: constant[1] === '~',
      absolute: constant[2] === '|',
      bank: Number(constant[3]),
      offset: Number(constant[4]),
      register: null,
      uniform: null,
      suffixes: constant[5] === undefined ? [] : [constant[5]],
    }
  if (text.includes('[')) return memory(text)
  const pred = /^(!?)(U?)(P[T\d])$/.exec(text)
  if (pred)
    return {
      kind: pred[2] === 'U' ? 'uniform-predicate' : 'predicate',
      index: predicate(pred[3]!),
      negated: pred[1] === '!',
    }
  if (/^U?PR$/.test(text)) return { kind: 'predicate-file', uniform: text === 'UPR' }
  if (/^S(R_|RZ)/.test(text)) return { kind: 'special-register', index: 0, name: text }
  if (/^B\d+$/.test(text)) return { kind: 'convergence-barrier', index: Number(text.slice(1)) }
  if (/^SB\d$/.test(text)) return { kind: 'scoreboard', index: Number(text[2]), group: false }
  const reg = /^([-~]?)(\|?)(U?R(?:Z|\d+))(\|?)((?:\.\w+)*)$/.exec(text)
  if (reg) {
    const modifiers = {
      negated: reg[1] === '-',
      inverted: reg[1] === '~',
      absolute: reg[2] === '|',
      suffixes: reg[5]!.split('.').filter((part) => part !== '' && part !== 'reuse'),
    }
    return reg[3]!.startsWith('U')
      ? { kind: 'uniform-register', index: uniform(reg[3]!), ...modifiers }
      : {
          kind: 'register',
          index: register(reg[3]!),
          reuse: false,
          ...modifiers,
        }
  }
  if (/^-?0x[0-9a-f]+$/.test(text)) {
    const bits = text.startsWith('-') ? -Number(text.slice(1)) : Number(text)
    return {
      kind: 'immediate',
      bits: bits | 0,
      type: 'integer',
      signed: text.startsWith('-'),
    }
  }
  if (float && /^[-+]?(\d|INF|QNAN)/.test(text))
    return {
      kind: 'immediate',
      bits: floatBits(text),
      type: 'f32',
      signed: false,
    }
  if (/^-?\d+$/.test(text))
    return {
      kind: 'immediate',
      bits: Number(text),
      type: 'integer',
      signed: false,
    }
  return { kind: 'word', text }
}

/** Assembles one instruction. `target` converts a printed branch target to its address. */
export function assembleLine(
  text: string,
  address: number,
  target: (text: string) => number = Number,
): Instruction {
  const [, guard, name, rest] = /^\s*(?:@(!?U?P[T\d])\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;?$/.exec(text)!
  const [mnemonic, ...modifiers] = name!.split('.')
  const float = mnemonic!.startsWith('F') || mnemonic === 'MUFU'
  const halves = /^H/.test(mnemonic!)
    ? rest!.replace(/, ([^,]+), ([^,]+)$/, (whole, high: string, low: string) =>
        [high, low].every((part) => /^[-+]?\d/.test(part))
          ? `, pair ${(halfBits(Number(high)) << 16) | halfBits(Number(low))}`
          : whole,
      )
    : rest!
  const operands = halves
    .split(/,(?![^[]*\])/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part, place, parts): Operand => {
      const jumps = /^(BRA|BSSY|CALL|RET|WARPSYNC)$/.test(mnemonic!)
      if (jumps && place === parts.length - 1 && /^(0x|\.L)/.test(part))
        return { kind: 'target', address: target(part) }
      const pair = /^pair (-?\d+)$/.exec(part)
      if (pair)
        return {
          kind: 'immediate',
          bits: Number(pair[1]),
          type: 'f16x2',
          signed: false,
        }
      return parseOperand(part, float)
    })
  const guardOperand = guard === undefined ? null : parseOperand(guard, false)
  return {
    address,
    words: [0, 0, 0, 0],
    guard: (guardOperand as Instruction['guard'] | null) ?? {
      kind: 'predicate',
      index: truePredicate,
      negated: false,
    },
    mnemonic: mnemonic!,
    modifiers,
    operands,
    control,
  }
}

/**
 * Assembles a function with one instruction per line. A label such as `.L1:` refers to the next
 * instruction.
 */
export function assemble(text: string): Instruction[] {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\/\/.*$/, '').trim())
    .filter((line) => line !== '')
  const labels = new Map<string, number>()
  const code: string[] = []
  for (const line of lines) {
    const label = /^(\.L\w+):$/.exec(line)
    if (label) labels.set(label[1]!, code.length * 16)
    else code.push(line)
  }
  return code.map((line, place) =>
    assembleLine(line, place * 16, (name) => labels.get(name) ?? Number(name)),
  )
}
