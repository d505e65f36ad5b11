/**
 * Tests `build:` in a ladder: accepted values, the combination of rung and ladder settings, and
 * nvcc arguments.
 */
import { describe, expect, it } from 'vitest'
import {
  BuildSettings,
  mergedSettings,
  settingsFaults,
  settingsWords,
  variablesIn,
  withVariables,
} from '../../../src-main/domain/ladder/build-settings'
import { inEnglish } from '../../../src-main/domain/text/english'

const faultsOf = (settings: BuildSettings): string[] =>
  settingsFaults(settings).map(({ path, message }) => `${path.join('.')}: ${inEnglish(message)}`)

describe("a rung's flags", () => {
  it.each([
    ['--use_fast_math'],
    ['-use_fast_math', '-fmad=false', '--expt-relaxed-constexpr'],
    ['-Xptxas', '-dlcm=ca', '-O1', '-Xcompiler', '-fopenmp'],
    ['-L$HPC_SDK/lib64', '-diag-suppress=177', '-diag-suppress', '177,20012'],
  ])('may include %s', (...flags) => {
    expect(faultsOf({ flags })).toEqual([])
  })

  it.each([
    ['-o', 'flags.0: -o is not an allowed build flag for rungs'],
    ['-run', 'flags.0: -run is not an allowed'],
    ['--run', 'flags.0: --run is not an allowed'],
    ['-ptx', 'flags.0: -ptx is not an allowed'],
    ['-arch=sm_80', 'flags.0: -arch=sm_80 is not an allowed'],
    ['--options-file', 'flags.0: --options-file is not an allowed'],
    ['-I/opt/include', 'flags.0: Write -I/opt/include under `include` of `build`.'],
    ['-DN=1', 'flags.0: Write -DN=1 under `defines` of `build`.'],
    ['-std=c++20', 'flags.0: Write -std=c++20 under `std` of `build`.'],
    ['-Xptxas -v', 'flags.0: "-Xptxas -v" has spaces; write one word per entry: "-Xptxas", "-v".'],
    ['--use_fast_math ', 'has spaces; write one word per entry: "--use_fast_math"'],
    ['-L/a b', 'has spaces'],
    ['-diag-suppress 177', 'has spaces; write one word per entry: "-diag-suppress", "177"'],
    ['other.cu', 'flags.0: "other.cu" is not a flag: flags start with "-".'],
  ])('must not include %s', (flag, sentence) => {
    expect(faultsOf({ flags: [flag] }).join()).toContain(sentence)
  })

  it.each([['-o'], ['--output-file=x'], ['x.ptx']])('must not pass %s to ptxas', (value) => {
    expect(faultsOf({ flags: ['-Xptxas', value] }).join()).toContain(
      `flags.0: -Xptxas cannot have the value "${value}".`,
    )
  })

  it('that need a value must not be last', () => {
    expect(faultsOf({ flags: ['-Xcompiler'] })).toEqual([
      'flags.0: -Xcompiler cannot have the value "".',
    ])
  })
})

it('an include directory must be inside the folder, absolute, or below a variable', () => {
  expect(
    faultsOf({ include: ['include', '/opt/x', '$CUTLASS_PATH/include', 'a/../../b'] }),
  ).toEqual([
    'include.3: The include directory a/../../b is outside the folder; write an absolute path, or a path that starts with a $VARIABLE.',
  ])
})

it('an unknown key, an unknown standard, and a library with a path are rejected', () => {
  for (const settings of [{ optimize: true }, { std: 'c++11' }, { libraries: ['/lib/x.so'] }])
    expect(BuildSettings.safeParse(settings).success).toBe(false)
})

it('a rung extends the lists of its ladder and overrides all other settings', () => {
  const ladder = { flags: ['-O1'], std: 'c++17', defines: { A: 1, B: 2 } } as const
  const rung = { flags: ['--use_fast_math'], std: 'c++20', defines: { B: 3 } } as const
  const merged = mergedSettings(BuildSettings.parse(ladder), BuildSettings.parse(rung))
  expect(settingsWords(merged)).toEqual([
    ...['-std=c++20', '-O1', '--use_fast_math', '-DA=1', '-DB=3'],
  ])
  expect(mergedSettings(undefined, undefined)).toBeUndefined()
})

it('every key becomes nvcc arguments, with libraries last, and no shell interprets them', () => {
  const words = settingsWords({
    flags: ['-fmad=false'],
    include: ['$X/include'],
    defines: { TEXT: '"a b; c"', N: 4 },
    libraries: ['cublas', 'cuda'],
    std: 'c++20',
    rdc: true,
    max_registers: 128,
  })
  expect(words).toEqual([
    ...['-std=c++20', '-fmad=false', '-rdc=true', '-maxrregcount=128'],
    ...['-DTEXT="a b; c"', '-DN=4', '-I$X/include', '-lcublas', '-lcuda'],
  ])
})

it('variables are found by name and replaced only in directories and flags', () => {
  const settings = {
    include: ['${A}/include', '$B'],
    flags: ['-L$A/lib'],
    defines: { PRICE: '$C' },
  }
  expect(variablesIn(settings)).toEqual(['A', 'B'])
  expect(withVariables(settings, (name) => `/${name}`)).toEqual({
    include: ['/A/include', '/B'],
    flags: ['-L/A/lib'],
    defines: { PRICE: '$C' },
  })
})
