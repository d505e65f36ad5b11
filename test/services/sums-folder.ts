/** A ladder folder that is no template: rungs of a vector's sum that the fake tools know by the part that they play. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { trustFolder } from '../../src-main/services/ladder-library/open'
import type { Machine } from './support'

export const rungText = (id: string, more = '', like = '02_coalesced'): string =>
  `// @rung ${id}\n// @title ${id}\n// @idea a test\n// like: ${like}\n${more}\n#include "parts.cuh"\n`

export const sumsYaml = `kernel_ladder: 1
id: sums
title: Sums
summary: Of rows.
task:
  sizes: { N: 64 }
  scalars: { scale: { dtype: f32, value: 1 } }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: iota } }
    c: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { c: { rtol: 1e-5, atol: 0 } }
  work: { flops: N, reads: 4*N, writes: 4*N }
at: [{ N: 64 }, { N: 128 }]
reference_rung: a
rungs: [{ id: a }, { id: b }, { id: c }]
`

export const sumsFiles = (yaml = sumsYaml): Record<string, string> => ({
  'ladder.yaml': yaml,
  'a.cu': rungText('a'),
  'b.cu': rungText('b'),
  'c.cu': rungText('c'),
  'reference.cu': '',
  'parts.cuh': '',
})

export interface SumsOptions {
  trusted?: boolean
  yaml?: string
}

/** Three rungs, of which the first is the reference. */
export async function sumsFolder(
  { dir, setup }: Machine,
  { trusted = true, yaml = sumsYaml }: SumsOptions = {},
): Promise<string> {
  const folder = join(dir, 'own')
  await mkdir(folder)
  for (const [name, text] of Object.entries(sumsFiles(yaml)))
    await writeFile(join(folder, name), text)
  if (trusted) await trustFolder(setup.machine.folders, folder)
  return folder
}
