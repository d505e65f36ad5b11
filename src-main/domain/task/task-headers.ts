/** Generates the C headers for compiling a task's rungs and reference. */
import type { Task } from './task'
import {
  flagFields,
  typeHeaders,
  launchLayout,
  referenceLayout,
  type Field,
  type Layout,
} from './layout'

/** Path of the header among the shared headers. */
export const taskHeaderFile = 'include/kl_task.h'

export const referenceHeaderFile = 'include/kl_reference.h'

/** Returns text that is safe inside a C comment. */
const comment = (text: string): string => text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')

const enums = (task: Task): string[] =>
  flagFields(task).flatMap(({ type, flags }) => {
    const names = Object.assign({}, ...flags.map(([, flag]) => flag.enum ?? {})) as object
    const values = Object.entries(names).map(([name, value]) => `${name} = ${value}`)
    return type === null ? [] : [`enum ${type} { ${values.join(', ')} };`, '']
  })

const declared = ({ declaration }: Field): string => `  ${declaration};`

function structLines({ name, fields }: Layout): string[] {
  const column = Math.max(
    0,
    ...fields.filter((field) => field.comment !== undefined).map((field) => declared(field).length),
  )
  return [
    `struct ${name} {`,
    ...fields.map((field) =>
      field.comment === undefined
        ? declared(field)
        : `${declared(field).padEnd(column)}  /* ${comment(field.comment)} */`,
    ),
    '};',
  ]
}

const offsets = ({ name, fields, bytes }: Layout): string[] => [
  ...fields.map(
    (field) =>
      `static_assert(offsetof(${name}, ${field.name}) == ${field.offset}, "the runner fills ${field.name} at ${field.offset}");`,
  ),
  `static_assert(sizeof(${name}) == ${bytes}, "the runner fills ${bytes} bytes");`,
]

interface Header {
  guard: string
  /** Text to print after the task's title in the header comment. */
  what: string
  layout: Layout
  prototypes: string[]
}

const header = (task: Task, { guard, what, layout, prototypes }: Header): string =>
  [
    `/* Generated from the task ${task.id}: ${comment(task.title)}.${what}${task.summary === undefined ? ' */' : ''}`,
    ...(task.summary === undefined ? [] : [` * ${comment(task.summary)} */`]),
    `#ifndef ${guard}`,
    `#define ${guard}`,
    '',
    '#include "kl_abi.h"',
    ...typeHeaders(task).map((name) => `#include <${name}>`),
    '',
    ...enums(task),
    ...structLines(layout),
    '',
    '#ifdef __cplusplus',
    ...offsets(layout),
    '',
    'extern "C" {',
    '#else',
    `typedef struct ${layout.name} ${layout.name};`,
    '#endif',
    '',
    ...prototypes,
    '',
    '#ifdef __cplusplus',
    '}',
    '#endif',
    '',
    '#endif',
    '',
  ].join('\n')

/** Returns the content of kl_task.h. */
export function taskHeader(task: Task): string {
  const layout = launchLayout(task)
  return header(task, {
    guard: 'KL_TASK_H',
    what: '',
    layout,
    prototypes: [
      `KL_EXPORT cudaError_t kl_launch(const ${layout.name}* problem, cudaStream_t stream);`,
      `KL_EXPORT size_t kl_workspace_bytes(const ${layout.name}* problem);`,
      `KL_EXPORT const char* kl_unsupported(const ${layout.name}* problem, int sm);`,
    ],
  })
}

/** Returns the content of kl_reference.h. */
export const referenceHeader = (task: Task): string =>
  header(task, {
    guard: 'KL_REFERENCE_H',
    what: ' What its reference reads and computes.',
    layout: referenceLayout(task),
    prototypes: [
      '/* A reference defines one of the two: over host memory, or over device memory. The second enqueues on',
      ' * the stream, or waits for its own launches in between to report progress. */',
      'KL_EXPORT void kl_reference(const KlReference* problem);',
      'KL_EXPORT cudaError_t kl_reference_device(const KlReference* problem, cudaStream_t stream);',
    ],
  })
