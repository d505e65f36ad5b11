/** Instructions that move values between registers, lanes, predicates and special registers. */
import { zeroRegister, type Operand } from '../sass/instruction'
import { eachLane, firstLane, lanes, type Get, type Site } from './site'
import { predicateTrue, uniformPredicates, type Step } from './warp'

/** LEPC: returns the address of an instruction. */
const codeAddress = (at: Site): Step => {
  const operand = at.source(0)
  if (operand.kind !== 'target') return at.unknown()
  at.take(operand, 'value')
  const [low, high] = [at.put(), at.put(1)]
  return eachLane((_, base, lane) => {
    low(base, lane, operand.address)
    high(base, lane, Math.floor(operand.address / 2 ** 32))
  })
}

const copy = (at: Site): Step => {
  const a = at.int(at.source(0))
  const put = at.put()
  return eachLane((_, base, lane) => put(base, lane, a(base, lane)))
}

/**
 * Returns a function that writes the first source if the predicate is true, and the second source
 * otherwise.
 */
function select(at: Site, read: (place: number) => Get): Step {
  const a = read(0)
  const b = read(1)
  const put = at.put()
  const condition = at.predicate(at.operands.ins[0])
  return (warp, active) => {
    const mask = condition(warp)
    eachLane((_, base, lane) =>
      put(base, lane, (mask >>> lane) & 1 ? a(base, lane) : b(base, lane)),
    )(warp, active)
  }
}

/**
 * Returns a function that reads a float operand's bits and applies `-` and `|x|`. In a select
 * instruction, they change only the sign bit.
 */
function floatBits(at: Site, place: number): Get {
  const operand = at.source(place)
  const raw = at.raw(operand, 0, 'absolute', 'negated')
  if (operand.kind === 'immediate' || !('absolute' in operand)) return raw
  const { absolute, negated } = operand
  return (base, lane) => {
    let bits = raw(base, lane)
    if (absolute) bits &= 0x7fffffff
    if (negated) bits ^= 0x80000000
    return bits
  }
}

const clockPart = /^SR_(?:CLOCK|GLOBALTIMER)(LO|HI)$/

/** Returns the function that reads clock64 or globaltimer. */
function readClock(at: Site, upper: boolean, wide: boolean): Step {
  const low = at.put()
  const high = wide ? at.put(1) : () => {}
  return (warp, active) => {
    const now = at.machine.clock(at.index)
    const top = Math.floor(now / 2 ** 32)
    eachLane((_, base, lane) => {
      low(base, lane, upper ? top : now)
      high(base, lane, upper ? 0 : top)
    })(warp, active)
  }
}

function special(at: Site): Step {
  const operand = at.source(0)
  if (operand.kind !== 'special-register') return at.unknown()
  at.take(operand, 'value')
  const wide = at.mnemonic === 'CS2R' && !at.has('32')
  const put = at.put()
  if (operand.name === 'SRZ') {
    const high = wide ? at.put(1) : () => {}
    return eachLane((_, base, lane) => {
      put(base, lane, 0)
      high(base, lane, 0)
    })
  }
  const clock = clockPart.exec(operand.name)
  if (clock) return readClock(at, clock[1] === 'HI', wide)
  const value = at.machine.special(operand.name) ?? at.unknown(operand.name)
  const high = wide ? at.put(1) : () => {}
  return eachLane((warp, base, lane) => {
    put(base, lane, value(warp, lane))
    high(base, lane, 0)
  })
}

/**
 * R2UR: returns the value of the first active lane. The predicate becomes true in lanes that have a
 * different value. With OR, the predicate also stays true in lanes where it was already true.
 */
function toUniform(at: Site): Step {
  const a = at.int(at.source(0))
  const put = at.put()
  const [operand] = at.operands.outs
  const out = at.putPredicate(operand)
  const before = operand && at.has('OR') ? at.predicate(operand) : () => 0
  return (warp, active) => {
    if (active === 0) return
    const { base } = warp
    let others = before(warp) & active
    const value = a(base, firstLane(active))
    eachLane((_, b, lane) => {
      if (a(b, lane) !== value) others |= 1 << lane
    })(warp, active)
    for (let lane = 0; lane < lanes; lane++) put(base, lane, value)
    out(warp, active, others)
  }
}

