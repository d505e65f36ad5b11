/**
 * The 128 bits of an instruction, which remember what was read of them: a bit that is set and that no field of the
 * opcode covers makes the instruction unknown, so that nothing is printed or executed as something else.
 */
export class Encoding {
  readonly #read = new Uint32Array(4)
  /** False once a field has a value without a meaning. */
  known = true

  constructor(readonly words: readonly [number, number, number, number]) {}

  /** Up to 32 bits, unsigned. */
  bits(at: number, width: number): number {
    let value = 0
    for (let done = 0; done < width;) {
      const [word, shift] = [(at + done) >> 5, (at + done) & 31]
      const count = Math.min(width - done, 32 - shift)
      const mask = count === 32 ? 0xffffffff : 2 ** count - 1
      value += (((this.words[word]! >>> shift) & mask) >>> 0) * 2 ** done
      this.#read[word]! |= mask << shift
      done += count
    }
    return value >>> 0
  }

  signed(at: number, width: number): number {
    return (this.bits(at, width) << (32 - width)) >> (32 - width)
  }

  bit(at: number): boolean {
    return this.bits(at, 1) === 1
  }

  /** Whether every set bit was read, and every field has a meaning. */
  get complete(): boolean {
    return this.known && this.words.every((word, index) => (word & ~this.#read[index]!) === 0)
  }
}
