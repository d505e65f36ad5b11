/** Single instructions with damaged bits: each is refused, or every one of its bits is consumed. */
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

/** A launch in which steps can be made; none is executed. */
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

/** Whether the emulator executes an instruction; false if it is refused. */
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

/** What an instruction says, without the bits that only schedule it. */
const saying = ({ guard, mnemonic, modifiers, operands }: Instruction): string =>
  JSON.stringify([guard, mnemonic, modifiers, operands])

/** Whether an instruction stops the kernel whatever else it says. */
const stops = ({ mnemonic }: Instruction): boolean => mnemonic === 'BPT'

/** A modifier that no step knows: one that a step executes all the same is not consumed. */
const unheardOf = 'UNHEARDOF'

/** Throws where an instruction that is executed has a bit that means nothing. */
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
