/**
 * Tests cubins built by nvcc 13.0.88. The source of `kernels.so` uses all features of the cubin
 * format. Also tests honest and malicious host code in libraries, and the resulting messages.
 */
import { describe, expect, it } from 'vitest'
import { KernelLadderError } from '../../../src-main/domain/errors'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import { type MachineCode } from '../../../src-main/domain/sass/machine-code'
import { inEnglish } from '../../../src-main/domain/text/english'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'
import { placesOf } from '../../../src-main/domain/sass/line-table'
import { cubinsOf } from '../../../src-main/parsers/cubin/fat-binary'

const read = (name: string): Uint8Array => packedRow('cubins.jsonl', name).bytes

const library = read('kernels.so')
const [ampere, hopper] = cubinsOf(library) as [Uint8Array, Uint8Array]
const codes = { ampere: readCubin(ampere), hopper: readCubin(hopper) }
const everything = ({ kernels }: MachineCode) =>
  kernels.find(({ name }) => name.includes('everything'))!

describe('a library', () => {
  it('has a cubin for each architecture, excluding PTX', () => {
    expect(cubinsOf(library)).toHaveLength(2)
    expect([codes.ampere.architecture, codes.hopper.architecture]).toEqual([80, 90])
  })

  it('may itself be a cubin, or contain no cubin', () => {
    expect(cubinsOf(hopper)).toEqual([hopper])
    const hostOnly = library.slice()
    // Rename the fatbin's section.
    const at = Buffer.from(hostOnly).indexOf('.nv_fatbin\0')
    hostOnly[at] = 'x'.charCodeAt(0)
    expect(cubinsOf(hostOnly)).toEqual([])
  })

  it('with a compressed cubin is rejected with a remedy', () => {
    const compressed = library.slice()
    const container = Buffer.from(compressed).indexOf(Buffer.from([0x50, 0xed, 0x55, 0xba]))
    compressed[container + 16 + 40 + 1]! |= 0x80
    expect(() => cubinsOf(compressed)).toThrow('The machine code is compressed.')
  })
})

describe('a kernel', () => {
  it('has its resources and the layout of its parameters', () => {
    const { name, code, lines, constants, relocations, ...rest } = everything(codes.hopper)
    expect(name).toBe('_Z10everythingPficd')
    expect(rest).toEqual({
      registers: expect.any(Number),
      frameBytes: 416,
      stackBytes: 416,
      barriers: 1,
      // The kernel's 28 bytes of shared memory start after the first KiB.
      sharedBytes: 1024 + 28,
      maxThreads: [128, 1, 1],
      requiredThreads: null,
      clusterBlocks: null,
      parameters: {
        base: 0x210,
        size: 24,
        list: [
          { offset: 0, size: 8 },
          { offset: 8, size: 4 },
          { offset: 12, size: 1 },
          { offset: 16, size: 8 },
        ],
      },
      subprograms: [
        {
          name: '$_Z10everythingPficd$_Z6calledf',
          offset: expect.any(Number),
          size: expect.any(Number),
        },
      ],
    })
    expect(code.length % 16).toBe(0)
    expect(lines.length).toBeGreaterThan(20)
    expect(constants.map(({ bank, bytes }) => [bank, bytes.length])).toEqual([[0, 0x228]])
    expect(relocations).toEqual([])
    // Before sm_90, a kernel's shared memory starts at address 0.
    expect(everything(codes.ampere)).toMatchObject({ sharedBytes: 28, parameters: { base: 0x160 } })
  })

  it('consists only of known instructions', () => {
    for (const { kernels, architecture } of Object.values(codes))
      for (const { code } of kernels) {
        const words = new Uint32Array(code.slice().buffer)
        for (let at = 0; at < words.length; at += 4) {
          const [a, b, c, d] = words.subarray(at, at + 4)
          expect(decodeInstruction([a!, b!, c!, d!], at * 4, architecture)).not.toHaveProperty(
            'unknown',
          )
        }
      }
  })

  it('includes the division subprogram that it calls', () => {
    const plain = codes.hopper.kernels.find(({ name }) => name.includes('plain'))!
    expect(plain.subprograms.map(({ name }) => name)).toEqual([
      '$__internal_0_$__cuda_sm20_div_u64',
    ])
  })
})

