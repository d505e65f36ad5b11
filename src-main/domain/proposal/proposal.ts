/** Proposes a ladder for one kernel from one of its launches. */
import { dtypeOf, type Dtype } from '../task/dtype'
import { fillOf, unknownFill, type Fill, type Piece } from './contents'
import { blocksOf, elementsOf, isConstant, type Count, type Size } from './counts'
import type { ParameterKind } from './signature'

type Extent = readonly [number, number, number]

export interface LaunchedPointer {
  /** Allocation number. Pointers into the same allocation have the same number. */
  allocation: number
  /** Offset in bytes from the start of the allocation. */
  offset: number
  /** Number of bytes from the pointer to the end of the allocation. */
  bytes: number
  /**
   * Data that the program had written to the allocation; null if the program had written no data.
   */
  pieces: readonly Piece[] | null
}

export interface LaunchedParameter {
  /** Parameter name as in the source. */
  name: string
  kind: Exclude<ParameterKind, { kind: 'unsupported' }>
  /** Value, for a number parameter. */
  value: number
  /** Value, for a pointer parameter; null for a null pointer. */
  pointer: LaunchedPointer | null
}

export interface KernelLaunch {
  parameters: readonly LaunchedParameter[]
  grid: Extent
  block: Extent
  dynamicSharedBytes: number
  /**
   * Whether the launch was recorded from a running program. If the launch was not recorded, all
   * sizes and values are invented.
   */
  wasRecorded: boolean
}

export type Access = 'in' | 'out' | 'inout'

export interface ProposedBuffer {
  name: string
  dtype: Dtype
  shape: Count
  access: Access
  fill: Fill
  /** The largest magnitude in the buffer after a small run; null if unknown. */
  largest: number | null
  /** Descriptions of uncertain choices. */
  guesses: string[]
}

export interface Proposal {
  sizes: (Size & { why: string | null })[]
  scalars: { name: string; dtype: string; value: number }[]
  buffers: ProposedBuffer[]
  /** The kernel's arguments in C++, with fields of the launch struct `p`, in parameter order. */
  arguments: string[]
  grid: { count: Count; guesses: string[] }[]
  block: Extent
  dynamicSharedBytes: number
  /** Reason why the sizes must not change; null if they may shrink. */
  fixed: string | null
  /** Groups of sizes that must be equal. */
  equal: string[][]
}

const reserved = new Set(
  'workspace workspaceBytes progress smCount stream p ceil floor round abs sqrt log2 pow min max'.split(
    ' ',
  ),
)

/** Generates unique field names for a struct. */
class Names {
  private readonly taken = new Set<string>()

  of(wanted: string): string {
    const plain = wanted.replace(/[^A-Za-z0-9_]/g, '').replace(/^[^A-Za-z]+/, '') || 'value'
    const base = reserved.has(plain) ? `${plain}_value` : plain
    let name = base
    for (let number = 2; this.taken.has(name); number++) name = `${base}_${number}`
    this.taken.add(name)
    return name
  }
}

const integerTypes: Readonly<Record<string, string>> = {
  'true 8': 'long long',
  'false 8': 'unsigned long long',
  'true 4': 'int',
  'false 4': 'unsigned int',
  'true 2': 'short',
  'false 2': 'unsigned short',
  'true 1': 'char',
  'false 1': 'unsigned char',
}

interface Pointed {
  name: string
  dtype: Dtype
  elements: number
  pieces: readonly Piece[] | null
  isConst: boolean
}

/** Returns one entry for each allocation passed to the kernel, in parameter order. */
function pointedAt({ parameters }: KernelLaunch, names: Names): Map<number, Pointed> {
  const found = new Map<number, Pointed>()
  for (const { name, kind, pointer } of parameters) {
    if (kind.kind !== 'pointer' || pointer === null) continue
    const before = found.get(pointer.allocation)
    if (before) {
      found.set(pointer.allocation, { ...before, isConst: before.isConst && kind.isConst })
      continue
    }
    const bytes = pointer.bytes + pointer.offset
    found.set(pointer.allocation, {
      name: names.of(name),
      dtype: kind.dtype,
      elements: Math.max(1, Math.floor(bytes / dtypeOf(kind.dtype).bytes)),
      // The data starts at the pointer, so it is used only if the pointer is the start of the
      // allocation.
      pieces: pointer.offset === 0 ? pointer.pieces : null,
      isConst: kind.isConst,
    })
  }
  return found
}

