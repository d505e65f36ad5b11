/**
 * Parses `.debug_line`, which contains DWARF 2 line programs with one NVIDIA extension.
 *
 * Extended opcode 0x90 marks the subsequent rows as inlined. The opcode's first argument is the row
 * of the call, counted from 1 within the sequence. The second argument is the position of the
 * function name in `.debug_str`. Row 0 ends the inlined code. The relocation of a sequence's first
 * address names the function to which the sequence belongs.
 */
import { type RawRelocation } from './elf'
import type { LineRow } from '../../domain/sass/line-table'
import { Cursor, textAt, damaged } from './byte-cursor'

/** Maximum number of rows. A kernel with 100,000 instructions has about 100,000 rows. */
const maxRows = 4_000_000

const copy = 1
const advancePc = 2
const advanceLine = 3
const setFile = 4
const constAddPc = 8
const fixedAdvancePc = 9
const endSequence = 1
const setAddress = 2
const inlinedCall = 0x90

export function readLineTable(
  bytes: Uint8Array,
  names: Uint8Array,
  relocations: readonly RawRelocation[],
): Map<string, LineRow[]> {
  const functions = new Map<string, LineRow[]>()
  const symbolAt = new Map(relocations.map(({ offset, symbol }) => [offset, symbol.name]))
  let rows = 0
  const cursor = new Cursor(bytes, 'lines')
  while (cursor.left > 0) {
    const length = cursor.u32()
    const unitAt = cursor.at
    const unit = new Cursor(bytes.subarray(0, unitAt + cursor.take(length).length), 'lines', unitAt)
    rows += readUnit(unit, names, symbolAt, functions, maxRows - rows)
  }
  for (const list of functions.values()) list.sort((a, b) => a.address - b.address)
  return functions
}

function readUnit(
  unit: Cursor,
  names: Uint8Array,
  symbolAt: ReadonlyMap<number, string>,
  functions: Map<string, LineRow[]>,
  budget: number,
): number {
  if (unit.u16() !== 2) throw damaged('lines')
  const headerBytes = unit.u32()
  const programAt = unit.at + headerBytes
  const minimumLength = unit.u8()
  unit.u8()
  const lineBase = (unit.u8() << 24) >> 24
  const lineRange = unit.u8()
  const firstSpecial = unit.u8()
  if (lineRange === 0 || firstSpecial < 10) throw damaged('lines')
  const argumentCounts = unit.take(firstSpecial - 1)
  const files = readFiles(unit)
  unit.at = programAt
  if (unit.left < 0) throw damaged('lines')

  let count = 0
  let sequence: LineRow[] = []
  let [address, line, file] = [0, 1, 1]
  let name: string | undefined
  let inlined: LineRow['inlined'] = null
  const reset = (): void => {
    sequence = []
    ;[address, line, file] = [0, 1, 1]
    name = undefined
    inlined = null
  }
  const addRow = (): void => {
    if (++count > budget) throw damaged('lines')
    const path = files[file - 1]
    if (path === undefined || address < 0 || line < 0) throw damaged('lines')
    sequence.push({ address, file: path, line, inlined })
  }
  while (unit.left > 0) {
    const opcode = unit.u8()
    if (opcode >= firstSpecial) {
      const step = opcode - firstSpecial
      address += Math.floor(step / lineRange) * minimumLength
      line += lineBase + (step % lineRange)
      addRow()
    } else if (opcode === 0) {
      const length = unit.uleb()
      const at = unit.at
      const extended = new Cursor(unit.take(length), 'lines')
      const kind = extended.u8()
      if (kind === setAddress) {
        address = 0
        name = symbolAt.get(at + 1)
      } else if (kind === inlinedCall) {
        const row = extended.uleb()
        const nameAt = extended.uleb()
        const call = sequence[row - 1]
        if (row !== 0 && !call) throw damaged('lines')
        inlined = call ? { function: textAt(names, nameAt, 'lines'), at: call } : null
      } else if (kind === endSequence) {
        if (name !== undefined) functions.set(name, [...(functions.get(name) ?? []), ...sequence])
        reset()
      }
    } else if (opcode === copy) addRow()
    else if (opcode === advancePc) address += unit.uleb() * minimumLength
    else if (opcode === advanceLine) line += unit.sleb()
    else if (opcode === setFile) file = unit.uleb()
    else if (opcode === constAddPc)
      address += Math.floor((255 - firstSpecial) / lineRange) * minimumLength
    else if (opcode === fixedAdvancePc) address += unit.u16()
    else for (let left = argumentCounts[opcode - 1]!; left > 0; left--) unit.uleb()
  }
  return count
}

/** Returns the file names, including their folders. */
function readFiles(unit: Cursor): string[] {
  const folders: string[] = []
  for (let folder = unit.text(); folder !== ''; folder = unit.text()) folders.push(folder)
  const files: string[] = []
  for (let name = unit.text(); name !== ''; name = unit.text()) {
    const folder = unit.uleb()
    unit.uleb()
    unit.uleb()
    if (folder > folders.length) throw damaged('lines')
    files.push(folder === 0 ? name : `${folders[folder - 1]}/${name}`)
  }
  return files
}