describe('variables', () => {
  const { globals, constants, calls } = codes.hopper
  const text = (name: string): string =>
    Buffer.from(globals.find((each) => each.name === name)!.initial!).toString()

  it('have their location and initial contents', () => {
    expect(globals.find(({ name }) => name === 'counter')).toMatchObject({ size: 4 })
    expect([...globals.find(({ name }) => name === 'counter')!.initial!]).toEqual([5, 0, 0, 0])
    expect(globals.find(({ name }) => name === 'zeros')).toMatchObject({ size: 40, initial: null })
    const ends = globals
      .map(({ offset, size }) => [offset, offset + size] as const)
      .sort((a, b) => a[0] - b[0])
    for (const [index, [start]] of ends.entries())
      if (index > 0) expect(start).toBeGreaterThanOrEqual(ends[index - 1]![1])
  })

  it('include the printf formats, which are found through bank 4', () => {
    expect(text('$str')).toBe('counter %d of %s\n\0')
    const addresses = constants.find(({ bank }) => bank === 4)!
    expect(addresses.relocations.map(({ symbol, type }) => [symbol, type]).sort()).toEqual([
      ['$str$1', 2],
      ['$str', 2],
      ['counter', 2],
      ['vprintf', 2],
      ['zeros', 2],
    ])
    expect(calls).toContainEqual({ caller: '_Z10everythingPficd', callee: 'vprintf' })
  })

  it('in constant memory are in bank 3', () => {
    const weights = constants.find(({ bank }) => bank === 3)!.bytes
    expect([...new Float32Array(weights.slice().buffer)]).toEqual([1, 2, 3, 4])
  })
})

describe('lines', () => {
  const { lines, subprograms } = everything(codes.hopper)
  const source = packedRow('cubins.jsonl', 'kernels.so').source.split('\n')
  const lineOf = (text: string): number => source.findIndex((line) => line.includes(text)) + 1

  it('show the origin of inlined code, and the calls that lead to it', () => {
    const twice = lines.find(({ inlined }) => inlined?.function.includes('twice'))!
    expect(placesOf(lines, twice.address).map(({ line }) => line)).toEqual([
      lineOf('x * x + 1'),
      lineOf('twice(x) * 3'),
      lineOf('inlined(local[n])'),
    ])
    expect(placesOf(lines, twice.address)[0]!.file).toMatch(/\/kernels\.cu$/)
  })

  it('show a called function under its own name', () => {
    const { offset } = subprograms[0]!
    expect(placesOf(lines, offset).map(({ line }) => line)).toEqual([lineOf('float called(')])
  })

  it('stop at a damaged table with endless inlining', () => {
    const rows = [{ address: 0, file: 'a.cu', line: 1, inlined: null } as (typeof lines)[number]]
    for (let line = 2; line <= 5_000; line += 1)
      rows.push({ address: 0, file: 'a.cu', line, inlined: { function: 'f', at: rows.at(-1)! } })
    expect(
      placesOf(rows, 0)
        .map((place) => place.line)
        .slice(0, 2),
    ).toEqual([5_000, 4_999])
    expect(placesOf(rows, 0)).toHaveLength(100)
  })

  it('do not exist before the first line entry', () => {
    expect(placesOf([], 16)).toEqual([])
    expect(placesOf(lines, -1)).toEqual([])
  })
})

it('the cubin reader reads variables of 4 GiB or more, although nvcc truncates their section size', () => {
  const big = hopper.slice()
  const view = new DataView(big.buffer)
  const last = codes.hopper.globals.filter(({ initial }) => initial === null).at(-1)!
  // A symbol has a name, type, section, section offset, and size. Increase the symbol's size by 4
  // GiB.
  const symbols = Array.from({ length: Math.floor(big.length / 8) - 4 }, (_, at) => 8 * at).filter(
    (at) =>
      (view.getUint8(at + 4) & 15) === 1 && view.getBigUint64(at + 16, true) === BigInt(last.size),
  )
  for (const at of symbols) view.setUint32(at + 20, 1, true)
  const grown = readCubin(big).globals.find(({ name }) => name === last.name)!
  expect(grown.size).toBe(last.size + 2 ** 32)
})