export function propose(launch: KernelLaunch): Proposal {
  const names = new Names()
  const pointed = pointedAt(launch, names)
  const integers = launch.parameters.flatMap(({ name, kind, value }) =>
    kind.kind === 'integer' && kind.bytes > 1 && value >= 1 && value <= 2 ** 40
      ? [{ parameter: name, name: names.of(name), value }]
      : [],
  )
  const candidates: Size[] = integers.map(({ name, value }) => ({ name, value }))
  const invented: Proposal['sizes'] = []
  const used = new Set<string>()
  const use = (count: Count): Count => {
    for (const factor of count.factors) used.add(factor)
    return count
  }

  const shapes = new Map<number, { shape: Count; guesses: string[] }>()
  const blocks = launch.grid.reduce((product, one) => product * one)
  const perBlock: number[] = []
  const invent = (allocation: number): void => {
    const { name, elements } = pointed.get(allocation)!
    const size = names.of(`${name}_count`)
    const why = `no parameter is the number of elements of ${name}`
    invented.push({ name: size, value: elements, why })
    const shape = use({ factors: [size], times: 1, over: 1, plus: 0 })
    shapes.set(allocation, { shape, guesses: [] })
  }
  for (const [allocation, { name, elements }] of pointed) {
    const all = [...candidates, ...invented]
    const found = elementsOf(name, elements, all)
    if (found) {
      const { count, others } = found
      const guesses = [
        ...(others.length > 0 ? [`could also be ${others.join(' or ')}`] : []),
        ...(count.times > 1 && !isConstant(count) ? [`${elements} elements were allocated`] : []),
      ]
      shapes.set(allocation, { shape: use(count), guesses })
      continue
    }
    // The buffer contains one partial result per block. The formula for the buffer's size follows
    // from the grid, which is not known yet.
    if (elements === blocks && blocks > 1 && pointed.size > 1) {
      perBlock.push(allocation)
      continue
    }
    invent(allocation)
  }

  const grid: Proposal['grid'] = []
  const taken: string[] = []
  for (const dimension of [0, 1, 2] as const) {
    const along = launch.grid[dimension]
    // A size invented for an element count determines only one dimension of the grid.
    const all = [...candidates, ...invented.filter(({ name }) => !taken.includes(name))]
    const { count, others } = blocksOf(dimension, along, launch.block[dimension], all, taken)
    taken.push(...count.factors)
    grid.push({
      count: use(count),
      guesses:
        along === 1
          ? []
          : isConstant(count)
            ? ['the recorded number; no size explains it']
            : others.length > 0
              ? [`could also be ${others.join(' or ')}`]
              : [],
    })
  }

  for (const allocation of perBlock) {
    const varying = grid.filter(({ count }) => !isConstant(count))
    const [only] = varying
    const rest = grid.filter(({ count }) => isConstant(count))
    if (varying.length === 1 && rest.every(({ count }) => count.times === 1))
      shapes.set(allocation, { shape: only!.count, guesses: ['one element per block'] })
    else invent(allocation)
  }

  const sizes: Proposal['sizes'] = [
    ...integers
      .filter(({ name }) => used.has(name))
      .map(({ name, value }) => ({ name, value, why: null })),
    ...invented,
  ]
  const scalars: Proposal['scalars'] = []
  const args = launch.parameters.map(({ name, kind, value, pointer }): string => {
    if (kind.kind === 'pointer') {
      const isConst = kind.isConst ? 'const ' : ''
      const type = `(${isConst}${kind.pointee}*)`
      if (pointer === null) return `${type}nullptr`
      const own = pointed.get(pointer.allocation)!
      const place = pointer.offset === 0 ? '' : ` + ${pointer.offset / dtypeOf(own.dtype).bytes}`
      return place === '' ? `${type}p->${own.name}` : `${type}(p->${own.name}${place})`
    }
    if (kind.kind === 'real') {
      const own = names.of(name)
      scalars.push({ name: own, dtype: kind.dtype, value })
      return `p->${own}`
    }
    const cast = integerTypes[`${kind.signed} ${kind.bytes}`] ?? 'int'
    const size = integers.find(({ parameter }) => parameter === name)
    if (size && used.has(size.name)) return `(${cast})p->${size.name}`
    const own = size?.name ?? names.of(name)
    scalars.push({ name: own, dtype: kind.bytes === 8 ? 'i64' : 'i32', value })
    return `(${cast})p->${own}`
  })

  const sizeList = sizes.map(({ name, value }) => [name, value] as const)
  const buffers = [...pointed].map(
    ([allocation, { name, dtype, pieces, isConst }]): ProposedBuffer => {
      const { shape, guesses } = shapes.get(allocation)!
      return {
        ...{ name, dtype, shape, largest: null, guesses: [...guesses] },
        access: isConst ? 'in' : 'inout',
        fill: pieces === null ? unknownFill(dtype) : fillOf(pieces, dtype, sizeList),
      }
    },
  )
  const stuck = grid.some(({ count }, index) => isConstant(count) && launch.grid[index]! > 1)
  return {
    ...{ sizes, scalars, buffers, arguments: args, grid },
    block: launch.block,
    dynamicSharedBytes: launch.dynamicSharedBytes,
    fixed: stuck ? 'the number of blocks is that of the recorded launch' : null,
    equal: [],
  }
}
