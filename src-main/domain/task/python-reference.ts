/**
 * Wraps a Python reference as a library for the runner. The generated C++ source passes the arrays
 * to python3 and reads the results back (kl_python.h).
 */
import { launchScalars, type Task, type TaskBuffer } from './task'
import { extent, kindTables, typeOf } from './python'

/** Path of the header for the generated library, relative to the shared headers. */
export const pythonHeaderFile = 'python/kl_python.h'

/**
 * Python code that imports and calls the script. The script's output is redirected to stderr, and
 * the driver writes its progress to stdout.
 */
const driver = `import json, os, sys, types
import numpy as np

folder = os.path.dirname(os.path.abspath(__file__))
told, sys.stdout = sys.stdout, sys.stderr
with open(os.path.join(folder, "spec.json")) as file:
    spec = json.load(file)

plain = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
         "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "bf16": "<u2", "e4m3": "u1", "e5m2": "u1"}

def e4m3(bits):
    exponent, fraction = (bits >> 3 & 15).astype(int), (bits & 7) / 8
    value = np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * 2.0 ** (exponent - 7))
    value = np.where((bits & 127) == 127, np.nan, value)
    return np.where(bits & 128, -value, value).astype(np.float32)

def values(array, dtype):
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    if dtype == "e5m2":
        return (array.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return e4m3(array) if dtype == "e4m3" else array

def progress(fraction):
    print(float(fraction), file=told, flush=True)

task = types.SimpleNamespace(progress=progress, **spec["numbers"])
for one in spec["inputs"]:
    array = np.fromfile(os.path.join(folder, one["name"]), plain[one["dtype"]]).reshape(one["shape"])
    setattr(task, one["name"], values(array, one["dtype"]))
for one in spec["outputs"]:
    kind = np.dtype(plain[one["dtype"]])
    setattr(task, one["name"], np.full(one["shape"], np.nan if kind.kind == "f" else 0, kind))

sys.path.insert(0, folder)
import reference
reference.kl_reference(task)

for one in spec["outputs"]:
    array = np.asarray(getattr(task, one["name"]))
    if list(array.shape) != one["shape"]:
        sys.exit(f"reference.py: {one['name']} has the shape {list(array.shape)}, not {one['shape']}")
    np.ascontiguousarray(array, plain[one["dtype"]]).tofile(os.path.join(folder, "out-" + one["name"]))
`

/**
 * Python code that prints why the script is not a valid reference. Accepts any binding of the
 * required name, not only a `def`.
 */
const checker = `import ast, os, sys

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")
sys.stdout.reconfigure(encoding="utf-8")
try:
    with open(path, "rb") as file:
        nodes = list(ast.walk(ast.parse(file.read())))
    bound = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    bound |= {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if not bound & {"kl_reference", "*"}:
        print("does not define kl_reference(task)", end="")
except SyntaxError as error:
    print(f"is not valid Python: line {error.lineno}: {error.msg}", end="")
except ValueError as error:
    print(f"is not valid Python: {error}", end="")
`

/** Returns a C++ string literal for arbitrary text, one source line per text line. */
function literal(text: string): string {
  const sign = (byte: number): string =>
    byte >= 0x20 && byte < 0x7f && !'"\\?'.includes(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`
  return text
    .split(/(?<=\n)/)
    .map((line) => `"${[...new TextEncoder().encode(line)].map(sign).join('')}"`)
    .join('\n    ')
}

interface Written {
  name: string
  word: string
  bytes: string
  shape: string
}

function outputsOf(task: Task, name: string, buffer: TaskBuffer, shape: string): Written[] {
  const check = task.check[name]
  const own = typeOf(task, buffer)
  const real = { word: '"f64"', bytes: '8' }
  return [
    { name, shape, ...(check && 'exact' in check ? own : real) },
    ...(check && 'scale' in check ? [{ name: `${name}_scale`, shape, ...real }] : []),
  ]
}

/** Returns the C++ source of a library that wraps the given text of reference.py. */
export function pythonLibrary(task: Task, script: string): string {
  const lines: string[] = []
  const written: Written[] = []
  for (const name of [...Object.keys(task.sizes), ...launchScalars(task).map(([one]) => one)])
    lines.push(`python.number("${name}", double(p->${name}));`)
  for (const [name, { field, choices }] of Object.entries(task.options)) {
    const words = Object.entries(choices).map(
      ([choice, number]) => `p->${field} == ${number} ? "${choice}" : `,
    )
    lines.push(`python.word("${name}", ${words.join('')}"");`)
  }
  for (const [name, buffer] of Object.entries(task.buffers)) {
    const shape = `{${buffer.shape.map((formula) => extent(task, formula)).join(', ')}}`
    const { word, bytes } = typeOf(task, buffer)
    const read = buffer.access === 'in' ? name : `${name}_in`
    if (buffer.access !== 'out')
      lines.push(`python.input("${read}", ${word}, ${bytes}, ${shape}, p->${read});`)
    if (buffer.access !== 'in') written.push(...outputsOf(task, name, buffer, shape))
  }
  return [
    '// Generated from the task and its reference.py.',
    '#include "kl_python.h"',
    '#include "kl_reference.h"',
    '',
    '#include <algorithm>',
    '#include <cmath>',
    '',
    ...kindTables,
    `static const char kDriver[] =\n    ${literal(driver)};`,
    `static const char kChecker[] =\n    ${literal(checker)};`,
    `static const char kScript[] =\n    ${literal(script)};`,
    '',
    'extern "C" void kl_reference(const KlReference* p) {',
    '  (void)kNames, (void)kBytes;',
    '  KlPython python;',
    ...lines.map((line) => `  ${line}`),
    ...written.map(({ name, word, shape }) => `  python.output("${name}", ${word}, ${shape});`),
    '  python.run(kDriver, kScript, p->progress);',
    ...written.map(
      ({ name, bytes, shape }) => `  python.take("out-${name}", ${bytes}, ${shape}, p->${name});`,
    ),
    '}',
    '',
    '// For the probe, which computes nothing.',
    'extern "C" const char* kl_reference_fault() {',
    '  static std::string fault;',
    '  fault = KlPython().said(kChecker, kScript);',
    '  return fault.c_str();',
    '}',
    '',
  ].join('\n')
}
