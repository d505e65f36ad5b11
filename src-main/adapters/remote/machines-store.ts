/**
 * Reads and writes the user's machines.yaml. The file is read on every access, because users also
 * edit it by hand.
 */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { MachinesFile, WrittenMachine } from '../../domain/remote/machine-file'
import { editMachines, parseMachines } from '../../parsers/machines-file'
import { diskError, errorCode, makeFolder, replaceFile } from '../disk/disk'

export const machinesPath = (config: string): string => join(config, 'machines.yaml')

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw diskError(error, path, 'read')
  }
}

/**
 * Reads the machines. Throws an input error with the file, line, and column if the file is invalid.
 */
export async function readMachines(config: string): Promise<MachinesFile['machines']> {
  const path = machinesPath(config)
  const text = await readText(path)
  return text === null ? {} : parseMachines(text, path).machines
}

/**
 * Adds or replaces one machine, or removes it if `entry` is null. The rest of the file stays
 * unchanged.
 */
export async function writeMachine(
  config: string,
  name: string,
  entry: WrittenMachine | null,
): Promise<void> {
  const path = machinesPath(config)
  const before = await readText(path)
  if (before !== null) parseMachines(before, path)
  const text = editMachines(before, name, entry)
  parseMachines(text, path)
  try {
    await makeFolder(dirname(path))
    await replaceFile(path, text, { mode: 0o600 })
  } catch (error) {
    throw diskError(error, path, 'write', 'other')
  }
}
