import { describe, expect, it } from 'vitest'
import {
  parseCompileCommands,
  settingsOf,
  shellWords,
} from '../../../src-main/parsers/cuda/compile-commands'

describe('compile_commands.json', () => {
  it.each([
    ['nvcc -c a.cu', ['nvcc', '-c', 'a.cu']],
    [
      String.raw`-DA=\"x\ y\" '-DB="1 2"' "-DC=\"z\"" -D""E`,
      ['-DA="x y"', '-DB="1 2"', '-DC="z"', '-DE'],
    ],
    ["'' a", ['', 'a']],
    ['  ', []],
  ])('%j is split as in a shell', (command, words) => {
    expect(shellWords(command)).toEqual(words)
  })

  // CMake 3.28 wrote this command for a CUDA target.
  const command =
    '/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DNDEBUG -DTILE=64 -I/p/include -isystem /p/cutlass ' +
    '--use_fast_math -Xptxas -dlcm=ca -O3 -DNAME="\\"a b\\"" -std=gnu++20 "--generate-code=arch=compute_90,code=[sm_90]" ' +
    '-Xcompiler=-fPIC -MD -MT k.o -MF k.o.d -x cu -c /p/k.cu -o k.o'

  it('is converted to `build` settings, without file names and architectures', () => {
    expect(settingsOf({ directory: '/p', file: 'k.cu', command })).toEqual({
      std: 'c++20',
      flags: ['--use_fast_math', '-Xptxas', '-dlcm=ca', '-Xcompiler=-fPIC'],
      defines: { NDEBUG: '1', TILE: '64', NAME: '"a b"' },
      include: ['/p/include', '/p/cutlass'],
    })
  })

  it('may have its arguments in a list, and options separated from their values', () => {
    const words = [
      'nvcc',
      '-I',
      'a b',
      '-D',
      'X=1',
      '--std=c++17',
      '--include-path=c',
      '-c',
      'k.cu',
    ]
    expect(settingsOf({ directory: '/p', file: 'k.cu', arguments: words })).toEqual({
      std: 'c++17',
      defines: { X: '1' },
      include: ['a b', 'c'],
    })
  })

  it.each(['', '{}', '[1]', '[{"file": "a"}]'])('%j is not a command', (text) => {
    expect(parseCompileCommands(text)).toBeNull()
  })
})
