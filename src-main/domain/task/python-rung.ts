/**
 * Wraps a Python rung as a library for the runner. The generated C++ source passes tensors to the
 * script that use the task's buffers in the runner's process (kl_rung.h, kl_rung.py). The script
 * remains a separate file, so that line information refers to that file.
 */
import { z } from 'zod'
import { launchScalars, type Task } from './task'
import { flagFields } from './layout'
import { extent, kindTables, typeOf } from './python'

/** Python packages that can create a rung's tensors. */
export const pythonPackages = ['torch', 'triton', 'cupy'] as const

export const PythonPackage = z.enum(pythonPackages)

export type PythonPackage = z.infer<typeof PythonPackage>

/** Files needed to build and run a Python rung, relative to the kernel library. */
export const pythonRungFiles = ['python/kl_rung.h', 'python/kl_rung.py'] as const

/**
 * Returns C++ code for the numeric fields of the struct: sizes, scalars, and fields set by flags.
 */
function numberLines(task: Task): string[] {
  const scalars = launchScalars(task).map(([name, { dtype }]) =>
    dtype.startsWith('f')
      ? `  rung.real("${name}", double(p->${name}));`
      : `  rung.whole("${name}", p->${name});`,
  )
  return [
    ...Object.keys(task.sizes).map((name) => `  rung.whole("${name}", p->${name});`),
    ...scalars,
    ...flagFields(task).map(({ name }) => `  rung.whole("${name}", int(p->${name}));`),
    ...Object.entries(task.options).map(([name, { field, choices }]) => {
      const words = Object.entries(choices).map(
        ([choice, number]) => `p->${field} == ${number} ? "${choice}" : `,
      )
      return `  rung.word("${name}", ${words.join('')}"");`
    }),
  ]
}

const bufferLine = (task: Task, name: string): string => {
  const buffer = task.buffers[name]!
  const shape = buffer.shape.map((formula) => extent(task, formula)).join(', ')
  return `  rung.buffer("${name}", ${typeOf(task, buffer).word}, {${shape}}, "${buffer.access}", p->${name});`
}

/**
 * Returns the C++ source of the library. `file` is the script's path at build time. Parameters are
 * passed as macros, as in CUDA rungs.
 */
export const pythonRungLibrary = (
  task: Task,
  file: string,
  {
    package: name = 'torch',
    params,
  }: { package?: PythonPackage | undefined; params: readonly { name: string }[] },
): string =>
  [
    `// Generated from the task and ${file}.`,
    '#include "kernel_ladder.h"',
    '#include "kl_rung.h"',
    '',
    '#include <algorithm>',
    '#include <cmath>',
    '#include <map>',
    '',
    ...kindTables,
    '',
    '// Several rungs can share this library; each has a struct of its own.',
    `static KlPythonRung& rungOf(const ${task.struct}* p) {`,
    `  static std::map<const ${task.struct}*, KlPythonRung> rungs;`,
    '  (void)kNames, (void)kBytes;',
    '  const auto known = rungs.find(p);',
    '  if (known != rungs.end()) return known->second;',
    '  KlPythonRung& rung = rungs[p];',
    ...numberLines(task),
    ...params.map(({ name: param }) => `  rung.whole("${param}", ${param});`),
    ...Object.keys(task.buffers).map((buffer) => bufferLine(task, buffer)),
    '  return rung;',
    '}',
    '',
    `static const char* refused(const ${task.struct}* p) {`,
    `  return rungOf(p).open("${file}", "${name}", (const void*)&refused);`,
    '}',
    '',
    'extern "C" {',
    `KL_EXPORT const char* kl_unsupported(const ${task.struct}* p, int) { return refused(p); }`,
    `KL_EXPORT const char* kl_warm_up(const ${task.struct}* p, cudaStream_t stream) {`,
    '  const char* why = refused(p);',
    '  return why ? why : rungOf(p).prepare(stream);',
    '}',
    `KL_EXPORT cudaError_t kl_launch(const ${task.struct}* p, cudaStream_t stream) {`,
    '  return rungOf(p).launch(stream) ? cudaSuccess : cudaErrorUnknown;',
    '}',
    `KL_EXPORT const char* kl_failure(const ${task.struct}* p) { return rungOf(p).failure(); }`,
    `KL_EXPORT const char* kl_about(const ${task.struct}* p) { return rungOf(p).about(); }`,
    '}',
    '',
  ].join('\n')
