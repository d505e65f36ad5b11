// @ts-check
/** Generates parts of the reference documents from the program's own registries. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentWith } from './document.mjs'
import { stepsOf } from './ladder-steps.mjs'
import { root } from './project.mjs'

/** @typedef {import('../../src-main/domain/metrics/metric-definition.ts').MetricDefinition} Metric */
/** @typedef {{ chips: string[], names: Record<string, string[]> }} Counters metrics listed by `ncu --query-metrics`, by chip */
/**
 * @typedef {object} Registries
 * @property {readonly Metric[]} metrics
 * @property {readonly string[]} groups in display order
 * @property {Record<string, string>} groupTitles
 * @property {Counters} counters
 * @property {(how: string) => string} explain how a metric is derived, in words
 * @property {readonly import('../../src-main/domain/gpu/gpu-table.ts').Gpu[]} gpus
 * @property {typeof import('../../src-main/domain/prediction/parameter-table.ts').parameterTable} parameters
 * @property {readonly import('../../src-main/domain/prediction/gpu-parameters.ts').GpuParameters[]} gpuParameters of the shipped GPUs
 * @property {readonly import('../../src-main/domain/targets/kinds.ts').TargetKind[]} targetKinds
 * @property {readonly import('../../src-main/domain/ladder/ladder.ts').LadderFile[]} ladders
 * @property {Record<string, any>} recordings shipped recordings, from index.json
 * @property {(sizes: any) => string} sizesLabel
 */

/** @param {readonly string[][]} rows the first row is the header */
function table([header = [], ...rows]) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

const levels = { card: 'card, standard, deep', standard: 'standard, deep', deep: 'deep' }

/**
 * @param {string} id
 * @param {string} [page] that contains the metric's entry, if it is a different page
 */
const link = (id, page = '') => `[\`${id}\`](${page}#${id.toLowerCase()})`

/**
 * @param {string} name @param {Counters} counters
 * @returns {string} names of the chips with this counter
 */
function chipsOf(name, { chips, names }) {
  const own = names[name.split('.')[0] ?? '']
  if (own === undefined) return 'computed by ncu itself'
  return own.length === chips.length ? 'all chips' : own.join(', ')
}

/**
 * Stalled warps are counted per issued instruction, see `unitLabel` in
 * src-main/domain/metrics/units.ts.
 *
 * @param {string} unit
 */
const unitLabel = (unit) => (unit === 'warps' ? 'warps/inst' : unit)

/** @param {NonNullable<Metric['floor']>} floor @param {string} unit */
const floorWords = (floor, unit) =>
  'least' in floor
    ? `no verdict below ${floor.least} ${unit}`
    : `no verdict below ${floor.share * 100} % of ${floor.of.map((one) => link(one)).join(', or else ')}`

/** @param {Metric} metric */
const origin = ({ derived, perInstruction }) => (derived || perInstruction ? 'derived' : 'measured')

/** @param {Metric} metric @param {Registries} registries */
function section(metric, { counters, explain }) {
  const { id, label, unit, meaning, better, floor, kind, level, aggregate } = metric
  const { ncu, derived, perInstruction, structural } = metric
  const facts = [
    `**${label}**`,
    unitLabel(unit),
    better === 'neither' ? 'neither direction is better' : `${better} is better`,
    ...(floor ? [floorWords(floor, unitLabel(unit))] : []),
    origin(metric),
    `levels ${levels[level]}`,
    kind,
    aggregate,
  ]
  return [
    `### ${id}`,
    facts.join(' · '),
    meaning,
    perInstruction
      ? `From the source counters of ${perInstruction.of.map((opcode) => `\`${opcode}\``).join(', ')}: \`memory_l1_wavefronts_shared\` less \`memory_l1_wavefronts_shared_ideal\`.`
      : derived
        ? `From ${derived.from.map((one) => link(one)).join(', ')}. ${explain(derived.how)}`
        : ncu.map((name) => `- \`${name}\`: ${chipsOf(name, counters)}`).join('\n'),
    ...(structural ? [`Labs use ${link(structural)} instead if it was collected.`] : []),
  ].join('\n\n')
}

