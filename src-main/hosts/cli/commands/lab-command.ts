/** `kernel-ladder lab …`: runs labs from the command line. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SetUp, Setup } from '../../../adapters/machine/machine'
import { readCatalog } from '../../../adapters/catalog/catalog'
import { labsDir, readLab, readLabs, readShippedLabs } from '../../../adapters/labs/lab-folders'
import { gpuFolders, listGpus } from '../../../adapters/disk/gpu-files'
import { readSubmission, startLab } from '../../../adapters/labs/workspace'
import { refuseTaken, takenMeanwhile } from '../../../adapters/disk/staging'
import { exitCodes, inputError } from '../../../domain/errors'
import type { LabStanding } from '../../../contract/labs'
import { faultSentence, profileLevelOf, type Lab } from '../../../domain/labs/lab'
import { usualLabTarget, type LabTarget } from '../../../domain/targets/targets'
import { defaultEmulatedGpu } from '../../../domain/targets/kinds'
import { outcomeExitCode } from '../../../domain/labs/outcome'
import { checkLab } from '../../../services/labs/check'
import { listLabs, openLab } from '../../../services/labs/find-lab'
import { hasGpu } from '../../../services/bench/tools'
import { appVersion } from '../../../services/version'
import { parseLabTarget } from '../parse-run-request'
import { abortOnStop } from '../stop-signals'
import { describeOutcome } from '../describe/describe-lab'
import { note, printError, printJson, printText, problemText } from '../output'
import { table } from '../table'
import { progressPrinter } from '../progress'
import { standingIn } from '../../../services/labs/lab-progress'
import { isShipped, isTrusted, requireTrust, trustLab } from '../../../services/labs/trust'
import { newAttemptFolder } from '../../../adapters/labs/progress'
import { wholeNumber } from '../option-values'
import { confirmed } from '../ask'
import { labListDocument } from '../documents/lab-list'
import { labCheckDocument } from '../documents/lab-check'

export async function labValidateCommand(
  setUp: SetUp,
  folder: string | undefined,
): Promise<number> {
  const catalog = await readCatalog((await setUp()).assets.kernelsDir)
  const known =
    folder === undefined ? [] : (await readShippedLabs(catalog)).labs.map(({ lab }) => lab)
  const { labs, faults } = await readLabs(
    folder === undefined ? labsDir(catalog.root) : resolve(folder),
    catalog,
    known,
  )
  for (const { id, lab, files } of labs)
    printText(
      `${id}: ${lab.title}; ${lab.checks.length} checks, ${lab.predictions.length} predictions, ${lab.questions.length} questions, ${lab.hints.length} hints, ${files.length} files`,
    )
  for (const fault of faults) note(problemText(faultSentence(fault)))
  return faults.length > 0 ? exitCodes.input : 0
}

const progressText = ({ progress, emulatedOnly }: LabStanding): string =>
  progress === 'new' ? '' : emulatedOnly ? `${progress}, emulated` : progress

export async function labListCommand(setUp: SetUp, { json }: { json?: boolean }): Promise<number> {
  const setup = await setUp()
  const { labs, faults } = await listLabs(setup)
  const rows = await Promise.all(
    labs.map(async (folder) => ({
      id: folder.id,
      title: folder.lab.title,
      summary: folder.lab.summary,
      minutes: folder.lab.minutes,
      before: folder.lab.before,
      target: folder.lab.target,
      needs: { ...folder.lab.needs, counters: profileLevelOf(folder.lab) !== 'none' },
      ...(await standingIn(setup.machine.folders, folder.id, folder)),
    })),
  )
  if (json) printJson(labListDocument, { labs: rows, problems: faults.map(faultSentence) })
  else if (rows.length > 0)
    printText(
      table(rows, [
        { header: 'lab', align: 'left', cell: ({ id }) => id },
        { header: 'title', align: 'left', cell: ({ title }) => title },
        { header: 'minutes', cell: ({ minutes }) => String(minutes) },
        { header: 'progress', align: 'left', cell: progressText },
        {
          header: 'from → to',
          align: 'left',
          cell: ({ before, target }) => `${before} → ${target}`,
        },
      ]),
    )
  else note('No labs ship with this program.')
  for (const fault of faults) note(problemText(faultSentence(fault)))
  return faults.length > 0 ? exitCodes.input : 0
}

export async function labStartCommand(setUp: SetUp, name: string, folder: string): Promise<number> {
  const lab = await openLab(await setUp(), name)
  const files = await startLab(lab, resolve(folder))
  printText(`${lab.lab.title}: ${files.join(', ')} in ${folder}`)
  note(`Next: kernel-ladder lab check ${name} --file ${join(folder, 'lab.cu')}`)
  return 0
}

/**
 * Returns the requested target. By default, the target is a real GPU if available. Without a real
 * GPU, the target is a predicted GPU if the lab checks times, and an emulated GPU if not.
 */
