/** Code generators for the instructions in a run that move constants, bytes, and predicates. */
import type { Operand } from '../../sass/instruction'
import { predicateTrue } from '../warp'
import { vector } from '../wasm'
import { unsupported, isZero, type RunWriter, type RegisterLike } from './run-writer'
import type { Operands } from '../site-operands'

export function constants(
  run: RunWriter,
  operand: Operand,
  destination: RegisterLike | null,
  has: (modifier: string) => boolean,
): void {
  if (['U8', 'S8', 'U16', 'S16'].some(has)) unsupported()
  const words = has('128') ? 4 : has('64') ? 2 : 1
  for (let part = 0; part < words; part++) {
    run.raw(operand, part)
    run.write(destination, part)
  }
}

export function zeros(
  run: RunWriter,
  operand: Operand,
  destination: RegisterLike | null,
  has: (modifier: string) => boolean,
): void {
  if (operand.kind !== 'special-register' || operand.name !== 'SRZ') return unsupported()
  for (let part = 0; part < (has('32') ? 1 : 2); part++) {
    run.code.splat(0)
    run.write(destination, part)
  }
}

export function permute(run: RunWriter, { sources, destination }: Operands): void {
  const { code } = run
  const [a, selector, b] = sources
  if (!a || !b || selector?.kind !== 'immediate') return unsupported()
  const places: number[] = []
  for (let word = 0; word < 4; word++)
    for (let byte = 0; byte < 4; byte++) {
      const from = (selector.bits >>> (4 * byte)) & 15
      if (from & 8) return unsupported()
      places.push(4 * word + (from & 3) + (from & 4 ? 16 : 0))
    }
  run.int(a)
  run.int(b)
  code.shuffle(places)
  run.write(destination)
}

/**
 * HFMA2.MMA R1, -RZ, RZ, x, y: loads a constant. Compilers emit HFMA2.MMA to use the tensor pipe's
 * issue port.
 */
export function halfConstant(run: RunWriter, { sources, destination }: Operands): void {
  const [a, b, c] = sources
  if (!a || !b || c?.kind !== 'immediate' || !isZero(a) || !isZero(b)) return unsupported()
  // The constant -0 is unsupported, because the addition -0 + 0 returns +0.
  if ((c.bits & 0x7fff) === 0 && c.bits & 0x8000) return unsupported()
  if ((c.bits & 0x7fff0000) === 0 && c.bits & 0x80000000) return unsupported()
  run.code.splat(c.bits)
  run.write(destination)
}

export function predicatesToRegister(run: RunWriter, { sources, destination }: Operands): void {
  const { code } = run
  const [file, rest, mask] = sources
  const isFile =
    file?.kind === 'predicate-file' ? !file.uniform : file?.kind === 'word' && file.text === 'PR'
  if (!isFile || !rest || mask?.kind !== 'immediate') return unsupported()
  run.raw(rest)
  code.splat(~mask.bits)
  code.vector(vector.and)
  for (let index = 0; index < predicateTrue; index++) {
    if (!((mask.bits >>> index) & 1)) continue
    code.get(run.predicateLocal(index))
    run.expand()
    code.splat(1 << index)
    code.vector(vector.and)
    code.vector(vector.or)
  }
  run.write(destination)
}
