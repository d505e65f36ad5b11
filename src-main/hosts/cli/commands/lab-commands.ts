/** The words of `kernel-ladder lab`. */
import type { Command } from 'commander'
import { labGradeCommand, type LabGradeOptions } from './lab-grade-command'
import {
  labCheckCommand,
  labListCommand,
  labStartCommand,
  labTrustCommand,
  labValidateCommand,
  type LabCheckOptions,
} from './lab-command'

const json = ['--json', 'exactly one JSON document on stdout'] as const
const labName = 'a lab of `lab list`, or the folder of one'

export function addLabCommands(cli: Command, finish: (code: number) => void): void {
  const lab = cli.command('lab').description('exercises: predict, change, measure')
  lab
    .command('list')
    .description('the labs in their order')
    .option(...json)
    .action(async (options: { json?: boolean }) => finish(await labListCommand(options)))
  lab
    .command('start')
    .description('put what a student begins with into a folder')
    .argument('<id>', labName)
    .argument('<dir>', 'nothing in it is overwritten')
    .action(async (id: string, dir: string) => finish(await labStartCommand(id, dir)))
  lab
    .command('check')
    .description('0 passed, 1 not yet, 2 bad input, 3 cannot be checked here')
    .argument('<id>', labName)
    .requiredOption('--file <file>', 'the submission')
    .option('--answers <file>', 'predictions and answers; answers.yaml beside the submission')
    .option('--target <target>', 'local, or recorded for the shipped outcome', 'local')
    .option('--timeout <seconds>', 'code without progress for so long counts as hung (60)')
    .option('--no-wait', 'end with 3 when another run uses the GPU, in place of waiting for it')
    .option('--out <dir>', 'keep the attempt in this folder, which must not exist')
    .option(...json)
    .action(async (id: string, options: LabCheckOptions) =>
      finish(await labCheckCommand(id, options)),
    )
  lab
    .command('grade')
    .description('a folder of submissions, each in a process tree of its own, as a row a student')
    .argument(
      '<dir>',
      'a .cu file or a folder for each student; or folders named as labs, with those',
    )
    .option('--lab <id>', 'the lab they are of; else the folder’s name')
    .option('--csv', 'comma-separated values, a column a check')
    .option(...json)
    .option('--out <file>', 'write the CSV to a file that does not exist yet')
    .option('--jobs <n>', 'so many at a time; as many as there are GPUs unless given')
    .option('--timeout <seconds>', 'the most a submission may take (120)')
    .option('--memory <GiB>', 'the most its processes may hold together (8)')
    .option('--readable <dir...>', 'folders that submissions may read, such as a toolkit’s')
    .option('--unisolated', 'grade also where this machine cannot keep submissions apart')
    .option('--target <target>', 'local or recorded', 'local')
    .action(async (dir: string, options: LabGradeOptions) =>
      finish(await labGradeCommand(dir, options)),
    )
  lab
    .command('trust')
    .description('show every file of a lab from elsewhere, and allow its code to be built and run')
    .argument('<dir>', 'the folder of the lab')
    .option('--yes', 'the answer, where there is no terminal to ask on')
    .action(async (dir: string, options: { yes?: boolean }) =>
      finish(await labTrustCommand(dir, options)),
    )
  lab
    .command('validate')
    .description('read a lab, or a folder of labs, and name every fault with its file and line')
    .argument('[dir]', 'the shipped labs unless given')
    .action(async (dir: string | undefined) => finish(await labValidateCommand(dir)))
}
