/**
 * Fuzzes single instructions with damaged bits. Each instruction must be rejected, or all of its
 * bits must have an effect.
 */
import { controlOf, isControl } from '../../src-main/domain/emulator/control'
import type { EmulatorState } from '../../src-main/domain/emulator/site'
import { isNothing, stepOf } from '../../src-main/domain/emulator/steps'
import { Halt, type Counts } from '../../src-main/domain/emulator/warp'
import { inputError } from '../../src-main/domain/errors'
import { message } from '../../src-main/domain/messages/message'
import type { Instruction } from '../../src-main/domain/sass/instruction'
import { decode, flipped, formsOf, lastBit, type Words } from '../domain/emulator/flips'
import { bytes, type Reader } from './reader'
import { specialRegister } from '../../src-main/domain/emulator/special-registers'

const buffer = new ArrayBuffer(65536)
const counts = new Proxy({} as Counts, { get: () => new Float64Array(16) })

/** A launch state that is used only to create steps, which are not executed. */
const machine: EmulatorState = {
  views: {
    words: new Int32Array(buffer),
    unsigned: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
    bytes: new Uint8Array(buffer),
    halves: new Uint16Array(buffer),
  },
  ...{ registers: 256, sharedBytes: 4096, localBytes: 512, growsStack: false, clustered: false },
  counts,
  constant: () => 0,
  generic: () => null,
  special: (name) => specialRegister(name, { block: [32, 1, 1], grid: [1, 1, 1] }),
  clock: () => 0,
  inBuffer: () => true,
  report: () => {},
  print: () => {},
  seen: () => {},
  trace: null,
}

/** Returns whether the emulator executes an instruction instead of rejecting it. */
function isExecuted(instruction: Instruction): boolean {
  try {
    if (isControl(instruction)) controlOf(instruction, 1, machine)
    else stepOf(instruction, 1, machine)
    return true
  } catch (error) {
    if (error instanceof Halt && error.reason === 'unknown-instruction') return false
    throw error
  }
}

/** Returns an instruction's meaning as text, without the scheduling bits. */
const saying = ({ guard, mnemonic, modifiers, operands }: Instruction): string =>
  JSON.stringify([guard, mnemonic, modifiers, operands])

/** Returns whether an instruction always stops the kernel. */
const stops = ({ mnemonic }: Instruction): boolean => mnemonic === 'BPT'

/** A nonexistent modifier. A step that accepts the nonexistent modifier ignores all modifiers. */
const unheardOf = 'UNHEARDOF'

/** Throws an error if an executed instruction has a bit that has no meaning. */
function requireConsumed(words: Words): 'executed' {
  const own = decode(words)
  if (!own || !isExecuted(own)) throw inputError(message('checks.notBuilt'))
  if (!isNothing(own) && !stops(own)) {
    const modifiers = [...own.modifiers, unheardOf]
    if (isExecuted({ ...own, modifiers })) throw new Error(`${own.mnemonic} knows any modifier`)
  }
  const said = saying(own)
  for (let bit = 0; bit <= lastBit; bit++) {
    const other = decode(flipped(words, bit))
    if (other && saying(other) === said)
      throw new Error(`bit ${bit} of ${own.mnemonic} means nothing`)
  }
  return 'executed'
}

const bytesOf = (words: Words): Uint8Array =>
  new Uint8Array(Uint32Array.from(words).buffer.slice(0))

export const readersOfInstructions: readonly Reader[] = [
  bytes(
    'bit flips',
    () => formsOf().map(({ words: [words] }) => bytesOf(words!)),
    (input) => {
      const whole = new Uint8Array(16)
      whole.set(input.subarray(0, 16))
      const view = new DataView(whole.buffer)
      const [a, b, c, d] = [0, 4, 8, 12].map((at) => view.getUint32(at, true))
      return requireConsumed([a!, b!, c!, d!])
    },
  ),
]