const widths: Record<string, number> = { '64': 2, '128': 4 }

/** Returns the function that executes LDC or ULDC. */
function loadConstant(at: Site): Step {
  const operand = at.source(0)
  const words = widths[at.oneOf(Object.keys(widths)) ?? ''] ?? 1
  if (at.mnemonic === 'ULDC' && words === 4) return at.unknown('a load that a GPU refuses')
  const narrow = at.oneOf(['U8', 'S8', 'U16', 'S16'])
  if (narrow !== undefined && operand.kind === 'constant') {
    const bits = narrow.endsWith('8') ? 8 : 16
    const signed = narrow.startsWith('S')
    at.take(operand, 'value')
    const whole = at.raw({ ...operand, offset: operand.offset & ~3 })
    if (operand.register !== null && operand.register !== 255) return at.unknown()
    const shift = 8 * (operand.offset & 3)
    const put = at.put()
    return eachLane((_, base, lane) => {
      const value = (whole(base, lane) >>> shift) << (32 - bits)
      put(base, lane, signed ? value >> (32 - bits) : value >>> (32 - bits))
    })
  }
  const parts = Array.from({ length: words }, (_, part) => ({
    get: at.raw(operand, part),
    put: at.put(part),
  }))
  const index =
    operand.kind === 'constant' && words > 1 && (operand.register ?? zeroRegister) !== zeroRegister
      ? { row: operand.register! * lanes, offset: operand.offset }
      : null
  const { words: memory } = at.views
  // The index register may also be a destination, so read all words before writing any.
  return eachLane((warp, base, lane) => {
    if (index !== null) {
      const address = index.offset + memory[base + index.row + lane]!
      if (address % (4 * words) !== 0)
        at.halt('illegal-address', `0x${address.toString(16)}`, { warp, lane })
    }
    const values = parts.map(({ get }) => get(base, lane))
    parts.forEach(({ put }, part) => put(base, lane, values[part]!))
  })
}

/**
 * SHFL: shuffles within the segments that the third operand defines. A lane whose source lane is
 * outside the segment gets its own value. A lane whose source lane is inactive gets 0.
 */
function shuffle(at: Site): Step {
  const a = at.int(at.source(0))
  const by = at.int(at.source(1))
  const limits = at.int(at.source(2))
  const put = at.put()
  const out = at.putPredicate(at.operands.outs[0])
  const mode = at.oneOf(['IDX', 'UP', 'DOWN', 'BFLY']) ?? at.unknown()
  const values = new Int32Array(lanes)
  return (warp, active) => {
    let inside = 0
    eachLane((_, base, lane) => {
      const segment = (limits(base, lane) >>> 8) & 31
      const clamp = limits(base, lane) & 31
      const distance = by(base, lane) & 31
      const first = lane & segment
      const last = first | (clamp & ~segment)
      let from: number
      let valid: boolean
      if (mode === 'UP') {
        from = lane - distance
        valid = from >= last
      } else if (mode === 'DOWN') {
        from = lane + distance
        valid = from <= last
      } else {
        from = mode === 'BFLY' ? lane ^ distance : first | (distance & ~segment)
        valid = from <= last
      }
      if (!valid) from = lane
      else inside |= 1 << lane
      values[lane] = (active >>> from) & 1 ? a(base, from) : 0
    })(warp, active)
    eachLane((_, base, lane) => put(base, lane, values[lane]!))(warp, active)
    out(warp, active, inside)
  }
}

/**
 * VOTE and VOTEU: return the ballot of the warp's lanes and one predicate. With ANY, the predicate
 * is true if any lane's input is true. With ALL, all inputs must be true. With EQ, all inputs must
 * be equal.
 */
