/** Defines the commands that measure or check code. */
import { profileLevels, programLevels } from '../../../domain/metrics/metric-definition'
import { timingWays } from '../../../domain/session/session'
import { defaultSecondsARung, sanitizerTools } from '../../../domain/session/sanitizer'
import { targetHelp } from '../../../domain/targets/targets'
import { exhaustiveLimit, strategyNames } from '../../../domain/tune/search-strategy'
import {
  profileCommand,
  regressCommand,
  runCommand,
  runSeveralCommand,
  sanitizeCommand,
  tuneCommand,
} from '.'
import { type RunOptions } from '../parse-run-request'
import type { ProfileOptions } from './profile-command'
import type { RegressCommandOptions } from './regress-command'
import type { SanitizeCommandOptions } from './sanitize-command'
import type { TuneCommandOptions } from './tune-command'
import {
  addProblemOptions,
  warm,
  gpu,
  json,
  ladderHelp,
  repeated,
  noWait,
  rungTimeout,
  trust,
  type CommandLine,
} from '../shared-options'

export function addRun({ cli, setUp, finish, tasks }: CommandLine): void {
  const run = cli
    .command('run')
    .description('build, verify, time and profile a ladder, and save the session')
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option('--rung <id>', 'with --commits: the rung, or the path of a file in a git repository')
    .option('--commits <A..B>', 'run every commit in this range that changed the rung, as rungs')
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      repeated,
    )
    .option('--target <target>', `${targetHelp}; several at once with commas`, 'local')
    .option('--profile <level>', `${profileLevels.join(', ')} (default: card; none with --watch)`)
    .option('--profile-skip <ids>', 'rungs to time but not to profile (comma-separated)')
    .option(
      '--profile-limit <seconds>',
      'do not profile rungs that are expected to take longer; the estimate is printed',
    )
    .option('--watch', 'for a ladder folder: on every save, run the rungs that changed')
    .option(
      '--timing <way>',
      `${timingWays.join(', ')}: in addition to single launches, bursts on an idle GPU, each rung repeatedly for seconds, or both (default: single)`,
    )
    .option(...warm)
    .option(...rungTimeout)
    .option(...gpu)
    .option(...noWait)
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option(...trust)
    .option(...json)
  const ofRun = addProblemOptions(run, tasks, 'set every size of the ladder’s task')
  run.action(async (options: RunOptions) => {
    const command = options.target.includes(',') ? runSeveralCommand : runCommand
    finish(await command(setUp, options, ofRun))
  })
}

export function addProfile({ cli, setUp, finish }: CommandLine): void {
  cli
    .command('profile')
    .description(
      'profile the kernels of any program: all kernels are timed, and the most time-consuming are profiled',
    )
    .usage('[options] -- COMMAND [ARGUMENTS]')
    .argument('<command...>', 'the program and its arguments, which are passed on exactly')
    .option('--kernels <regex>', 'only kernels whose function name contains a match')
    .option('--nvtx <range>', 'only kernels launched in this NVTX range')
    .option('--skip <n>', 'skip this many of the matching launches', '0')
    .option('--count <n>', 'profile at most this many launches')
    .option('--profile <level>', programLevels.join(', '), 'standard')
    .option('--timeout <seconds>', 'time limit for the program under ncu', '600')
    .option(...noWait)
    .option('--out <dir>', 'save the session to this folder, which must not exist yet')
    .option(...json)
    .action(async (words: string[], options: ProfileOptions) =>
      finish(await profileCommand(setUp, words, options)),
    )
}

export function addRegress({ cli, setUp, finish, tasks }: CommandLine): void {
  const regress = cli
    .command('regress')
    .description(
      'rebuild the old code of a ladder, measure old and new alternately on this GPU, and exit with 1 if a rung got slower',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .requiredOption(
      '--against <old>',
      'the old code: a session folder or name, recorded:<name>, or a git revision',
    )
    .option('--rungs <ids>', 'only these rungs (comma-separated)')
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      repeated,
    )
    .option(
      '--threshold <percent>',
      'the smallest change to report, 0.1 to 100; at least the difference between identical code (default: 0.5)',
    )
    .option(
      '--rounds <n>',
      'number of new processes that time old and new alternately, 6 to 1000 (default: 24)',
    )
    .option('--seconds <s>', 'sampling time per rung and round, 0.01 to 60 (default: 0.1)')
    .option('--calibrate', 'measure again the difference between identical code')
    .option(...warm)
    .option(...rungTimeout)
    .option(...gpu)
    .option(...noWait)
    .option(
      '--trust',
      'allow building and running the code of this ladder folder from now on, and the code of a third-party session',
    )
    .option(...json)
    .option('--markdown', 'print Markdown for a pull request')
    .option('--junit <file>', 'also write JUnit XML to a file that does not exist yet')
  const ofRegress = addProblemOptions(regress, tasks, 'set every size of the ladder’s task')
  regress.action(async (options: RegressCommandOptions) =>
    finish(await regressCommand(setUp, options, ofRegress)),
  )
}

