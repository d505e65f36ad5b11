/** Defines the subcommands of `kernel-ladder lab`. */
import { labTargets } from '../../../domain/targets/targets'
import {
  labCheckCommand,
  labGradeCommand,
  labListCommand,
  labRegradeCommand,
  labStartCommand,
  labTrustCommand,
  labValidateCommand,
} from '.'
import type { LabCheckOptions } from './lab-command'
import type { LabGradeOptions } from './lab-grade-command'
import { json, noWait, type CommandLine } from '../shared-options'

const labName = 'the id of a lab in `lab list`, or a lab’s folder'

export function addLabCommands({ cli, setUp, finish, given }: CommandLine): void {
  const lab = cli.command('lab').description('exercises: predict, change, measure')
  lab
    .command('list')
    .description('list the labs in order')
    .option(...json)
    .action(async (options: { json?: boolean }) => finish(await labListCommand(setUp, options)))
  lab
    .command('start')
    .description('copy a lab’s starting files into a folder')
    .argument('<id>', labName)
    .argument('<dir>', 'the folder; nothing in it is overwritten')
    .action(async (id: string, dir: string) => finish(await labStartCommand(setUp, id, dir)))
  lab
    .command('check')
    .description(
      'check a submission; exits 0 if it passed, 1 if not yet, 2 on bad input, 3 if it cannot be checked here',
    )
    .argument('<id>', labName)
    .requiredOption('--file <file>', 'the submission')
    .option(
      '--answers <file>',
      'predictions and answers (default: answers.yaml next to the submission)',
    )
    .option(
      '--target <target>',
      `${labTargets.join(' or ')} (default: local with a GPU, else predicted if the lab checks times, else emulated); recordings exist only for the labs that ship`,
    )
    .option(
      '--timeout <seconds>',
      'stop the code as hung after this long without progress (default: 60)',
    )
    .option('--seed <n>', 'seed of the random inputs, 0 to 1000000 (default: 1)')
    .option(...noWait)
    .option('--out <dir>', 'save the attempt to this folder, which must not exist yet')
    .option(...json)
    .action(async (id: string, options: LabCheckOptions) =>
      finish(await labCheckCommand(setUp, id, options)),
    )
  lab
    .command('grade')
    .description('grade a folder of submissions, each in its own process tree; one row per student')
    .argument(
      '<dir>',
      'one .cu file or folder per student; or folders named after labs that contain these',
    )
    .option('--lab <id>', 'the lab to grade (default: the folder’s name)')
    .option('--csv', 'print comma-separated values, one column per check')
    .option(...json)
    .option('--out <file>', 'write the CSV to a file that does not exist yet')
    .option('--jobs <n>', 'submissions to grade in parallel (default: one per GPU)')
    .option(
      '--tasks <n>',
      'with Slurm: an array of this many jobs, each checking a part of the submissions',
    )
    .addOption(lab.createOption('--part <k/n>').hideHelp())
    .option('--trust', 'build and run the code of a lab that does not ship with the program')
    .option('--timeout <seconds>', 'time limit per submission (default: 120)')
    .option(
      '--memory <GiB>',
      'memory limit per submission, for all its processes together (default: 8)',
    )
    .option(
      '--readable <dir...>',
      'folders that submissions may read, such as that of a CUDA toolkit',
    )
    .option('--unisolated', 'grade even if this machine cannot isolate submissions')
    .option(
      '--target <target>',
      `${labTargets.join(' or ')}, or a machine of \`machine list\` (default: local with a GPU, else predicted if the lab checks times, else emulated)`,
    )
    .action(async (dir: string, options: LabGradeOptions) =>
      finish(await labGradeCommand(setUp, dir, options, given)),
    )
  lab
    .command('regrade')
    .description(
      'grade a submission again from its record; exits 0 if the row is the same, 1 if it differs',
    )
    .argument('<record>', 'the file listed for the row by `lab grade --json`')
    .option('--timeout <seconds>', 'time limit (default: 120)')
    .option('--memory <GiB>', 'memory limit (default: 8)')
    .option(
      '--readable <dir...>',
      'folders that the compiler may read, such as that of a CUDA toolkit',
    )
    .option('--unisolated', 'run even if this machine cannot isolate submissions')
    .action(async (record: string, options: LabGradeOptions) =>
      finish(await labRegradeCommand(setUp, record, options)),
    )
  lab
    .command('trust')
    .description('show every file of a third-party lab, and allow its code to be built and run')
    .argument('<dir>', 'the folder of the lab')
    .option('--yes', 'confirm without asking, for use without a terminal')
    .action(async (dir: string, options: { yes?: boolean }) =>
      finish(await labTrustCommand(setUp, dir, options)),
    )
  lab
    .command('validate')
    .description('check a lab, or a folder of labs, and report every error with its file and line')
    .argument('[dir]', 'the folder (default: the shipped labs)')
    .action(async (dir: string | undefined) => finish(await labValidateCommand(setUp, dir)))
}