function vote(at: Site): Step {
  const { predicates } = at
  if (predicates.length === 0) return at.unknown()
  const condition = at.predicate(predicates.at(-1))
  const out = predicates.length > 1 ? at.putPredicate(predicates[0]) : () => {}
  const put = at.operands.destination ? at.put() : () => {}
  const mode = at.oneOf(['ANY', 'ALL', 'EQ']) ?? at.unknown()
  const uniform = at.operands.destination?.kind === 'uniform-register'
  return (warp, active) => {
    const ballot = condition(warp) & active
    const answer =
      mode === 'ANY'
        ? ballot !== 0
        : mode === 'ALL'
          ? ballot === active
          : ballot === 0 || ballot === active
    out(warp, active, answer ? -1 : 0)
    eachLane((_, base, lane) => put(base, lane, ballot))(warp, uniform ? -1 : active)
  }
}

/** REDUX: reduces the values of the active lanes to one value in a uniform register. */
function reduce(at: Site): Step {
  const a = at.int(at.source(0))
  const put = at.put()
  const unsigned = !at.has('S32')
  const kind = at.oneOf(['SUM', 'MIN', 'MAX', 'AND', 'OR', 'XOR']) ?? 'AND'
  const join: Record<string, (x: number, y: number) => number> = {
    SUM: (x, y) => (x + y) | 0,
    MIN: (x, y) => ((unsigned ? x >>> 0 < y >>> 0 : x < y) ? x : y),
    MAX: (x, y) => ((unsigned ? x >>> 0 > y >>> 0 : x > y) ? x : y),
    AND: (x, y) => x & y,
    OR: (x, y) => x | y,
    XOR: (x, y) => x ^ y,
  }
  return (warp, active) => {
    if (active === 0) return
    let value: number | null = null
    eachLane((_, base, lane) => {
      value = value === null ? a(base, lane) : join[kind]!(value, a(base, lane))
    })(warp, active)
    for (let lane = 0; lane < lanes; lane++) put(warp.base, lane, value!)
  }
}

/** MATCH: returns the mask of lanes that have the same value. */
function match(at: Site): Step {
  const a = at.int(at.source(0))
  const high = at.has('U64') ? at.int(at.source(0), 1) : () => 0
  const put = at.put()
  const out = at.putPredicate(at.operands.outs[0])
  const all = at.oneOf(['ALL', 'ANY']) === 'ALL'
  return (warp, active) => {
    const found = new Map<string, number>()
    const key = (base: number, lane: number): string => `${a(base, lane)} ${high(base, lane)}`
    eachLane((_, base, lane) => {
      const value = key(base, lane)
      found.set(value, (found.get(value) ?? 0) | (1 << lane))
    })(warp, active)
    const same = found.size === 1
    const masks = new Int32Array(lanes)
    eachLane((_, base, lane) => {
      masks[lane] = all ? (same ? active : 0) : found.get(key(base, lane))!
    })(warp, active)
    eachLane((_, base, lane) => put(base, lane, masks[lane]!))(warp, active)
    out(warp, active, same ? -1 : 0)
  }
}

/** Returns whether an operand is `PR` or `UPR`. */
const isPredicateFile = (operand: Operand): boolean =>
  operand.kind === 'predicate-file' || (operand.kind === 'word' && /^U?PR$/.test(operand.text))

const isUniformFile = (operand: Operand | undefined): boolean =>
  operand?.kind === 'predicate-file'
    ? operand.uniform
    : operand?.kind === 'word' && operand.text === 'UPR'

/**
 * P2R: packs predicates into the masked bits of the destination. The other bits are copied from a
 * source register.
 */
