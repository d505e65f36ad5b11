/** Warp-level loads and stores of 8 x 8 matrices (LDSM, STSM). */
import { addressOf, checked, countCost, traceOf, valueOperand, watchAll } from './memory-access'
import { lanes, noCost, type Site } from './site'
import type { Step } from './warp'
import { sharedMatrices } from './accesses'
import { patternsOf, periodOf } from './access-patterns'

/**
 * Returns the function that executes LDSM or STSM. Each group of eight lanes supplies the row
 * addresses of an 8 x 8 matrix of halves. Lane i holds two elements of row i / 4.
 */
export function matrices(at: Site, storing: boolean): Step {
  at.expect('16')
  const count = Number(at.oneOf(['1', '2', '4']) ?? 1)
  const transposed = at.has('MT88')
  if (!transposed && !at.has('M88')) return at.unknown()
  const operand = storing ? valueOperand(at) : null
  const registers = Array.from({ length: count }, (_, part) =>
    operand === null ? null : at.raw(operand, part),
  )
  const puts = storing ? [] : registers.map((_, part) => at.put(part))
  const address = addressOf(at, at.memory(), 'shared')
  const check = checked(at, 'shared', 16, storing, address)
  const { halves } = at.views
  const costs = patternsOf([periodOf('shared')], (_, addresses) => {
    const { wavefronts, ideal } = sharedMatrices(count, addresses)
    const hardware = { passes: wavefronts, conflicts: wavefronts - count }
    return { ...noCost, wavefronts, idealWavefronts: ideal, ...hardware }
  })
  const traced = traceOf(at, 'shared', storing ? 'store' : 'load', 16)
  const rows = new Int32Array(lanes)
  const used = count === 4 ? -1 : (1 << (8 * count)) - 1
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const good = check(warp, used, rows)
    if (good === 0) return
    const cost = costs(good, rows)
    countCost(at, cost)
    traced(warp, good, rows, cost.passes)
    watchAll(at, 'shared', warp, good, rows, 16, storing)
    const { base } = warp
    for (let part = 0; part < count; part++) {
      const element = (row: number, column: number): number =>
        ((warp.block.shared + rows[8 * part + row]!) >>> 1) + column
      for (let lane = 0; lane < lanes; lane++) {
        const row = lane >> 2
        const column = 2 * (lane & 3)
        const first = transposed ? element(column, row) : element(row, column)
        const second = transposed ? element(column + 1, row) : first + 1
        if (storing) {
          const value = registers[part]!(base, lane)
          halves[first] = value
          halves[second] = value >>> 16
        } else puts[part]!(base, lane, halves[first]! | (halves[second]! << 16))
      }
    }
  }
}
