/** Writes a proposed ladder's files. Every guessed line ends in a comment with the reason. */
import type { BuildSettings } from '../ladder/build-settings'
import { dtypeOf } from '../task/dtype'
import { expressionText, cppText, isConstant, shapeText } from './counts'
import type { Proposal, ProposedBuffer } from './proposal'

export interface Origin {
  /** Ladder id. */
  id: string
  /** File name, such as vectorAdd.cu. */
  file: string
  /** Path of the file in the ladder folder. */
  included: string
  /** Rung id. */
  rung: string
  /** The kernel's name in a launch, with template arguments if any. */
  call: string
  /**
   * The only architecture that the kernel supports, such as sm_90a; null if any architecture works.
   */
  requires: string | null
  /** Call to the file's own launch function; null if the rung launches the kernel directly. */
  launcher: { name: string; arguments: string[]; guesses: string[] } | null
  /** The file's build settings. */
  build: BuildSettings
  /** Names of libraries to link, in the form that follows `-l`. */
  libraries: readonly string[]
  /** Device variables that the program initializes before the launch. */
  symbols: readonly { name: string; data: string }[]
  /**
   * Whether the launch was recorded. If the launch was not recorded, all sizes and values are
   * invented.
   */
  wasRecorded: boolean
  /**
   * A CPU function in the file that computes the same result; null if the rung itself is the
   * reference.
   */
  reference: string | null
}

const guess = (mark: '#' | '//', reasons: readonly string[]): string =>
  reasons.length === 0 ? '' : ` ${mark} guess: ${reasons.join('; ')}`

const bytesText = (buffers: readonly ProposedBuffer[]): string =>
  buffers
    .map(({ dtype, shape }) => {
      const { bytes } = dtypeOf(dtype)
      return `${bytes} * ${shape.over === 1 && shape.plus === 0 ? expressionText(shape) : `(${expressionText(shape)})`}`
    })
    .join(' + ') || '0'

function checkText({ dtype, largest }: ProposedBuffer): { text: string; why: string[] } {
  const { isFloat } = dtypeOf(dtype)
  if (!isFloat) return { text: '{ exact: true }', why: [] }
  const rtol = dtype === 'f64' ? 1e-10 : dtype === 'f32' ? 1e-4 : 2e-2
  // If the terms of a sum nearly cancel, its error still depends on their magnitude.
  const atol = Number((rtol * (largest ?? 1)).toPrecision(1))
  return {
    text: `{ rtol: ${rtol}, atol: ${atol} }`,
    why: [
      'how far another order of operations may be off',
      ...(largest === null
        ? []
        : [`the largest result of a small run is ${Number(largest.toPrecision(3))}`]),
    ],
  }
}

/** Returns the shortest text that parses to this value. */
export function numberText(value: number, dtype: string): string {
  if (dtype !== 'f32') return String(value)
  for (let digits = 1; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits))
    if (Math.fround(text) === value) return String(text)
  }
  return String(value)
}

function constraintsText({ equal }: Proposal): string[] {
  const pairs = equal.flatMap((names) =>
    names.slice(1).map((name, at) => `${names[at]} == ${name}`),
  )
  return pairs.length === 0
    ? []
    : [
        `  constraints: [${pairs.join(', ')}]${guess('#', ['in trials with unequal sizes it left its buffers'])}`,
      ]
}

/**
 * Returns the ladder's `build:` lines. The result is empty if the file compiles with the default
 * settings.
 */