/** Returns one table per group. Each id links to its entry. @param {Registries} registries */
const metricsPart = ({ metrics, groups, groupTitles }) =>
  groups
    .flatMap((group) => [
      `### ${groupTitles[group]}`,
      table([
        ['id', 'label', 'unit', 'better', 'evidence', 'levels'],
        ...metrics
          .filter((metric) => metric.group === group)
          .map((metric) => [
            link(metric.id, 'tables/metrics.md'),
            metric.label,
            unitLabel(metric.unit),
            metric.better === 'neither' ? '–' : metric.better,
            origin(metric),
            levels[metric.level],
          ]),
      ]),
    ])
    .join('\n\n')

/** @param {Registries} registries */
const metricEntriesPart = (registries) =>
  registries.groups
    .flatMap((group) => [
      `## ${registries.groupTitles[group]}`,
      ...registries.metrics
        .filter((metric) => metric.group === group)
        .map((metric) => section(metric, registries)),
    ])
    .join('\n\n')

/** @param {Registries} registries */
const gpusPart = ({ gpus }) =>
  table([
    ['`--target`', 'GPU', 'compute capability', 'SMs'],
    ...gpus.map(({ id, name, computeCapability, smCount }) => [
      `\`static:${id}\``,
      name,
      computeCapability,
      smCount === null ? 'unknown' : String(smCount),
    ]),
  ])

/** @param {Registries} registries */
function targetsPart({ targetKinds }) {
  const mark = (/** @type {boolean} */ can) => (can ? 'yes' : '–')
  return table([
    ['`--target`', 'what', 'builds', 'runs', 'times', 'profiles', 'needs a GPU'],
    ...targetKinds.flatMap(({ syntax, help, can }) =>
      syntax === null
        ? []
        : [
            [
              [syntax.bare, syntax.named]
                .filter((word) => word !== null)
                .map((word) => `\`${word}\``)
                .join(', '),
              help,
              ...[can.builds, can.runs, can.times, can.profiles, can.needsGpu].map(mark),
            ],
          ],
    ),
  ])
}

/** Returns the shipped ladder files by path. */
const ladderFiles = () =>
  readdirSync(join(root, 'cuda-kernels'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/\\]+[/\\]ladders[/\\][^/\\]+\.json$/.test(path))
    .map((path) => join('cuda-kernels', path))
    .sort()

/** @param {Registries} registries */
const laddersPart = ({ ladders }) =>
  table([
    ['ladder', 'title', 'task', 'rungs', 'reference'],
    ...ladders.map(({ id, title, task, rungs, reference }) => [
      `\`${id}\``,
      title,
      `\`${task}\``,
      String(rungs.length),
      reference === null ? 'none' : `\`${reference}\``,
    ]),
  ])

/** @param {Registries} registries */
const stepsPart = ({ ladders }) =>
  table([
    ['ladder', 'from', 'to', 'lines kept', 'lines changed', 'with headers'],
    ...ladders
      .flatMap((ladder) => stepsOf(ladder))
      .map(({ ladder, from, to, rung, withHeaders }) => [
        `\`${ladder}\``,
        `\`${from}\``,
        `\`${to}\``,
        `${Math.round((100 * rung.kept) / rung.of)} %`,
        String(rung.changed),
        String(withHeaders.changed),
      ]),
  ])

/** @param {Registries} registries */
const recordingsPart = ({ recordings, sizesLabel }) =>
  table([
    ['recording', 'ladder', 'size', 'level', 'rungs', 'GPU', 'made'],
    ...Object.entries(recordings).map(
      ([name, { ladder, problem, profile, rungCount, deviceName, createdAt }]) => [
        `\`${name}\``,
        ladder.title,
        // A session of a profiled program has no problem sizes.
        problem ? sizesLabel(problem.sizes) : '',
        profile,
        String(rungCount),
        deviceName,
        createdAt.slice(0, 10),
      ],
    ),
  ])

