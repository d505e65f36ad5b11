/**
 * Emits the WebAssembly function for one memory access. The function checks that the addresses
 * match a known pattern, and then executes the load, store, or copy.
 */
import {
  zeroRegister,
  zeroUniformRegister,
  type MemoryOperand,
  type Operand,
} from '../sass/instruction'
import { deviceHigh } from './device'
import { offsetMask, storeOrder } from './memory-access'
import {
  evenWords,
  highHalves,
  lowHalves,
  oddWords,
  zipHigh,
  zipLow,
  Code,
  i32,
  scalar,
  v128,
  vector,
} from './wasm'
import { lanes } from './site'
import {
  rowBytes,
  boundsBytes,
  shapeAt,
  timesAt,
  reachAt,
  wayHeader,
  shapes,
  wayBytes,
  pushHash,
  pushStart,
  type FastPattern,
} from './fast-patterns'
import { predicateIndex } from './site-operands'

export interface FastSetting {
  /**
   * Row of the first uniform register, and byte offset of the first predicate, relative to the
   * warp's base.
   */
  registers: number
  predicates: number
  /** Whether shared-memory addresses contain the block's rank. */
  clustered: boolean
}

export class Writer {
  private readonly way: number
  private readonly bad: number
  /**
   * For each address: the base that is added to the address register, and the byte address of the
   * first lane's value.
   */
  private readonly bases: number[]
  private readonly firsts: number[]
  private readonly vectors: number[]

  constructor(
    private readonly code: Code,
    private readonly site: number,
    private readonly setting: FastSetting,
    private readonly bytes: number,
    private readonly addresses: readonly MemoryOperand[],
    private readonly spaces: FastPattern['spaces'],
  ) {
    this.way = code.local(i32)
    this.bad = code.local(v128)
    this.bases = addresses.map(() => code.local(i32))
    this.firsts = addresses.map(() => code.local(i32))
    this.vectors = Array.from({ length: 9 }, () => code.local(v128))
  }

  private giveUpIf(): void {
    const { code } = this
    code.op(scalar.if, 0x40)
    code.constant(0)
    code.op(scalar.return, scalar.end)
  }

  wholeWarp(): void {
    this.code.get(1)
    this.code.constant(-1)
    this.code.op(scalar.ne)
    this.giveUpIf()
  }

  predicateHolds(operand: Parameters<typeof predicateIndex>[0]): void {
    const { code } = this
    code.get(0)
    code.memory(scalar.load, this.setting.predicates + 4 * predicateIndex(operand))
    code.constant(operand.negated ? 0 : -1)
    code.op(scalar.ne)
    this.giveUpIf()
  }

  /** Emits code that pushes a lane's value of an address register. */
  private register(place: number, lane: number): void {
    const { code } = this
    const { register } = this.addresses[place]!
    if (register === null || register === zeroRegister) return code.constant(0)
    code.get(0)
    code.memory(scalar.load, register * rowBytes + 4 * lane)
  }

  /**
   * Emits code that computes the first lane's value for each address. Emits code that converts
   * shared-memory addresses to offsets.
   */
  begin(): void {
    const { code } = this
    for (const [place, { offset, uniform }] of this.addresses.entries()) {
      code.constant(offset)
      if (uniform !== null && uniform !== zeroUniformRegister) {
        code.get(0)
        code.memory(scalar.load, (this.setting.registers + uniform) * rowBytes)
        code.op(scalar.add)
      }
      code.set(this.bases[place]!)
      this.register(place, 0)
      code.get(this.bases[place]!)
      code.op(scalar.add)
      if (this.spaces[place] === 'shared' && this.setting.clustered) {
        // Remove the block's rank from the base address, which all lanes share.
        code.tee(this.firsts[place]!)
        code.constant(~offsetMask)
        code.op(scalar.and)
        code.set(this.way)
        code.get(this.bases[place]!)
        code.get(this.way)
        code.op(scalar.sub)
        code.set(this.bases[place]!)
        code.get(this.firsts[place]!)
        code.constant(offsetMask)
        code.op(scalar.and)
      }
      code.set(this.firsts[place]!)
    }
  }

