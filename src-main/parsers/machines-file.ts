/** Parses machines.yaml strictly, and edits it without removing its comments. */
import { isMap, parseDocument } from 'yaml'
import { MachinesFile, type WrittenMachine } from '../domain/remote/machine-file'
import { readYaml, refuse, schemaFaults } from './kernels/yaml-places'

/**
 * Parses machines.yaml. Throws an input error that lists every error with its line. `file` is used
 * only in error messages.
 */
export function parseMachines(text: string, file: string): MachinesFile {
  const yaml = readYaml(text)
  if (yaml.faults.length > 0) refuse(file, yaml.faults)
  const parsed = MachinesFile.safeParse(yaml.value)
  return parsed.success
    ? parsed.data
    : refuse(file, schemaFaults(yaml, MachinesFile, parsed.error.issues))
}

const emptyFile = 'kernel_ladder_machines: 1\nmachines: {}\n'

/**
 * Returns the file's text after adding or replacing one machine, or after removing the machine if
 * `entry` is null. `text` must be the text of a valid file, or null if there is no file.
 */
export function editMachines(
  text: string | null,
  name: string,
  entry: WrittenMachine | null,
): string {
  const document = parseDocument(text ?? emptyFile)
  const machines = document.get('machines')
  if (isMap(machines)) machines.flow = false
  if (entry === null) document.deleteIn(['machines', name])
  else document.setIn(['machines', name], document.createNode(entry))
  return document.toString({ lineWidth: 0 })
}
