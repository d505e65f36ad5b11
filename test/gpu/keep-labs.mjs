#!/usr/bin/env node
/**
 * Takes the attempts that test/gpu/labs.mjs left into resources/recordings/labs, without what a replay
 * does not read. No file is changed, only left out:
 *
 *     node test/gpu/keep-labs.mjs FOLDER resources/recordings/labs
 *
 * - `lab.cu`: the session's `sources/labs/<id>/lab.cu` is the same file, and this refuses it where it is not;
 * - `sources/include/`: the shared headers, which lie in cuda-kernels/include;
 * - `profile.ncu-rep`: ncu's own report; its table is in `raw/ncu/`;
 * - empty streams of `raw/`: one that is absent is read as empty.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'

const [from, to] = process.argv.slice(2)
if (!from || !to) throw new Error('Name the folder of the attempts, and the one to keep them in.')

const isLeftOut = (path) =>
  basename(path) === 'profile.ncu-rep' ||
  path.endsWith(`${sep}sources${sep}include`) ||
  (/\.(stdout|stderr)\.txt$/.test(path) && statSync(path).size === 0)

for (const name of readdirSync(from).sort()) {
  const attempt = join(from, name)
  if (!existsSync(join(attempt, 'session', 'session.json'))) continue
  const id = name.replace(/-(starter|solution)-[^-]+$/, '')
  const own = join(attempt, 'lab.cu')
  if (!readFileSync(own).equals(readFileSync(join(attempt, 'session/sources/labs', id, 'lab.cu'))))
    throw new Error(`${own} is not the code that its session measured.`)
  rmSync(join(to, name), { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  cpSync(attempt, join(to, name), {
    recursive: true,
    filter: (path) => path !== own && !isLeftOut(path),
  })
}