function buildText({ build: { std, flags, defines, include }, libraries }: Origin): string[] {
  const list = (words: readonly string[]): string =>
    `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
  const macros = Object.entries(defines ?? {}).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  )
  const lines = [
    ...(std ? [`  std: ${std}`] : []),
    ...(flags ? [`  flags: ${list(flags)}`] : []),
    ...(macros.length > 0 ? [`  defines: { ${macros.join(', ')} }`] : []),
    ...(include ? [`  include: ${list(include)}`] : []),
    ...(libraries.length > 0
      ? [
          `  libraries: [${libraries.join(', ')}]${guess('#', ['the file includes headers of these libraries'])}`,
        ]
      : []),
  ]
  return lines.length === 0 ? [] : ['build:', ...lines]
}

export function ladderText(proposal: Proposal, origin: Origin): string {
  const { sizes, scalars, buffers, fixed } = proposal
  const invented = origin.wasRecorded ? [] : ['the program’s own numbers are not known']
  const one = ({ name, value, why }: Proposal['sizes'][number]): string => {
    const reasons = [
      ...(why === null ? [] : [why]),
      ...(fixed === null ? [] : [fixed]),
      ...invented,
    ]
    const what = fixed === null ? String(value) : `{ value: ${value}, fixed: true }`
    return `    ${name}: ${what}${guess('#', reasons)}`
  }
  const written = buffers.filter(({ access }) => access !== 'in')
  const read = buffers.filter(({ access }) => access !== 'out')
  return [
    '# yaml-language-server: $schema=ladder.schema.json',
    `# Proposed from ${origin.file} by kernel-ladder init --from. Check the lines with "guess:".`,
    'kernel_ladder: 1',
    `id: ${origin.id}`,
    `title: ${JSON.stringify(`${origin.call} of ${origin.file}`)}`,
    `summary: ${JSON.stringify(`The kernel ${origin.call} of ${origin.file}, included unchanged.`)}`,
    ...buildText(origin),
    'task:',
    ...(sizes.length === 0 ? ['  sizes: {}'] : ['  sizes:', ...sizes.map(one)]),
    ...constraintsText(proposal),
    ...(scalars.length === 0
      ? []
      : [
          '  scalars:',
          ...scalars.map(
            ({ name, dtype, value }) =>
              `    ${name}: { dtype: ${dtype}, value: ${numberText(value, dtype)} }${guess('#', invented)}`,
          ),
        ]),
    '  buffers:',
    ...buffers.map(({ name, dtype, shape, access, fill, guesses }) => {
      const filled = access === 'out' ? '' : `, fill: ${fill.text}`
      const reasons = [...guesses, ...(access === 'out' ? [] : [`fill ${fill.why}`]), ...invented]
      return `    ${name}: { dtype: ${dtype}, shape: [${shapeText(shape).join(', ')}], access: ${access}${filled} }${guess('#', reasons)}`
    }),
    origin.reference === null
      ? `  reference: { rung: ${origin.rung} }${guess('#', ['the kernel itself is trusted; no CPU function of the file has its parameters'])}`
      : `  reference: reference.cu${guess('#', [`${origin.reference}() of the file has the kernel’s parameters`])}`,
    '  check:',
    ...written.map((buffer) => {
      const { text, why } = checkText(buffer)
      return `    ${buffer.name}: ${text}${guess('#', why)}`
    }),
    `  work:${guess('#', ['each buffer is read or written once; add flops if they matter'])}`,
    `    reads: ${bytesText(read)}`,
    `    writes: ${bytesText(written)}`,
    'rungs:',
    `  - id: ${origin.rung}`,
    '',
  ].join('\n')
}

/**
 * Includes the original file with main() renamed and made static. The compiler then removes the
 * renamed function and all functions that only this function calls. The code disables two warnings
 * about the renamed function: a missing return statement, and an unused function.
 */
const include = (origin: Origin): string[] => [
  '#define main static kl_original_main',
  '#pragma nv_diag_push',
  '#pragma nv_diag_suppress 940, 177  // a missing return, an unused function',
  '#pragma GCC diagnostic push',
  '#pragma GCC diagnostic ignored "-Wreturn-type"',
  '#pragma GCC diagnostic ignored "-Wunused-function"',
  `#include "${origin.included}"`,
  '#pragma GCC diagnostic pop',
  '#pragma nv_diag_pop',
  '#undef main',
]

const extentText = (proposal: Proposal): string =>
  proposal.grid
    .map(({ count }) => (isConstant(count) ? cppText(count) : `unsigned(${cppText(count)})`))
    .join(', ')