export function addTune({ cli, setUp, finish, tasks, given }: CommandLine): void {
  const tuning = cli
    .command('tune')
    .description(
      'try the values of a rung’s compile-time parameters, rank them, and time the best again; the same command resumes a stopped sweep',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .requiredOption('--rung <id>', 'the rung')
    .option(
      '--param <NAME=values>',
      'a parameter or macro with its values, such as BM=64,128 (repeatable; default: the values in the rung’s header)',
      repeated,
    )
    .option(
      '--constraint <expression>',
      'skip points for which this is false, such as "BM * BN <= 16384" (repeatable); the rung’s static_asserts always apply',
      repeated,
    )
    .option(
      '--strategy <name>',
      `${strategyNames.join(', ')} (default: exhaustive up to ${exhaustiveLimit} points, then local)`,
    )
    .option(
      '--budget <points|time>',
      'stop after this many points, or after a time such as 90s, 10m, 2h',
    )
    .option('--seed <n>', 'seed of the randomized strategies', '1')
    .option('--seconds <s>', 'sampling time per point, 0.01 to 60', '0.1')
    .option(
      '--gpu <list>',
      'GPUs to use, such as 0,1 or all, one worker each (default: CUDA’s first)',
    )
    .option('--target <machine>', 'local, or a machine of `machine list` (default: local)')
    .option(
      '--tasks <n>',
      'with Slurm: an array of this many jobs, each measuring a part of the points',
    )
    .addOption(cli.createOption('--no-keep').hideHelp())
    .addOption(cli.createOption('--part <k/n>').hideHelp())
    .option('--fresh', 'measure every point again instead of continuing')
    .option('--apply', 'add the winner to the ladder folder, as a variant of the rung')
    .option('--t4 <file>', 'also write all results as T4, the exchange format of autotuners')
    .option('--from <file>', 'try the points of a T4 file first, starting with the fastest')
    .option(...warm)
    .option(
      '--timeout <seconds>',
      'stop a point as hung after this long without progress (default: 60)',
    )
    .option('--no-wait', 'exit with 3 instead of waiting when another run is using a GPU')
    .option(...trust)
    .option(...json)
  const ofTune = addProblemOptions(tuning, tasks, 'set every size of the ladder’s task')
  tuning.action(async (options: TuneCommandOptions) =>
    finish(await tuneCommand(setUp, options, ofTune, given)),
  )
}

export function addSanitize({ cli, setUp, finish, tasks, given }: CommandLine): void {
  const sanitize = cli
    .command('sanitize')
    .description(
      'run compute-sanitizer on rungs and report findings by file and line; exits 1 if there are any',
    )
    .requiredOption('--ladder <id>', ladderHelp)
    .option('--rungs <ids>', 'only these rungs, comma-separated (default: all but the reference)')
    .option(
      '--target <target>',
      'local or a machine of `machine list`, with compute-sanitizer; or emulated or emulated:<gpu>, without a GPU (default: local)',
    )
    .option('--tool <names>', `any of ${sanitizerTools.join(', ')} (default: all)`)
    .option(
      '--param <NAME=value>',
      'set a rung parameter, or RUNG.NAME=value for one rung (repeatable)',
      repeated,
    )
    .option('--timeout <seconds>', `time limit per rung and tool (default: ${defaultSecondsARung})`)
    .option(...gpu)
    .option(...noWait)
    .option(...trust)
    .option(...json)
  const ofSanitize = addProblemOptions(
    sanitize,
    tasks,
    'set every size of the ladder’s task (default: its small ragged shape)',
  )
  sanitize.action(async (options: SanitizeCommandOptions) =>
    finish(await sanitizeCommand(setUp, options, ofSanitize, given)),
  )
}