  /**
   * Emits code that looks up the address pattern. If the pattern is known and all addresses are
   * within bounds, the emitted code counts the access. For an unknown pattern or an out-of-bounds
   * address, the function returns 0.
   */
  compare(periods: readonly number[]): void {
    const { code } = this
    pushHash(
      code,
      periods,
      (place, lane) => this.register(place, lane),
      (place) => code.get(this.firsts[place]!),
    )
    code.constant(wayBytes)
    code.op(scalar.mul)
    code.constant(this.site + boundsBytes)
    code.tables()
    code.op(scalar.add, scalar.add)
    code.set(this.way)
    // The start field of a used way is never 0, so an empty way never matches.
    code.get(this.way)
    code.memory(scalar.load, 0)
    pushStart(code, periods, (place) => code.get(this.firsts[place]!))
    code.op(scalar.ne)
    this.giveUpIf()
    for (const [place, { register }] of this.addresses.entries()) {
      for (const reach of [0, 4]) {
        code.get(this.firsts[place]!)
        code.get(this.way)
        code.memory(scalar.load, reachAt + 8 * place + reach)
        code.op(scalar.add)
        code.tables()
        code.memory(scalar.load, this.site + 8 * place)
        code.op(scalar.sub)
        code.tables()
        code.memory(scalar.load, this.site + 8 * place + 4)
        code.op(scalar.greaterUnsigned)
        this.giveUpIf()
      }
      code.get(this.firsts[place]!)
      code.constant(this.bytes - 1)
      code.op(scalar.and)
      this.giveUpIf()
      this.register(place, 0)
      code.vector(vector.splat)
      code.set(this.vectors[0]!)
      for (let group = 0; group < 8; group++) {
        if (register === null || register === zeroRegister) code.splat(0)
        else {
          code.get(0)
          code.vectorMemory(vector.load, register * rowBytes + 16 * group)
          code.get(this.vectors[0]!)
          code.vector(vector.intSub)
        }
        code.get(this.way)
        code.vectorMemory(vector.load, wayHeader + place * rowBytes + 16 * group)
        code.vector(vector.xor)
        if (this.spaces[place] === 'global') {
          code.get(0)
          code.vectorMemory(vector.load, (register! + 1) * rowBytes + 16 * group)
          code.splat(deviceHigh)
          code.vector(vector.xor)
          code.vector(vector.or)
        }
        code.get(this.bad)
        code.vector(vector.or)
        code.set(this.bad)
      }
    }
    code.get(this.bad)
    code.vector(vector.any)
    this.giveUpIf()
    code.get(this.way)
    code.get(this.way)
    code.memory(scalar.load64, timesAt)
    code.constant(1)
    code.op(scalar.extendUnsigned, scalar.add64)
    code.memory(scalar.store64, timesAt)
    for (const [place, space] of this.spaces.entries()) {
      if (space !== 'shared') continue
      for (const local of [this.bases[place]!, this.firsts[place]!]) {
        code.get(local)
        code.get(2)
        code.op(scalar.add)
        code.set(local)
      }
    }
  }

  /** Emits code that pushes the byte address of a lane's value. */
  private address(place: number, lane: number): void {
    this.register(place, lane)
    this.code.get(this.bases[place]!)
    this.code.op(scalar.add)
  }

  /** Emits code that handles patterns of one shape and then returns from the function. */
  private inShape(shape: number, write: () => void): void {
    const { code } = this
    code.get(this.way)
    code.memory(scalar.load, shapeAt)
    code.constant(shape)
    code.op(scalar.eq, scalar.if, 0x40)
    write()
    code.constant(1)
    code.op(scalar.return, scalar.end)
  }

  /**
   * Emits code that transposes a 4 x 4 matrix of words in place. The matrix rows are in the first
   * four locals.
   */
  private transpose(): void {
    const { code } = this
    const [a, b, c, d, e, f, g, h] = this.vectors as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const join = (x: number, y: number, places: readonly number[], into: number): void => {
      code.get(x)
      code.get(y)
      code.shuffle(places)
      code.set(into)
    }
    join(a, b, zipLow, e)
    join(a, b, zipHigh, f)
    join(c, d, zipLow, g)
    join(c, d, zipHigh, h)
    join(e, g, lowHalves, a)
    join(e, g, highHalves, b)
    join(f, h, lowHalves, c)
    join(f, h, highHalves, d)
  }

