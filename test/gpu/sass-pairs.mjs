// @ts-check
/**
 * Stores encodings with their text from NVIDIA's disassembler. The inputs are listings from
 * `cuobjdump -sass`:
 *
 *     node test/gpu/sass-pairs.mjs LISTING…
 *
 * Writes test/captures/sass/pairs.tsv.br. Instructions that differ only in registers, numbers, and
 * scheduling have the same kind. Stores at most twelve encodings per kind, with the number of
 * encodings of that kind.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const perKind = 12
const first = /^\s*\/\*([0-9a-f]{4,})\*\/\s+(.*?)\s*;\s*\/\* 0x([0-9a-f]{16}) \*\//
const second = /^\s*\/\* 0x([0-9a-f]{16}) \*\//

/** @param {string} text */
const kindOf = (text) =>
  text
    .replaceAll('.reuse', '')
    .replace(/^@!?U?P\w+ /, '@ ')
    .replaceAll(/\b(U?R|U?P|B)\d+\b/g, '$1#')
    .replaceAll(/-?\b0x[0-9a-f]+\b/g, (hex) =>
      hex === '0x0' ? hex : hex.startsWith('-') ? '-N' : 'N',
    )
    .replaceAll(/\b\d+\.\d+(e[+-]\d+)?\b/g, 'F')

/** @type {Map<string, { encodings: Map<string, { address: string, text: string }>, architecture: string }>} */
const kinds = new Map()
for (const file of process.argv.slice(2)) {
  let architecture = ''
  /** @type {RegExpExecArray | null} */
  let begun = null
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    architecture = /arch = sm_(\d+)/.exec(line)?.[1] ?? architecture
    const start = first.exec(line)
    const end = begun && second.exec(line)
    if (start) begun = start
    else if (begun && end) {
      const [, address = '', text = '', low = ''] = begun
      const code = (BigInt(`0x${low}`) & 0xfffn).toString(16)
      const key = `${architecture} ${code} ${kindOf(text)}`
      const kind = kinds.get(key) ?? { encodings: new Map(), architecture }
      kinds.set(key, kind)
      kind.encodings.set(`${end[1]}${low}`, { address, text })
      begun = null
    }
  }
}

/** @param {string} text */
const order = (text) => createHash('sha256').update(text).digest('hex')
const rows = [...kinds.values()].flatMap(({ encodings, architecture }) =>
  [...encodings]
    .sort(([a], [b]) => (order(a) < order(b) ? -1 : 1))
    .slice(0, perKind)
    .map(([encoding, { address, text }], index) =>
      [architecture, address, encoding, index === 0 ? encodings.size : '', text].join('\t'),
    ),
)
const target = join(import.meta.dirname, '../captures/sass/pairs.tsv.br')
writeFileSync(
  target,
  brotliCompressSync(`${rows.sort().join('\n')}\n`, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
  }),
)
process.stdout.write(`${kinds.size} kinds, ${rows.length} encodings\n`)