const evidenceMarks = { measured: '', derived: ' ᵈ', published: ' ᵖ', assumed: ' ᵃ' }

/**
 * Formats a number without rounding it. Large integers get thousands separators.
 * @param {number} value
 */
const figure = (value) =>
  Number.isInteger(value) && value >= 10_000 ? value.toLocaleString('en-US') : String(value)

/** @param {Registries} registries */
const parametersPart = ({ parameters, gpuParameters }) =>
  table([
    ['parameter', 'unit', 'meaning', ...gpuParameters.map(({ name }) => `\`${name}\``)],
    ...Object.entries(parameters).map(([id, { unit, about }]) => [
      `\`${id}\``,
      unit,
      about,
      ...gpuParameters.map(({ values }) => {
        const { value, evidence } = values[/** @type {keyof typeof values} */ (id)]
        return `${figure(value)}${evidenceMarks[evidence]}`
      }),
    ]),
  ])

/** @type {Record<string, Record<string, (registries: Registries) => string>>} */
const documents = {
  'docs/guides/calibration.md': { parameters: parametersPart },
  'resources/recordings/README.md': { recordings: recordingsPart },
  'cuda-kernels/README.md': { ladders: laddersPart, steps: stepsPart },
  'docs/reference/metrics.md': { metrics: metricsPart },
  'docs/reference/tables/metrics.md': { entries: metricEntriesPart },
  'docs/guides/targets.md': { targets: targetsPart, gpus: gpusPart },
}

/**
 * Returns the documents with their generated parts updated. Text outside the markers is unchanged.
 * @param {Registries} registries
 */
export async function referenceDocs(registries) {
  /** @type {Map<string, string>} */
  const texts = new Map()
  for (const [path, parts] of Object.entries(documents)) {
    const blocks = Object.entries(parts).map(
      ([name, part]) => /** @type {const} */ ([name, part(registries)]),
    )
    texts.set(path, await documentWith(path, blocks))
  }
  return texts
}

/**
 * Returns the data for the documents from the program's modules.
 * @param {{
 *   metrics: typeof import('../../src-main/domain/metrics/metrics.ts'),
 *   definition: typeof import('../../src-main/domain/metrics/metric-definition.ts'),
 *   messages: typeof import('../../src-main/domain/messages/message.ts'),
 *   wording: typeof import('../../src-main/domain/text/english.ts'),
 *   gpus: typeof import('../../src-main/domain/gpu/gpu-table.ts'),
 *   targets: typeof import('../../src-main/domain/targets/targets.ts'),
 *   problem: typeof import('../../src-main/domain/task/problem.ts'),
 *   parameters: typeof import('../../src-main/domain/prediction/parameter-table.ts'),
 *   gpuFiles: typeof import('../../src-main/domain/prediction/gpu-parameters.ts'),
 * }} modules
 * @returns {Registries}
 */
export function registriesOf(modules) {
  const { metrics, definition, messages, wording, gpus, targets, problem, parameters } = modules
  const json = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  return {
    metrics: metrics.metricDefinitions,
    groups: definition.metricGroups,
    groupTitles: json('src-renderer/locales/en/screens.json').metricGroup,
    counters: json('test/captures/ncu/query-metrics/2025.3.1.json'),
    explain: (how) => wording.inEnglish(messages.message(/** @type {any} */ (how))),
    gpus: gpus.gpus,
    parameters: parameters.parameterTable,
    gpuParameters: readdirSync(join(root, 'resources/gpus'))
      .sort()
      .map((file) => {
        const text = readFileSync(join(root, 'resources/gpus', file), 'utf8')
        return modules.gpuFiles.readGpuParameters(text, file)
      }),
    targetKinds: Object.values(targets.targetKinds),
    ladders: ladderFiles().map(json),
    recordings: json('resources/recordings/index.json').recordings,
    sizesLabel: problem.sizesLabel,
  }
}