  load(value: Extract<Operand, { kind: 'register' }>): void {
    const { code, vectors } = this
    const row = (part: number): number => (value.index + part) * rowBytes
    const store = (part: number, group: number, local: number): void => {
      code.get(0)
      code.get(local)
      code.vectorMemory(vector.store, row(part) + 16 * group)
    }
    this.inShape(shapes.same, () => {
      for (let part = 0; part < this.bytes / 4; part++) {
        code.get(this.firsts[0]!)
        code.vectorMemory(vector.load32Splat, 4 * part)
        code.set(vectors[part]!)
      }
      for (let part = 0; part < this.bytes / 4; part++)
        for (let group = 0; group < 8; group++) store(part, group, vectors[part]!)
    })
    if (this.bytes === 4)
      this.inShape(shapes.contiguous, () => {
        for (let group = 0; group < 8; group++) {
          code.get(this.firsts[0]!)
          code.vectorMemory(vector.load, 16 * group)
          code.set(vectors[0]!)
          store(0, group, vectors[0]!)
        }
      })
    for (let group = 0; group < 8; group++) {
      if (this.bytes === 4) {
        for (let lane = 0; lane < 4; lane++) {
          code.get(0)
          this.address(0, 4 * group + lane)
          code.memory(scalar.load, 0)
          code.memory(scalar.store, row(0) + 16 * group + 4 * lane)
        }
      } else if (this.bytes === 16) {
        for (let lane = 0; lane < 4; lane++) {
          this.address(0, 4 * group + lane)
          code.vectorMemory(vector.load, 0)
          code.set(vectors[lane]!)
        }
        this.transpose()
        for (let part = 0; part < 4; part++) store(part, group, vectors[part]!)
      } else {
        for (const pair of [0, 1]) {
          this.address(0, 4 * group + 2 * pair)
          code.splat(0)
          code.laneMemory(vector.load64Lane, 0, 0)
          code.set(vectors[pair]!)
          this.address(0, 4 * group + 2 * pair + 1)
          code.get(vectors[pair]!)
          code.laneMemory(vector.load64Lane, 0, 1)
          code.set(vectors[pair]!)
        }
        for (const [part, places] of [evenWords, oddWords].entries()) {
          code.get(0)
          code.get(vectors[0]!)
          code.get(vectors[1]!)
          code.shuffle(places)
          code.vectorMemory(vector.store, row(part) + 16 * group)
        }
      }
    }
  }

  store(value: Extract<Operand, { kind: 'register' }>): void {
    const { code, vectors } = this
    const parts = this.bytes / 4
    const read = (part: number, group: number): void => {
      if (value.index === zeroRegister) code.splat(0)
      else {
        code.get(0)
        code.vectorMemory(vector.load, (value.index + part) * rowBytes + 16 * group)
      }
    }
    if (parts === 1)
      this.inShape(shapes.contiguous, () => {
        for (let group = 0; group < 8; group++) {
          code.get(this.firsts[0]!)
          read(0, group)
          code.vectorMemory(vector.store, 16 * group)
        }
      })
    const order = storeOrder(this.spaces[0]!, this.bytes)
    const groups = [...new Set(order.map((lane) => lane >> 2))]
    const lanesOf = (group: number): number[] =>
      order.filter((lane) => lane >> 2 === group).map((lane) => lane & 3)
    for (const group of groups) {
      for (let part = 0; part < parts; part++) {
        read(part, group)
        code.set(vectors[part]!)
      }
      if (parts === 4) {
        this.transpose()
        for (const lane of lanesOf(group)) {
          this.address(0, 4 * group + lane)
          code.get(vectors[lane]!)
          code.vectorMemory(vector.store, 0)
        }
      } else
        for (const lane of lanesOf(group))
          for (let part = 0; part < parts; part++) {
            this.address(0, 4 * group + lane)
            code.get(vectors[part]!)
            code.laneMemory(vector.store32Lane, 4 * part, lane)
          }
    }
  }

  /** Emits code that copies from global to shared memory, lane by lane. */
  copy(): void {
    const { code } = this
    for (let lane = 0; lane < lanes; lane++) {
      this.address(0, lane)
      this.address(1, lane)
      if (this.bytes === 16) {
        code.vectorMemory(vector.load, 0)
        code.vectorMemory(vector.store, 0)
      } else if (this.bytes === 8) {
        code.memory(scalar.load64, 0)
        code.memory(scalar.store64, 0)
      } else {
        code.memory(scalar.load, 0)
        code.memory(scalar.store, 0)
      }
    }
  }
}