export async function labTarget(
  { machine, assets }: Pick<Setup, 'machine' | 'assets'>,
  requested: string | undefined,
  { checks }: Pick<Lab, 'checks'>,
): Promise<LabTarget> {
  if (requested !== undefined) return parseLabTarget(requested)
  return usualLabTarget({
    ...{ hasGpu: await hasGpu(machine), hasCompiler: true },
    needsTimes: checks.some(({ kind }) => kind === 'time'),
    hasModel: (await listGpus(gpuFolders({ machine, assets }))).includes(defaultEmulatedGpu),
  })
}

export interface LabCheckOptions {
  file: string
  answers?: string
  target?: string
  timeout?: string
  seed?: string
  out?: string
  wait: boolean
  json?: boolean
}

/**
 * Maximum seed. The runner accepts larger seeds, but a million seeds are already too many to try.
 */
const mostSeed = 1_000_000

export async function labCheckCommand(
  setUp: SetUp,
  name: string,
  options: LabCheckOptions,
): Promise<number> {
  const setup = await setUp()
  const lab = await openLab(setup, name)
  const target = await labTarget(setup, options.target, lab.lab)
  await requireTrust(setup, lab)
  const submission = await readSubmission(
    resolve(options.file),
    lab.lab,
    options.answers === undefined ? undefined : resolve(options.answers),
  )
  const outFolder = options.out === undefined ? null : resolve(options.out)
  if (outFolder !== null) await refuseTaken(outFolder)
  const { outcome, folder } = await checkLab(
    { lab, ...submission, target },
    {
      ...setup,
      appVersion,
      out:
        outFolder ??
        newAttemptFolder(setup.machine.folders, isShipped(setup, lab) ? lab.id : `own:${lab.id}`),
      settings: {
        waitForGpu: options.wait,
        ...(options.seed === undefined
          ? {}
          : { seed: wholeNumber(options.seed, '--seed', mostSeed, 0) }),
        ...(options.timeout === undefined
          ? {}
          : { idleSeconds: wholeNumber(options.timeout, '--timeout', 86_400) }),
      },
      emit: progressPrinter(),
      signal: abortOnStop('stopping; this attempt is discarded.'),
    },
  )
  if (options.json) printJson(labCheckDocument, { ...outcome, folder })
  else printText(describeOutcome(outcome))
  note(`Saved in ${folder}`)
  const misplaced = outFolder === null ? null : takenMeanwhile(outFolder, folder)
  if (misplaced) printError(misplaced)
  return misplaced ? exitCodes[misplaced.kind] : outcomeExitCode(outcome)
}

/**
 * Shows every file of the lab and asks the user to confirm. Without a terminal, only `--yes`
 * confirms.
 */
export async function labTrustCommand(
  setUp: SetUp,
  folder: string,
  { yes }: { yes?: boolean },
): Promise<number> {
  const setup = await setUp()
  const catalog = await readCatalog(setup.assets.kernelsDir)
  const lab = await readLab(resolve(folder), catalog)
  if (await isTrusted(setup, lab)) {
    printText(`${lab.folder} is already trusted in its current state.`)
    return 0
  }
  for (const file of lab.files) {
    printText(`──── ${file}`)
    printText(await readFile(join(lab.folder, file), 'utf8'))
  }
  printText('────')
  if (!yes) {
    if (!process.stdin.isTTY)
      throw inputError(
        'Confirmation requires a terminal.',
        'Read the files above, and pass --yes if you want their code to be built and run.',
      )
    if (
      !(await confirmed(
        'Its code will be built and run with your permissions until one of these files changes.',
      ))
    ) {
      note('Nothing was changed.')
      return exitCodes.failed
    }
  }
  await trustLab(setup.machine.folders, lab)
  printText(`${lab.folder} is trusted until one of its files changes.`)
  return 0
}