function predicatesToRegister(at: Site): Step {
  const rest = at.operands.sources.filter((operand) => !isPredicateFile(operand))
  const file = at.operands.sources.find(isPredicateFile) ?? at.unknown()
  const [b, mask] = rest.map((operand) => at.int(operand))
  if (!b || !mask) return at.unknown()
  const shift = 8 * Number(at.matching(/^B\d$/)[0]?.slice(1) ?? 0)
  const first = isUniformFile(at.take(file, 'value')) ? uniformPredicates : 0
  const put = at.put()
  return eachLane((warp, base, lane) => {
    let bits = 0
    for (let index = 0; index < predicateTrue; index++)
      bits |= ((warp.predicates[first + index]! >>> lane) & 1) << index
    const under = mask(base, lane) << shift
    put(base, lane, (b(base, lane) & ~under) | ((bits << shift) & under))
  })
}

/** R2P: unpacks bits into predicates. */
function registerToPredicates(at: Site): Step {
  for (const file of at.all('predicate-file', 'word'))
    if (isPredicateFile(file) && !isUniformFile(file)) at.take(file, 'value')
  const [a, mask] = at.all('register', 'immediate').map((operand) => at.int(operand))
  if (!a || !mask) return at.unknown()
  const shift = 8 * Number(at.matching(/^B\d$/)[0]?.slice(1) ?? 0)
  return (warp, active) => {
    for (let index = 0; index < predicateTrue; index++) {
      let bits = 0
      let chosen = 0
      eachLane((_, base, lane) => {
        if ((mask(base, lane) >>> index) & 1) chosen |= 1 << lane
        if ((a(base, lane) >>> (index + shift)) & 1) bits |= 1 << lane
      })(warp, active)
      warp.predicates[index] = (warp.predicates[index]! & ~chosen) | (bits & chosen)
    }
  }
}

/** ELECT: selects one active lane. */
function elect(at: Site): Step {
  const out = at.putPredicate(at.predicates[0])
  const put = at.operands.destination && !at.destinationIsZero ? at.put() : null
  return (warp, active) => {
    const lane = active === 0 ? 0 : firstLane(active)
    out(warp, active, active === 0 ? 0 : 1 << lane)
    if (put) for (let each = 0; each < lanes; each++) put(warp.base, each, lane)
  }
}

/** MOVM.16.MT88: transposes an 8 x 8 matrix of halves. Each lane holds two of the halves. */
function transposeMatrix(at: Site): Step {
  const a = at.int(at.source(0))
  const put = at.put()
  at.expect('16')
  if (!at.has('MT88')) return at.unknown()
  return (warp, active) => {
    const { base } = warp
    const element = (row: number, column: number): number =>
      (a(base, 4 * row + (column >> 1)) >>> (16 * (column & 1))) & 0xffff
    const values = Array.from({ length: lanes }, (_, lane) => {
      const row = lane >> 2
      const column = 2 * (lane & 3)
      return element(column, row) | (element(column + 1, row) << 16)
    })
    eachLane((_, b, lane) => put(b, lane, values[lane]!))(warp, active)
  }
}

/**
 * USETMAXREG: has no effect, because registers are always available in the emulator. On a GPU,
 * USETMAXREG waits until other warps release registers.
 */
function registersOfWarp(at: Site): Step {
  const out = at.putPredicate(at.operands.outs[0])
  at.expect('DEALLOC', 'TRY_ALLOC', 'CTAPOOL')
  for (const count of at.all('immediate')) at.take(count, 'value')
  return (warp, active) => out(warp, active, -1)
}

export const moveSteps: Record<string, (at: Site) => Step> = {
  MOV: copy,
  SEL: (at) => select(at, (place) => at.int(at.source(place))),
  FSEL: (at) => select(at, (place) => floatBits(at, place)),
  S2R: special,
  S2UR: special,
  CS2R: special,
  R2UR: toUniform,
  LDC: loadConstant,
  LEPC: codeAddress,
  ULDC: loadConstant,
  SHFL: shuffle,
  VOTE: vote,
  VOTEU: vote,
  REDUX: reduce,
  MATCH: match,
  P2R: predicatesToRegister,
  R2P: registerToPredicates,
  ELECT: elect,
  MOVM: transposeMatrix,
  USETMAXREG: registersOfWarp,
}
