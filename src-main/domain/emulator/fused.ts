/**
 * Compiles runs of arithmetic instructions to WebAssembly. The code executes four lanes at a time
 * and keeps registers in locals. A test checks that the results match the interpreter's bit for
 * bit. Unsupported instructions and forms are interpreted.
 */
import type { Instruction, Operand } from '../sass/instruction'
import {
  extremum,
  funnel,
  addThree,
  fusedMultiplyAdd,
  multiplyAdd,
  shiftAdd,
} from './fused/arithmetic'
import { compareFloats, compareInts, logic, predicateLogic } from './fused/logic'
import { RunWriter, unsupported, type FusedSetting } from './fused/run-writer'
import { vector, type Code } from './wasm'
import { constants, halfConstant, permute, predicatesToRegister, zeros } from './fused/moves'
import { sortOperands } from './site-operands'

function emit(run: RunWriter, instruction: Instruction): void {
  const { mnemonic } = instruction
  const name = mnemonic.startsWith('U') ? mnemonic.slice(1) : mnemonic
  const compares = name === 'ISETP' || name === 'FSETP'
  const operands = sortOperands(instruction.operands, !compares)
  const has = (modifier: string): boolean => instruction.modifiers.includes(modifier)
  const only = (...allowed: string[]): void => {
    if (!instruction.modifiers.every((word) => allowed.includes(word))) unsupported()
  }
  const source = (place: number): Operand => operands.sources[place] ?? unsupported()
  const { destination } = operands
  switch (name) {
    case 'FFMA':
      only()
      return fusedMultiplyAdd(run, source(0), source(1), source(2), destination)
    case 'FADD':
    case 'FMUL':
      only()
      run.float(source(0))
      run.float(source(1))
      run.code.vector(name === 'FADD' ? vector.floatAdd : vector.floatMul)
      run.canonicalNan()
      return run.write(destination)
    case 'MOV':
      only()
      run.int(source(0))
      return run.write(destination)
    case 'LDC':
      return constants(run, source(0), destination, has)
    case 'CS2R':
      return zeros(run, source(0), destination, has)
    case 'IMAD':
      return multiplyAdd(run, operands, has, only)
    case 'IADD3':
      return addThree(run, operands, has, only)
    case 'VIADD':
      only()
      run.int(source(0))
      run.int(source(1))
      run.code.vector(vector.intAdd)
      return run.write(destination)
    case 'LEA':
      return shiftAdd(run, operands, has, only)
    case 'SHF':
      return funnel(run, operands, has, only)
    case 'LOP3':
      only('LUT')
      return logic(run, operands)
    case 'PLOP3':
      return predicateLogic(run, instruction)
    case 'ISETP':
      return compareInts(run, instruction.modifiers, operands, has)
    case 'FSETP':
      return compareFloats(run, instruction.modifiers, operands)
    case 'SEL':
    case 'FSEL':
      only()
      if (name === 'SEL') run.int(source(0))
      else run.float(source(0))
      if (name === 'SEL') run.int(source(1))
      else run.float(source(1))
      run.predicateVector(operands.ins[0])
      run.code.vector(vector.select)
      return run.write(destination)
    case 'VIMNMX':
    case 'IMNMX':
    case 'VIADDMNMX':
      only('U32')
      return extremum(run, operands, has('U32'), name === 'VIADDMNMX')
    case 'IABS':
      only()
      run.int(source(0))
      run.code.vector(vector.intAbs)
      return run.write(destination)
    case 'PRMT':
      only()
      return permute(run, operands)
    case 'HFMA2':
      return halfConstant(run, operands)
    case 'P2R':
      only()
      return predicatesToRegister(run, operands)
    default:
      return unsupported()
  }
}

interface FusedRun {
  /** Index of the run's first instruction, and of the instruction that follows the run. */
  first: number
  end: number
  code: Code
}

/**
 * Finds the runs of arithmetic among the instructions from `from` up to `to` (exclusive), and
 * compiles them.
 */
export function fuse(
  code: readonly Instruction[],
  setting: FusedSetting,
  isNothing: (instruction: Instruction) => boolean,
  isKnown: (index: number) => boolean,
  from: number,
  to: number,
): FusedRun[] {
  const runs: FusedRun[] = []
  let run: RunWriter | null = null
  let first = from
  const emitOne = (writer: RunWriter, instruction: Instruction): void => {
    if (!isNothing(instruction)) emit(writer, instruction)
  }
  const finish = (end: number): void => {
    if (run !== null && end > first) runs.push({ first, end, code: run.finish() })
    run = null
  }
  for (let index = from; index < to; index++) {
    if (run === null) {
      run = new RunWriter(setting)
      first = index
    }
    if (!isKnown(index) || !run.add(code[index]!, index, emitOne)) finish(index)
  }
  finish(to)
  return runs
}
