/** `kernel-ladder lab …`: labs from the command line. */
import type { Command } from 'commander'
import { resolve } from 'node:path'
import { assets } from '../../adapters/assets'
import { readKernelLibrary } from '../../adapters/kernel-library'
import { labReferences, labsDir, readLabs, readShippedLabs } from '../../adapters/lab-library'
import { exitCodes } from '../../domain/errors'
import { faultSentence } from '../../domain/lab'
import { note, printText } from './output'

async function validateCommand(folder: string | undefined): Promise<number> {
  const library = await readKernelLibrary((await assets()).kernelsDir)
  const known =
    folder === undefined ? [] : (await readShippedLabs(library)).labs.map(({ lab }) => lab)
  const { labs, faults } = await readLabs(
    folder === undefined ? labsDir(library.root) : resolve(folder),
    labReferences(library),
    known,
  )
  for (const { id, lab, files } of labs)
    printText(
      `${id}: ${lab.title}; ${lab.checks.length} checks, ${lab.predictions.length} predictions, ${lab.questions.length} questions, ${lab.hints.length} hints, ${files.length} files`,
    )
  for (const fault of faults) note(`error: ${faultSentence(fault)}`)
  return faults.length > 0 ? exitCodes.input : 0
}

export function addLabCommands(cli: Command, finish: (code: number) => void): void {
  const lab = cli.command('lab').description('exercises: predict, change, measure')
  lab
    .command('validate')
    .description('read a lab, or a folder of labs, and name every fault with its file and line')
    .argument('[dir]', 'the shipped labs unless given')
    .action(async (dir: string | undefined) => finish(await validateCommand(dir)))
}
