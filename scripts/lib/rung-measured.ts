/**
 * What the shipped recordings measured of each rung, as the comment in its header that stands below what
 * the rung expects. Figures, their wording and the verdict on each expectation are those of src-main.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  readKernelLibrary,
  type KernelLibrary,
  type RungSource,
} from '../../src-main/adapters/kernels/kernel-library'
import { compareRungs, type MetricDelta } from '../../src-main/domain/analysis/compare'
import { named, problemLabel, problemWord, type Problem } from '../../src-main/domain/task/problem'
import { resultOf, type Task } from '../../src-main/domain/task/task'
import { upgraded } from '../../src-main/domain/session/upgrade'
import { Session, type RungResult } from '../../src-main/domain/session/session'
import { formatMs, formatRatio, formatValue } from '../../src-main/domain/metrics/units'
import { withMeasured } from '../../src-main/parsers/kernels/rung-header-edit'

/** A shipped recording: its folder's name is what `recorded:<name>` takes. */
interface Recording {
  name: string
  session: Session
  /** A rung's source as it was compiled. */
  sourceOf: (rung: RungResult) => Promise<string>
}

/** The rung as it was measured, with the rung that it comes after where the recording has that too. */
interface Finding {
  recording: Recording
  rung: RungResult
  before: RungResult | null
}

async function readRecordings(folder: string, { ladders }: KernelLibrary): Promise<Recording[]> {
  const recordings: Recording[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    // labs/ holds attempts at labs, which are no rungs.
    if (!entry.isDirectory() || entry.name === 'labs') continue
    const home = join(folder, entry.name)
    recordings.push({
      name: entry.name,
      session: Session.parse(
        upgraded(JSON.parse(await readFile(join(home, 'session.json'), 'utf8'))),
      ),
      sourceOf: ({ file }) => readFile(join(home, 'sources', file), 'utf8'),
    })
  }
  const place = ({ session }: Recording): number =>
    ladders.findIndex(({ id }) => id === session.ladder.id)
  const is4096 = ({ session }: Recording): boolean => {
    const { problem } = session
    return problem !== null && problemLabel(problem) === '4096³'
  }
  return recordings.sort(
    (a, b) =>
      place(a) - place(b) || Number(is4096(b)) - Number(is4096(a)) || (a.name < b.name ? -1 : 1),
  )
}

/** Parameters that are not the defaults: `TILE 16, STEPS 1`. */
const unusual = ({ header }: RungSource, { params }: RungResult): string =>
  header.params
    .filter((parameter) => params[parameter.name] !== parameter.default)
    .map(({ name }) => `${name} ${params[name] ?? 'unset'}`)
    .join(', ')

/** The rung with its defaults and the one before it, with its own if it can be, as a recording has them. */
function findIn(recording: Recording, source: RungSource, library: KernelLibrary): Finding | null {
  const measured = recording.session.rungs.filter(({ timing }) => timing !== undefined)
  const usual = (of: RungSource) =>
    measured.find((rung) => rung.file === of.file && unusual(of, rung) === '')
  const rung = usual(source)
  if (!rung) return null
  const predecessor = source.header.after && library.rungs.get(source.header.after)
  const before = predecessor
    ? (usual(predecessor) ?? measured.find(({ file }) => file === predecessor.file))
    : undefined
  return { recording, rung, before: before ?? null }
}

/**
 * The first recording that has both the rung and the one before, else the first with the rung; then those
 * of the same ladder and problem, which may have counters that the first lacks.
 */
function findRung(
  source: RungSource,
  library: KernelLibrary,
  recordings: readonly Recording[],
): Finding[] {
  const findings = recordings.flatMap((recording) => findIn(recording, source, library) ?? [])
  const first = findings.find(({ before }) => before) ?? findings[0]
  if (!first) return []
  const step = ({ recording: { session } }: Finding): string =>
    JSON.stringify([session.ladder.id, session.problem])
  return [first, ...findings.filter((other) => other !== first && step(other) === step(first))]
}

/** The lines that a compiler sees; a recording is of the rung as long as these are the same. */
const codeOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('//'))
    .join('\n')

/** From one value to the next, in words: `15.3 → 32.2 %`. */
function valueWords({ unit, delta, verdict }: MetricDelta, a: number, b: number): string {
  const [from, to] = [formatValue(a, unit), formatValue(b, unit)]
  if (from !== to)
    return `${from.endsWith(` ${unit}`) ? from.slice(0, -unit.length - 1) : from} → ${to}`
  // Too small a step for the digits shown, and yet one.
  return verdict === 'same' || !delta || a === 0
    ? to
    : `${to}, ${delta > 0 ? '+' : '-'}${Math.abs((delta / a) * 100).toPrecision(1)} %`
}

/** A metric's step with what its expectation came to; null where a side has no value. */
function metricWords(metric: MetricDelta): string | null {
  const { id, a, b, delta, verdict, expected } = metric
  if (a?.value == null || b?.value == null) return null
  const step = `${id} ${valueWords(metric, a.value, b.value)}`
  if (!expected) return step
  const way = verdict === 'same' || delta === null ? 'same' : delta > 0 ? 'up' : 'down'
  return expected.met
    ? `${step} (${expected.direction} as expected)`
    : `${step} (expected ${expected.direction}, ${way === 'same' ? 'stayed' : `went ${way}`})`
}

