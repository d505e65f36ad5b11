/**
 * Tests a ladder folder with `build:` settings: nvcc arguments, the stored session, and missing
 * requirements.
 */
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sessionText } from '../../src-main/hosts/cli/describe/describe-static'
import { whyOf } from '../../src-main/domain/why/why'
import { inEnglish } from '../../src-main/domain/text/english'
import { fakeMachine, rung, setEnv, sumsFolder, sumsYaml, type Machine } from './support'

const own = `rungs:
  - { id: a }
  - { id: b, build: { flags: [--use_fast_math], max_registers: 64 } }
  - { id: c }
`
const yamlWith = (build: string, rungs = own): string =>
  `${sumsYaml.replace(/^rungs: .*\n/m, '')}build: ${build}\n${rungs}`

async function setUp(build: string) {
  const machine = await fakeMachine()
  const folder = await sumsFolder(machine, { yaml: yamlWith(build) })
  return { machine, folder, run: () => runIt(machine, folder) }
}

const runIt = (machine: Machine, ladder: string) =>
  machine.run({ ladder, size: undefined, profile: 'none' })

const builtAs = (machine: Machine, file: string): string[][] =>
  machine.calls('nvcc').filter((words) => words.includes(`sums/${file}`))

describe('a ladder with `build`', () => {
  it("compiles each rung with its own and its ladder's settings, and stores them in the session", async () => {
    const { machine, run } = await setUp('{ std: c++20, defines: { N: 4 }, libraries: [cuda] }')
    const { session } = await run()
    const [a, b] = [builtAs(machine, 'a.cu')[0]!, builtAs(machine, 'b.cu')[0]!]
    for (const words of [a, b]) {
      expect(words.filter((word) => word.startsWith('-std='))).toEqual(['-std=c++20'])
      expect(words).toContain('-DN=4')
      expect(words.indexOf('-lcuda')).toBeGreaterThan(words.indexOf('sums/b.cu'))
    }
    expect(a).not.toContain('--use_fast_math')
    expect(b).toContain('--use_fast_math')
    expect(b).toContain('-maxrregcount=64')
    expect(rung(session, 'b').buildWords).toEqual([
      ...['-std=c++20', '--use_fast_math', '-maxrregcount=64', '-DN=4', '-lcuda'],
    ])
    // Optimization flags of the rungs, such as --use_fast_math, do not apply to references.
    const reference = builtAs(machine, 'reference.cu')[0]!
    expect(reference).toContain('-DN=4')
    expect(reference).not.toContain('--use_fast_math')
  })

  it('shows the flags in the table and before the causes if two rungs have different flags', async () => {
    const { run } = await setUp('{ std: c++20 }')
    const { session } = await run()
    const table = sessionText(session)
    expect(table).toMatch(/built with/)
    expect(table).toMatch(/--use_fast_math -maxrregcount=64/)
    expect(table).not.toMatch(/c\+\+20/)
    const sides = ['a', 'b', 'c'].map((id) => ({ session, rung: rung(session, id) }))
    const flags = whyOf(sides[0]!, sides[1]!).flags!
    expect(inEnglish(flags)).toBe(
      'The rungs were built with different flags: no additional flags before, --use_fast_math -maxrregcount=64 now.',
    )
    expect(whyOf(sides[0]!, sides[2]!).flags).toBeUndefined()
  })

  it('has no column for flags if all rungs were built with the same flags', async () => {
    const machine = await fakeMachine()
    const folder = await sumsFolder(machine, {
      yaml: yamlWith('{ std: c++20 }', 'rungs: [{ id: a }, { id: b }, { id: c }]\n'),
    })
    expect(sessionText((await runIt(machine, folder)).session)).not.toMatch(/built with/)
  })

  it('finds headers in a folder that a variable names, and is rebuilt when the headers change', async () => {
    const { machine, folder, run } = await setUp('{ include: [$HEADERS/include, shared] }')
    await expect(run()).rejects.toThrow(/ladder\.yaml:\d+:\d+: There is no shared in the folder\.$/)
    await mkdir(join(folder, 'shared'))
    await expect(run()).rejects.toMatchObject({
      kind: 'missing',
      message: '`build` of the ladder uses the environment variable HEADERS, which is not set.',
    })
    setEnv({ HEADERS: join(machine.dir, 'headers') })
    await expect(run()).rejects.toThrow(/headers\/include does not exist on this machine/)
    const include = join(machine.dir, 'headers/include')
    await mkdir(include, { recursive: true })
    await writeFile(join(include, 'x.hpp'), '')
    const { session } = await run()
    const [words] = builtAs(machine, 'a.cu')
    expect(words).toContain(`-I${include}`)
    expect(words).toContain('-Isums/shared')
    expect(rung(session, 'a').buildWords).toEqual(['-I$HEADERS/include', '-Ishared'])
    await run()
    expect(builtAs(machine, 'a.cu')).toHaveLength(1)
    await utimes(join(include, 'x.hpp'), 1, 1)
    await run()
    expect(builtAs(machine, 'a.cu')).toHaveLength(2)
  })

  it('reports all unset variables before it builds', async () => {
    const machine = await fakeMachine()
    const folder = await sumsFolder(machine, {
      yaml: yamlWith(
        '{ include: [$HEADERS_A, $HEADERS_B/include] }',
        'rungs: [{ id: a }, { id: b, build: { flags: [-L$LIBRARY_C] } }]\n',
      ),
    })
    const refused = await runIt(machine, folder).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      kind: 'missing',
      message:
        '`build` of the ladder uses the environment variables HEADERS_A, HEADERS_B, LIBRARY_C, which are not set.',
    })
    expect(machine.calls('nvcc')).toEqual([])
  })

  it('is rejected at the line of a flag that would break the build', async () => {
    const { run } = await setUp('\n  flags:\n    - -lineinfo\n    - -o')
    await expect(run()).rejects.toThrow(/ladder\.yaml:\d+:\d+: -o is not an allowed build flag/)
  })
})
