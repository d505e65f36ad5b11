import { describe, expect, it } from 'vitest'
import { parseNvccOutput, summarizeBuild } from '../../../src-main/parsers/cuda/ptxas'
import { captures, nvccCapture } from '../captures'

const parse = (name: string) => parseNvccOutput(nvccCapture(name))
const error = (file: string | null, line: number | null, message: string) => ({
  severity: 'error',
  file,
  line,
  message,
})

describe('a captured build', () => {
  const isMissing = (file: string): boolean => /^not.there/.test(file)
  it('has the files that it compiled, so that it can be made again', () => {
    for (const [name, { argv, sources = {} }] of Object.entries(captures('nvcc/13.0.88'))) {
      const given = argv.match(/[\w-]+\.cu\b/g)!.filter((file) => !isMissing(file))
      const included = Object.values(sources).flatMap((text) =>
        [...text.matchAll(/#include "([^"]+)"/g)]
          .map(([, file]) => file!)
          .filter((file) => !isMissing(file)),
      )
      expect(Object.keys(sources), name).toEqual([...given, ...included])
    }
  })
})

// A pattern that tries every start of a run takes minutes here, which the limit of a test ends.
describe('text of a size that nobody wrote', () => {
  const digits = '1'.repeat(600_000)

  it.each([
    ['behind the registers', `ptxas info    : Used 32 registers, ${digits}, 16 bytes smem`],
    ['in the properties of a kernel', `    ${digits} bytes stack, 8 bytes stack frame`],
    ['as a line of a source', `x.cu(${digits}): error: no`],
    ['as registers', `ptxas info    : Used ${digits} registers`],
  ])('%s is passed over', (_, line) => {
    const { kernels, diagnostics } = parseNvccOutput(
      [
        "ptxas info    : Compiling entry function 'k' for 'sm_90'",
        'ptxas info    : Function properties for k',
        line,
        'ptxas info    : Used 8 registers, 24 bytes smem',
      ].join('\n'),
    )
    expect(kernels).toHaveLength(1)
    expect(kernels[0]?.registers).toBeLessThanOrEqual(32)
    for (const { line: at } of diagnostics) expect(at).toBeNull()
  })
})

describe('resources of kernels, from -Xptxas -v', () => {
  const { kernels, diagnostics } = parse('spills')

  it('has each kernel with its registers, memory, spills and barriers', () => {
    expect(kernels).toEqual([
      {
        name: '_Z4tileILi16EEvPKfPf',
        architecture: 'sm_90',
        registers: 12,
        staticSharedBytes: 1024,
        constantBytes: 0,
        spillStoreBytes: 0,
        spillLoadBytes: 0,
        stackBytes: 0,
        barriers: 1,
      },
      {
        name: 'spilling',
        architecture: 'sm_90',
        registers: 32,
        staticSharedBytes: 0,
        constantBytes: 0,
        spillStoreBytes: 1320,
        spillLoadBytes: 1656,
        stackBytes: 832,
        barriers: 1,
      },
    ])
    expect(diagnostics).toEqual([])
  })

  it('has a kernel once for each architecture, with the constants that ptxas names', () => {
    const { kernels } = parse('two-architectures')
    expect(
      kernels.map(({ architecture, registers, constantBytes }) => ({
        architecture,
        registers,
        constantBytes,
      })),
    ).toEqual([
      { architecture: 'sm_80', registers: 8, constantBytes: 360 },
      { architecture: 'sm_90', registers: 10, constantBytes: 0 },
    ])
  })

  it('takes no spills from a device function that is compiled beside the kernel', () => {
    const text = nvccCapture('spills').replace(
      /ptxas info {4}: Function properties for spilling\n.*\n/,
      (own) =>
        `${own}ptxas info    : Function properties for _Z6helperf\n    64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n`,
    )
    expect(parseNvccOutput(text).kernels).toEqual(kernels)
  })

  it('is summed up as the highest of each over the kernels', () => {
    expect(summarizeBuild(kernels)).toEqual({
      registersPerThread: 32,
      staticSharedBytes: 1024,
      spillStoreBytes: 1320,
      spillLoadBytes: 1656,
    })
  })

  it('is null, and not zero, where no kernel was compiled', () => {
    const { kernels } = parse('host-warning')
    expect(kernels).toEqual([])
    expect(summarizeBuild(kernels)).toEqual({
      registersPerThread: null,
      staticSharedBytes: null,
      spillStoreBytes: null,
      spillLoadBytes: null,
    })
  })
})

describe('messages at their place', () => {
  it.each([
    ['syntax', [error('syntax.cu', 3, 'expected a ";"')]],
    [
      'undefined',
      [
        error('undefined.cu', 3, 'identifier "j" is undefined'),
        error('undefined.cu', 4, 'identifier "unknown" is undefined'),
      ],
    ],
    ['hash-error', [error('hash-error.cu', 2, '#error BM must be a multiple of TM')]],
    [
      'missing-include',
      [error('missing-include.cu', 1, 'not_there.cuh: No such file or directory')],
    ],
    [
      'static-assert',
      [
        error(
          'static-assert.cu',
          2,
          'static assertion failed with "BM must be a multiple of TM"; detected during instantiation of "void k<BM,TM>(float *) [with BM=64, TM=7]" at line 5',
        ),
      ],
    ],
  ])('%s', (name, expected) => expect(parse(name).diagnostics).toEqual(expected))

  it('details of a message are kept, the source line and the caret below it are not', () => {
    expect(parse('no-instance').diagnostics).toEqual([
      error(
        'no-instance.cu',
        4,
        'no instance of overloaded function "pick" matches the argument list; argument types are: (float *, float *, int)',
      ),
      expect.objectContaining({ severity: 'note', line: 2 }),
      expect.objectContaining({ severity: 'note', line: 1 }),
    ])
  })

  it('a source line that is far in is not taken for a detail', () => {
    const text = nvccCapture('syntax').replace('    c[i]', `${' '.repeat(16)}c[i]`)
    expect(parseNvccOutput(text).diagnostics).toEqual([error('syntax.cu', 3, 'expected a ";"')])
  })

  it('a warning is a warning, without its number, beside the kernel that was built', () => {
    const { kernels, diagnostics } = parse('warning')
    expect(diagnostics).toEqual([
      {
        severity: 'warning',
        file: 'warning.cu',
        line: 2,
        message: 'variable "unused" was declared but never referenced',
      },
    ])
    expect(kernels).toHaveLength(1)
  })

  it('one in a header has the file of the header', () => {
    expect(parse('host-warning').diagnostics.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'helper.cuh:1',
      'host-warning.cu:3',
    ])
  })

  it('one that nvcc prints in two passes stands once', () => {
    expect(parse('hash-warning').diagnostics).toHaveLength(1)
    expect(parse('two-architectures').diagnostics).toHaveLength(1)
  })
})

describe('messages without a place in the source', () => {
  it.each([
    [
      'too-much-shared',
      "Entry function '_Z1kPf' uses too much shared data (0x20000 bytes, 0xc000 max)",
    ],
    ['bad-arch', "Unsupported gpu architecture 'compute_50'"],
    ['undefined-symbol', "Unresolved extern function '_Z9elsewheref'"],
    ['no-source', 'not-there.cu: No such file or directory'],
  ])('%s', (name, message) => expect(parse(name).diagnostics).toEqual([error(null, null, message)]))

  it('ptxas names a line of PTX that nobody wrote, so no file is given', () => {
    const [first] = parse('ptx-error').diagnostics
    expect(first).toEqual(
      error(null, null, "Unknown modifier '.instruction' (line 29 of the generated PTX)"),
    )
  })

  it('advice of ptxas with a number is a note, its statistics are not', () => {
    const { diagnostics, kernels } = parse('wgmma-serialized')
    expect(
      diagnostics.map(({ severity, message }) => `${severity} ${message.slice(0, 34)}`),
    ).toEqual(
      ['note (C7517) warpgroup.wait is injected', 'note (C7511) Potential Performance Loss'].map(
        (text) => text.slice(0, 39),
      ),
    )
    expect(kernels[0]?.architecture).toBe('sm_90a')
  })
})

it('the linker says which library is missing', () => {
  const text =
    '/usr/bin/ld: cannot find -lnot_there: No such file or directory\ncollect2: error: ld returned 1 exit status\n'
  expect(parseNvccOutput(text).diagnostics[0]).toEqual(
    error(null, null, 'cannot find -lnot_there: No such file or directory'),
  )
})

it('text that is none of this gives nothing', () => {
  expect(parseNvccOutput('hello\n\n  world\n')).toEqual({ kernels: [], diagnostics: [] })
})
