/**
 * Reads bytes of a cubin and checks that every position is in bounds. Errors name the damaged part
 * of the file.
 */
import { inputError, type KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

/** Names, as used in messages, of the cubin parts that can be damaged. */
type Part =
  | 'container'
  | 'elfHeader'
  | 'sections'
  | 'symbols'
  | 'relocations'
  | 'attributes'
  | 'code'
  | 'lines'

export const damaged = (part: Part): KernelLadderError =>
  inputError(
    message('machineCode.damaged', { part: message(`machineCode.${part}`) }),
    message('machineCode.buildAgain'),
  )

/**
 * Reads little-endian values from one part of a cubin. Reading past the end throws an error that
 * names the damaged part.
 */
export class Cursor {
  readonly #view: DataView
  constructor(
    readonly bytes: Uint8Array,
    readonly part: Part,
    public at = 0,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (at > bytes.length) throw damaged(part)
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  #skip(length: number): number {
    if (length > this.left) throw damaged(this.part)
    this.at += length
    return this.at - length
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  /**
   * Returns a 64-bit integer. Throws an input error if the value needs more than 53 bits. No valid
   * file position or size is that large.
   */
  u64(): number {
    const value = Number(this.#view.getBigUint64(this.#skip(8), true))
    if (!Number.isSafeInteger(value)) throw damaged(this.part)
    return value
  }

  i64(): number {
    return Number(this.#view.getBigInt64(this.#skip(8), true))
  }

  uleb(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.u8()
      value += (byte & 127) * shift
      if (byte < 128) return value
      if (shift > 2 ** 42) throw damaged(this.part)
    }
  }

  sleb(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.u8()
      value += (byte & 127) * shift
      if (byte < 128) return byte & 64 ? value - shift * 128 : value
      if (shift > 2 ** 42) throw damaged(this.part)
    }
  }

  take(length: number): Uint8Array {
    const start = this.#skip(length)
    return this.bytes.subarray(start, this.at)
  }

  /** Returns the text before the next zero byte and skips that byte. */
  text(): string {
    const length = this.bytes.subarray(this.at, this.at + maxText).indexOf(0)
    if (length < 0) throw damaged(this.part)
    const end = this.at + length
    const text = decoder.decode(this.bytes.subarray(this.at, end))
    this.at = end + 1
    return text
  }
}

/**
 * Maximum name length. Mangled names are shorter than this limit. In a damaged table, reading a
 * name of this length for every symbol is still fast.
 */
const maxText = 2 ** 14

const decoder = new TextDecoder()

export const textAt = (bytes: Uint8Array, at: number, part: Part): string =>
  new Cursor(bytes, part, at).text()