describe('damaged machine code', () => {
  const sentence = (bytes: Uint8Array): string => {
    try {
      for (const cubin of cubinsOf(bytes)) readCubin(cubin)
      return ''
    } catch (error) {
      if (!(error instanceof KernelLadderError)) throw error
      return inEnglish(error.statement)
    }
  }
  const changed = (change: (view: DataView) => void): string => {
    const copy = hopper.slice()
    change(new DataView(copy.buffer))
    return sentence(copy)
  }
  /** The offsets of the cubin's sections and section table entries. */
  const sections = (() => {
    const view = new DataView(hopper.buffer, hopper.byteOffset, hopper.length)
    const table = Number(view.getBigUint64(40, true))
    const entry = (index: number): number => table + index * 64
    const names = Number(view.getBigUint64(entry(view.getUint16(62, true)) + 24, true))
    return (name: string): { entry: number; offset: number } => {
      for (let index = 0; index < view.getUint16(60, true); index += 1) {
        const at = names + view.getUint32(entry(index), true)
        if (Buffer.from(hopper.subarray(at, at + name.length + 1)).toString() === `${name}\0`)
          return { entry: entry(index), offset: Number(view.getBigUint64(entry(index) + 24, true)) }
      }
      throw new Error(`No section ${name}.`)
    }
  })()

  it.each([
    [
      'the ELF header',
      (view: DataView) => {
        view.setUint16(58, 63, true)
      },
    ],
    [
      'the section table',
      (view: DataView) => {
        view.setBigUint64(40, 1n << 40n, true)
      },
    ],
    [
      'the section table',
      (view: DataView) => {
        view.setUint32(sections('.text._Z10everythingPficd').entry + 32, 0x7fffffff, true)
      },
    ],
    [
      'the symbol table',
      (view: DataView) => {
        view.setUint32(sections('.symtab').offset + 24, 0x7fffffff, true)
      },
    ],
    [
      'a relocation',
      (view: DataView) => {
        view.setUint32(sections('.rela.nv.constant4').offset + 12, 0x7fff, true)
      },
    ],
    [
      'the attributes of a kernel (.nv.info)',
      (view: DataView) => {
        view.setUint8(sections('.nv.info._Z10everythingPficd').offset, 9)
      },
    ],
    [
      'the code of a kernel',
      (view: DataView) => {
        view.setUint32(sections('.text._Z10everythingPficd').entry + 32, 24, true)
      },
    ],
    [
      'the line table',
      (view: DataView) => {
        view.setUint16(sections('.debug_line').offset + 4, 9, true)
      },
    ],
  ] as const)('is reported: %s', (part, change) => {
    expect(changed(change)).toBe(`The machine code is damaged: ${part} cannot be read.`)
  })

  it('is distinguished from code for another GPU', () => {
    expect(
      changed((view) => {
        view.setUint32(48, (view.getUint32(48, true) & ~0xff00) | (100 << 8), true)
      }),
    ).toBe('The machine code is for sm_100, whose encoding is unknown.')
  })

  it('causes only the expected errors, and never a hang, when bytes are changed or removed', () => {
    let state = 12345
    const random = (below: number): number => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state % below
    }
    const said = new Set<string>()
    // Most of a cubin is code and PTX text, so half of the changes are made to the structure.
    const table = Number(new DataView(hopper.buffer, hopper.byteOffset).getBigUint64(40, true))
    const places = [
      0,
      table,
      ...[
        '.symtab',
        '.debug_line',
        '.nv.info',
        '.rela.nv.constant4',
        '.nv.callgraph',
        '.nv.info._Z10everythingPficd',
      ].map((name) => sections(name).offset),
    ]
    for (let round = 0; round < 2_000; round += 1) {
      const copy = hopper.slice(0, round % 10 === 0 ? random(hopper.length) : hopper.length)
      for (let flips = 1 + random(6); flips > 0; flips -= 1) {
        const at =
          round % 2 === 0 ? random(hopper.length) : places[random(places.length)]! + random(600)
        if (at < copy.length) copy[at] = random(4) === 0 ? 255 : random(256)
      }
      said.add(sentence(copy))
    }
    expect(said.size).toBeGreaterThan(6)
  })
})
