// @ts-check
/** Recompresses a PNG from a browser losslessly. */
import { deflateSync, inflateSync, crc32 } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** @param {Buffer} png */
function chunks(png) {
  /** @type {{ type: string, data: Buffer }[]} */
  const found = []
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    found.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    })
    at += length + 12
  }
  return found
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}

/**
 * Returns the predicted byte of the PNG filter "Paeth".
 * @param {number} a
 * @param {number} b
 * @param {number} c
 */
function paeth(a, b, c) {
  const [left, up, corner] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  if (left <= up && left <= corner) return a
  return up <= corner ? b : c
}

/**
 * Reverses the PNG filter of each row.
 * @param {Buffer} rows
 * @param {number} stride
 * @param {number} step bytes per pixel
 */
function unfiltered(rows, stride, step) {
  const out = Buffer.alloc(rows.length)
  for (let start = 0; start < rows.length; start += stride + 1) {
    const filter = rows[start] ?? 0
    for (let at = start + 1; at <= start + stride; at += 1) {
      const inRow = at - start > step
      const a = inRow ? (out[at - step] ?? 0) : 0
      const b = out[at - stride - 1] ?? 0
      const c = inRow && start > 0 ? (out[at - stride - 1 - step] ?? 0) : 0
      const above = start > 0 ? b : 0
      const guess = [0, a, above, (a + above) >> 1, paeth(a, above, c)][filter] ?? 0
      out[at] = (rows[at] ?? 0) + guess
    }
  }
  return out
}

/**
 * Returns the same image as a smaller PNG. A UI has flat areas and repeated letters. Such images
 * compress best without the PNG filters, which suit photos.
 * @param {Buffer} png not interlaced, with 8-bit channels, as browsers write it
 */
export function smaller(png) {
  const all = chunks(png)
  const header = all.find(({ type }) => type === 'IHDR')?.data
  const step = { 2: 3, 6: 4 }[header?.[9] ?? 0]
  if (!header || !step || header[8] !== 8 || header[12] !== 0) return png
  const packed = Buffer.concat(all.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const rows = unfiltered(inflateSync(packed), header.readUInt32BE(0) * step, step)
  const made = Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return made.length < png.length ? made : png
}