export function rungText(proposal: Proposal, origin: Origin): string {
  const { launcher, symbols, rung, file, call } = origin
  const gridGuesses = [
    ...proposal.grid.flatMap(({ guesses }, index) =>
      guesses.map((text) => `${'xyz'[index]}: ${text}`),
    ),
    ...(proposal.grid.some(({ count }) => !isConstant(count))
      ? ['formulas that give the recorded number of blocks']
      : []),
    ...(origin.wasRecorded ? [] : ['the launch was not recorded']),
  ]
  const setting = symbols.flatMap(({ name, data }, index) => [
    `  // What the program had copied to ${name} before the launch.`,
    `  static const unsigned char kl_symbol_${index}[] = {${(data.match(/../g) ?? []).map((byte) => `0x${byte}`).join(',')}};`,
    `  cudaMemcpyToSymbolAsync(${name}, kl_symbol_${index}, sizeof kl_symbol_${index}, 0, cudaMemcpyHostToDevice, stream);`,
  ])
  const direct = [
    `  const dim3 grid(${extentText(proposal)});${guess('//', gridGuesses)}`,
    `  const dim3 block(${proposal.block.join(', ')});${origin.wasRecorded ? ' // as recorded' : guess('//', ['the launch was not recorded'])}`,
    ...(proposal.dynamicSharedBytes > 48 * 1024
      ? [
          `  cudaFuncSetAttribute(${call}, cudaFuncAttributeMaxDynamicSharedMemorySize, ${proposal.dynamicSharedBytes});`,
        ]
      : []),
    `  ${call}<<<grid, block, ${proposal.dynamicSharedBytes}, stream>>>(${proposal.arguments.join(', ')});`,
  ]
  const through = launcher
    ? [
        `  // The file's own launcher. It chooses grid and block.`,
        `  ${launcher.name}(${launcher.arguments.join(', ')});${guess('//', launcher.guesses)}`,
      ]
    : direct
  return [
    `// @rung    ${rung}`,
    `// @title   ${call} as in ${file}`,
    `// @idea    the kernel as it was written, to compare later rungs with`,
    ...(origin.requires === null ? [] : [`// @requires ${origin.requires}`]),
    '#include "kernel_ladder.h"',
    '',
    ...include(origin),
    '',
    `extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {`,
    ...setting,
    ...through,
    '  return cudaGetLastError();',
    '}',
    '',
  ].join('\n')
}

/** An argument of the CPU function: a buffer, or a C++ expression with fields of the struct `p`. */
export type ReferenceArgument = { buffer: string } | { text: string }

export function referenceText(
  proposal: Proposal,
  origin: Origin,
  call: { name: string; arguments: readonly ReferenceArgument[] },
): string {
  const written = proposal.buffers.filter(({ access }) => access !== 'in')
  const declared = written.flatMap(({ name, dtype, shape, access }) => {
    const { c, isFloat } = dtypeOf(dtype)
    const from =
      access === 'inout' ? `(p->${name}_in, p->${name}_in + ${name}_count)` : `(${name}_count)`
    return [
      `  const long long ${name}_count = ${cppText(shape)};`,
      `  std::vector<${c}> ${name}${from};`,
      ...(isFloat ? [] : []),
    ]
  })
  const isWritten = (name: string): boolean => written.some((buffer) => buffer.name === name)
  const argument = (one: ReferenceArgument): string => {
    if ('text' in one) return one.text
    const { dtype } = proposal.buffers.find(({ name }) => name === one.buffer)!
    const { c } = dtypeOf(dtype)
    return isWritten(one.buffer) ? `${one.buffer}.data()` : `(${c}*)p->${one.buffer}`
  }
  return [
    `// Computes the expected results with ${call.name}() of ${origin.file}.`,
    '#include "kl_reference.h"',
    '',
    '#include <vector>',
    '',
    ...include(origin),
    '',
    'extern "C" void kl_reference(const KlReference* p) {',
    ...declared,
    `  ${call.name}(${call.arguments.map(argument).join(', ')}); // guess: its name and parameters match the kernel’s`,
    ...written.map(
      ({ name }) =>
        `  for (long long i = 0; i < ${name}_count; ++i) p->${name}[i] = ${name}[size_t(i)];`,
    ),
    '}',
    '',
  ].join('\n')
}
