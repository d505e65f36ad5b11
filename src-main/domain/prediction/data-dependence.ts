/** Whether what a kernel does depends on the data that it reads: then its time does too. */
import { zeroRegister, truePredicate, type Instruction, type Operand } from '../sass/instruction'

const loads = new Set(['LD', 'LDG', 'LDS', 'LDL', 'LDSM', 'ATOM', 'ATOMG', 'ATOMS'])
const fromMemory = new Set(['LD', 'LDG', 'ATOM', 'ATOMG'])
/** Those whose first operands are not what they write. */
const writesNothing = new Set(['ST', 'STG', 'STS', 'STL', 'STSM', 'RED', 'REDG', 'LDGSTS', 'BAR'])

const keyOf = (operand: Operand): string | null => {
  switch (operand.kind) {
    case 'register':
      return operand.index === zeroRegister ? null : `R${operand.index}`
    case 'uniform-register':
      return `UR${operand.index}`
    case 'predicate':
      return operand.index === truePredicate ? null : `P${operand.index}`
    case 'uniform-predicate':
      return operand.index === truePredicate ? null : `UP${operand.index}`
    default:
      return null
  }
}

const wordsOf = ({ modifiers }: Instruction): number =>
  modifiers.includes('128') ? 4 : modifiers.includes('64') || modifiers.includes('WIDE') ? 2 : 1

/**
 * Follows loaded values once through the code, in order, through registers and predicates: an address or a branch that
 * depends on one is found. Loops are followed twice, for what comes around. Shared memory is not followed.
 */
export function dataDependence(code: readonly Instruction[]): {
  readonly addresses: boolean
  readonly branches: boolean
} {
  let [addresses, branches] = [false, false]
  const tainted = new Set<string>()
  for (let pass = 0; pass < 2; pass++)
    for (const instruction of code) {
      const { mnemonic, operands, guard } = instruction
      const guardKey = `${guard.kind === 'predicate' ? 'P' : 'UP'}${guard.index}`
      const guarded = guard.index !== truePredicate && tainted.has(guardKey)
      const jumps = mnemonic === 'BRA' || mnemonic === 'BRX' || mnemonic === 'BREAK'
      if (jumps && (guarded || operands.some((each) => tainted.has(keyOf(each) ?? ''))))
        branches = true
      const memory = operands.find((each) => each.kind === 'memory')
      if (memory?.register != null && memory.register !== zeroRegister && mnemonic !== 'SHFL')
        addresses ||= tainted.has(`R${memory.register}`)
      if (writesNothing.has(mnemonic)) continue
      const [destination] = operands
      if (!destination) continue
      const reads = operands.slice(1).some((each) => tainted.has(keyOf(each) ?? ''))
      const result = fromMemory.has(mnemonic) || ((reads || guarded) && !loads.has(mnemonic))
      const key = keyOf(destination)
      if (key === null) continue
      const words = destination.kind === 'register' ? wordsOf(instruction) : 1
      for (let word = 0; word < words; word++) {
        const own = destination.kind === 'register' ? `R${destination.index + word}` : key
        if (result) tainted.add(own)
        else if (guard.index === truePredicate) tainted.delete(own)
      }
      // Comparisons write a second predicate.
      if (destination.kind === 'predicate' && operands[1]?.kind === 'predicate') {
        const second = keyOf(operands[1])
        if (second && result) tainted.add(second)
      }
    }
  return { addresses, branches }
}