/** What the rung expected, and how busy the tensor cores are where it uses them; failing both, the FMA pipe. */
function stepWords(source: RungSource, [first, ...further]: readonly Finding[]): string[] {
  if (!first?.before) return []
  const { expect } = source.header
  const step = ({ recording: { session }, rung, before }: Finding, id: string): string | null => {
    if (!before) return null
    // As the header expects today; the recording may hold an older one.
    const later = { session, rung: { ...rung, expect } }
    const { metrics } = compareRungs({ session, rung: before }, later)
    const delta = metrics.find((metric) => metric.id === id)
    return delta ? metricWords(delta) : null
  }
  const wanted = expect.map(({ metric }) => metric)
  // Some instructions beside tensor products count a little on the tensor pipe: below one per cent it is not in use.
  const tensorBusy = first.rung.metrics.tensorUtilization?.value ?? 0
  if (tensorBusy >= 1 && !wanted.includes('tensorUtilization')) wanted.push('tensorUtilization')
  if (wanted.length === 0) wanted.push('fmaUtilization')
  return wanted.map((id) => {
    const own = step(first, id)
    if (own) return own
    for (const finding of further) {
      const words = step(finding, id)
      if (words) return `${words} in ${finding.recording.name}`
    }
    return `${id} not collected`
  })
}

function timeWords({ recording: { session }, rung, before }: Finding): string {
  if (!rung.timing) return 'no time'
  const now = formatMs(rung.timing.medianMs)
  const { reference } = session.ladder
  const ratio =
    rung.id === reference
      ? ' (the reference)'
      : rung.timing.ratioToReference === null
        ? ''
        : `, ${formatRatio(rung.timing.ratioToReference)} as fast as ${reference}${rung.flags.length > 0 ? `, which computes ${resultOf(session.ladder.task)} alone` : ''}`
  if (!before?.timing) return `time ${now}${ratio}`
  const step = formatRatio(before.timing.medianMs / rung.timing.medianMs)
  return before.id === reference
    ? `time ${formatMs(before.timing.medianMs)} → ${now} (${step})`
    : `time ${formatMs(before.timing.medianMs)} → ${now} (${step})${ratio}`
}

async function changedSince(
  { recording, rung, before }: Finding,
  library: KernelLibrary,
): Promise<string> {
  const changed: string[] = []
  for (const measured of before ? [before, rung] : [rung]) {
    const today = [...library.rungs.values()].find(({ file }) => file === measured.file)
    if (today && codeOf(today.text) !== codeOf(await recording.sourceOf(measured)))
      changed.push(today.header.id)
  }
  return changed.length === 0 ? '' : `, before the code of ${changed.join(' and ')} changed`
}

/** Sources are ASCII, so that a compiler of any locale reads them. */
const ascii = (text: string): string =>
  text
    .replaceAll('→', '->')
    .replaceAll('×', 'x')
    .replaceAll('³', '^3')
    .replaceAll('µ', 'u')
    .replaceAll(/(\d) %/g, '$1%')

/** `, beta 1,` where it is not the task's own value. */
function unusualScalars(task: Task | null, { scalars }: Problem): string {
  const other = Object.entries(scalars).filter(
    ([name, value]) => task?.scalars[name]?.value !== value,
  )
  return other.length === 0 ? '' : `, ${named(Object.fromEntries(other))},`
}

async function measuredWords(
  source: RungSource,
  findings: readonly [Finding, ...Finding[]],
  library: KernelLibrary,
): Promise<string> {
  const [finding] = findings
  const { recording, before } = finding
  const { device } = recording.session
  const { problem, ladder } = recording.session
  const { task } = ladder
  const predecessor = source.header.after && library.rungs.get(source.header.after)
  const params = before && predecessor ? unusual(predecessor, before) : ''
  const where = [
    `Measured on an ${device?.name ?? 'unknown GPU'}`,
    problem && ` at ${problemWord(problem)}${unusualScalars(task, problem)}`,
    before && ` after ${source.header.after}${params && ` with ${params}`}`,
    ` (${recording.name}${await changedSince(finding, library)})`,
  ]
  const figures = [timeWords(finding), ...stepWords(source, findings)]
  return ascii(`${where.filter(Boolean).join('')}: ${figures.join('; ')}`)
}

/** Every rung's file below `kernelsDir` with the text it should have. */
export async function measuredHeaders(
  kernelsDir: string,
  recordingsDir: string,
): Promise<Map<string, { text: string; wanted: string }>> {
  const library = await readKernelLibrary(kernelsDir)
  const recordings = await readRecordings(recordingsDir, library)
  const headers = new Map<string, { text: string; wanted: string }>()
  for (const source of library.rungs.values()) {
    const [first, ...further] = findRung(source, library, recordings)
    const words = first ? await measuredWords(source, [first, ...further], library) : null
    headers.set(source.file, { text: source.text, wanted: withMeasured(source.text, words) })
  }
  return headers
}
