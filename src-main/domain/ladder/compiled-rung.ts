/**
 * Wraps a precompiled rung so that the runner can load it. The generated C++ source
 * registers the kernels of a fat binary with the CUDA runtime, just like code from nvcc. The
 * generated source also launches one of the kernels as described in the ladder.
 */
import { message, type AnyMessage } from '../messages/message'
import { extent } from '../task/python'
import type { Task } from '../task/task'
import {
  argumentBytes,
  argumentOf,
  type Argument,
  type LaunchDescription,
} from './launch-description'

/** A kernel's parameters in the compiled file. */
interface TakesArguments {
  readonly name: string
  readonly parameters: { readonly list: readonly { readonly size: number }[] }
}

const types = {
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f32: 'float',
  f64: 'double',
} as const

/** Integer types by the parameter's size in bytes. */
const wholeTypes: Readonly<Record<number, string>> = {
  1: 'unsigned char',
  2: 'unsigned short',
  4: 'unsigned',
  8: 'unsigned long long',
}

/**
 * Returns the reason why a kernel cannot be launched as described, or null if the launch is valid.
 */
export function launchFault(
  task: Task,
  file: string,
  launch: LaunchDescription,
  kernels: readonly TakesArguments[],
): AnyMessage | null {
  const kernel = kernels.find(({ name }) => name === launch.kernel)
  if (!kernel)
    return kernels.length === 0
      ? message('compiled.noKernels', { file })
      : message('compiled.noKernel', {
          file,
          kernel: launch.kernel,
          kernels: kernels.map(({ name }) => name).join(', '),
        })
  const { list } = kernel.parameters
  if (list.length !== launch.arguments.length)
    return message('compiled.argumentCount', {
      kernel: launch.kernel,
      count: list.length,
      given: launch.arguments.length,
    })
  for (const [index, { size }] of list.entries()) {
    const written = launch.arguments[index]!
    const bytes = argumentBytes(task, argumentOf(task, written))
    if (bytes === null ? wholeTypes[size] === undefined : bytes !== size)
      return message('compiled.argumentBytes', {
        number: index + 1,
        kernel: launch.kernel,
        what: written,
        bytes: size,
      })
  }
  return null
}

/** Returns the declaration of a local variable that holds an argument's value. */
function argumentLine(task: Task, argument: Argument, bytes: number, index: number): string {
  const name = `argument${index}`
  switch (argument.kind) {
    case 'pointer':
      return `  const void* ${name} = p->${argument.name};`
    case 'task':
      return `  ${task.struct} ${name} = *p;`
    case 'scalar':
      return `  auto ${name} = p->${argument.name};`
    case 'number': {
      const value = extent(task, argument.formula)
      if (argument.type?.startsWith('f'))
        return `  auto ${name} = ${types[argument.type]}(${value});`
      const type = argument.type === null ? wholeTypes[bytes]! : types[argument.type]
      return `  auto ${name} = static_cast<${type}>(static_cast<long long>(${value}));`
    }
  }
}

/**
 * Returns the library's C++ source.
 *
 * @param code path of the fat binary on the machine that compiles the source
 * @param kernel null in a replay, which has no machine code
 */
export function compiledRungLibrary(
  task: Task,
  launch: LaunchDescription,
  code: string,
  kernel: TakesArguments | null,
): string {
  const struct = task.struct
  const extents = (formulas: readonly (string | number)[]): string =>
    formulas.map((formula) => `unsigned(${extent(task, formula)})`).join(', ')
  const given = launch.arguments.map((written, index) =>
    argumentLine(task, argumentOf(task, written), kernel?.parameters.list[index]?.size ?? 8, index),
  )
  const whole = [...launch.grid, ...launch.block]
    .map((formula) => `isAmount(${extent(task, formula)})`)
    .join(' && ')
  return [
    '#include "kernel_ladder.h"',
    '',
    '#include <algorithm>',
    '#include <cmath>',
    '#include <cuda_runtime.h>',
    '',
    `asm(".section .nv_fatbin,\\"a\\",@progbits\\n.balign 8\\nkl_code:\\n.incbin \\"${code}\\"\\n.balign 8\\n.previous\\n");`,
    '',
    'extern "C" {',
    'extern const unsigned long long kl_code[];',
    'void** __cudaRegisterFatBinary(void*);',
    'void __cudaRegisterFatBinaryEnd(void**);',
    'void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);',
    '}',
    '',
    'static struct { int magic, version; const void* code; void* file; } wrapper',
    '    __attribute__((section(".nvFatBinSegment"), used)) = {0x466243b1, 1, kl_code, nullptr};',
    'static char kernel;  // its address stands for the kernel',
    '__attribute__((constructor)) static void registerKernel() {',
    '  void** const binary = __cudaRegisterFatBinary(&wrapper);',
    // The runtime looks up the kernel by `__cudaRegisterFunction`'s third argument. Other tools use
    // the fourth argument.
    `  static char name[] = "${launch.kernel}";`,
    '  __cudaRegisterFunction(binary, &kernel, name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);',
    '  __cudaRegisterFatBinaryEnd(binary);',
    '}',
    '',
    'static bool isAmount(double value) { return value >= 1 && value < 4294967296.0 && value == std::floor(value); }',
    '',
    'extern "C" {',
    `KL_EXPORT const char* kl_unsupported(const ${struct}* p, int) {`,
    `  return ${whole} ? nullptr : "its grid or block is not a whole number of blocks or threads at this problem";`,
    '}',
    ...(launch.workspace === undefined
      ? []
      : [
          `KL_EXPORT size_t kl_workspace_bytes(const ${struct}* p) { return size_t(${extent(task, launch.workspace)}); }`,
        ]),
    `KL_EXPORT cudaError_t kl_launch(const ${struct}* p, cudaStream_t stream) {`,
    ...given,
    `  void* arguments[] = {${[...given.map((_, index) => `(void*)&argument${index}`), 'nullptr'].join(', ')}};`,
    `  const size_t shared = size_t(${extent(task, launch.shared ?? 0)});`,
    '  if (shared > 0) {',
    '    const cudaError_t status =',
    '        cudaFuncSetAttribute((const void*)&kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));',
    '    if (status != cudaSuccess) return status;',
    '  }',
    `  return cudaLaunchKernel((const void*)&kernel, dim3(${extents(launch.grid)}), dim3(${extents(launch.block)}), arguments, shared, stream);`,
    '}',
    '}',
    '',
  ].join('\n')
}
