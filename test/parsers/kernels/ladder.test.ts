/** Tests ladder files: built-in files, a user's files, and the published schema. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020'
import { parse } from 'yaml'
import {
  parseLadderDocument,
  parseProgramLadder,
} from '../../../src-main/parsers/kernels/ladder-document'
import { type KernelLadderError } from '../../../src-main/domain/errors'
import { inEnglish } from '../../../src-main/domain/text/english'
import { gemm } from '../../support'
import { Task } from '../../../src-main/domain/task/task'
import { parseRungHeader } from '../../../src-main/parsers/kernels/rung-header'
import { ladderSchema } from '../../../src-main/domain/ladder/ladder-document'
import { parseLadderFile } from '../../../src-main/parsers/kernels/ladder-file'

describe('built-in files', () => {
  const tasks = new Map([['gemm', gemm]])
  const ladder = {
    schema: 2,
    id: 'gemm-fp32',
    title: 'FP32',
    summary: 'From naive to tiled.',
    task: 'gemm',
    sizes: [{ m: 4096, n: 4096, k: 4096 }],
    reference: '00_cublas',
    rungs: [
      { id: '00_cublas' },
      { id: '01_naive' },
      { id: '01_naive', as: '01_big', params: { TM: 16 } },
    ],
  }
  const parse = (change: object) =>
    parseLadderFile(JSON.stringify({ ...ladder, ...change }), 'ladders/a.json', tasks)

  describe('a ladder file', () => {
    it("is parsed, and uses the task's scalars and options by default", () => {
      expect(parse({})).toEqual({ ...ladder, scalars: {}, options: {} })
      const scalars = { beta: 0.5 }
      expect(parse({ scalars, reference: null })).toMatchObject({ scalars, reference: null })
    })

    const shipped = join(import.meta.dirname, '../../../cuda-kernels/gemm/ladders')
    it.each(readdirSync(shipped).filter((name) => name.endsWith('.json')))(
      '%s is valid',
      (name) => {
        expect(
          `${parseLadderFile(readFileSync(join(shipped, name), 'utf8'), name, tasks).id}.json`,
        ).toBe(name)
      },
    )
  })

  describe('a fault is reported in one sentence with the file and location', () => {
    it.each([
      [
        'a size of zero',
        { sizes: [{ m: 0, n: 1, k: 1 }] },
        /a\.json is not a ladder: sizes\[0\]\.m: /,
      ],
      ['no rungs', { rungs: [] }, /: rungs: /],
      ['no title', { title: undefined }, /: title: /],
      ['a later version', { schema: 3 }, /: schema: /],
      ['a task that is not there', { task: 'none' }, /names the task none/],
      [
        'a choice that is none',
        { options: { dtype: 'fp8' } },
        /sizes\[0\]: dtype = fp8 is not a valid type/,
      ],
      [
        'a scalar that the task lacks',
        { scalars: { gamma: 1 } },
        /no size, scalar or option "gamma"/,
      ],
      [
        'a size too few',
        { sizes: [{ m: 1, n: 1 }] },
        /sizes\[0\]: k is missing\. Specify m, n and k/,
      ],
      [
        'a rung’s choice that is none',
        { rungs: [{ id: 'a', options: { dtype: 'fp8' } }] },
        /rungs\[0\]\.options: dtype = fp8/,
      ],
      [
        'a parameter that is no number',
        { rungs: [{ id: 'a', params: { TM: '8' } }] },
        /rungs\[0\]\.params\.TM/,
      ],
      ['a misspelt key', { sises: [] }, /sises/],
      ['a misspelt key of a rung', { rungs: [{ id: 'a', parms: {} }] }, /rungs\[0\]: .*parms/],
      [
        'a name twice',
        { rungs: [{ id: 'a' }, { id: 'b', as: 'a' }] },
        /rungs\[1\]: The name a is repeated/,
      ],
    ])('%s is rejected', (_, change, expected) => {
      expect(() => parse(change)).toThrow(
        expect.objectContaining({ kind: 'input', message: expect.stringMatching(expected) }),
      )
      expect(() => parse(change)).toThrow(/^[^\n]+$/)
    })

    it('if the text is not JSON', () => {
      expect(() => parseLadderFile('{"schema": 1,\n', 'ladders/a.json', tasks)).toThrow(
        /^ladders\/a\.json is not JSON: [^\n]+$/,
      )
    })

    it('if the JSON is not an object', () => {
      expect(() => parseLadderFile('[]', 'ladders/a.json', tasks)).toThrow(
        /not a ladder: the document: /,
      )
    })
  })
})

describe('a ladder of programs', () => {
  const document = {
    kernel_ladder: 1,
    id: 'mine',
    title: 'Mine',
    summary: 'Two ways.',
    programs: { output: { file: 'out.bin', dtype: 'f32', rtol: 0.001 } },
    rungs: [
      { id: 'a', title: 'A', program: ['./a', ''] },
      { id: 'b', title: 'B', program: ['./b'] },
    ],
  }
  const read = (change: object) =>
    parseProgramLadder(JSON.stringify({ ...document, ...change }, null, 1), 'ladder.json')

  it('has default settings, and cannot have a task', () => {
    expect(read({})!.programs).toMatchObject({ runs: 7, timeout: 600, exit_code: 0 })
    expect(read({ task: {} })).toBeNull()
    expect(read({ programs: undefined })).toBeNull()
  })

  it.each<[object, RegExp]>([
    [{ programs: { output: { file: 'o', atol: 1 } } }, /atol compares numbers: set their type/],
    [{ programs: { output: { file: '../o' } } }, /without "\.\."/],
    [{ programs: { output: { file: 'o', expected: 'o' } } }, /write this file themselves/],
    [{ programs: { run: 3 } }, /no key "run" in programs\. Did you mean runs\?/],
    [{ programs: { runs: 0 } }, /programs\.runs must be at least 1/],
    [{ rungs: [document.rungs[0], document.rungs[0]] }, /The name a is repeated/],
    [{ rungs: [{ id: 'a', title: 'A', program: [] }] }, /rungs\[0\]\.program must be non-empty/],
    [{ rungs: [{ id: 'a', title: 'A', program: [''] }] }, /first word names the program/],
    [{ rungs: [{ id: 'a', title: 'A', program: 'a b' }] }, /program must be a list/],
    [{ rungs: [{ id: 'a', title: 'A', program: ['a'], params: {} }] }, /no key "params"/],
    [{ reference_rung: 'c' }, /no rung c; the rungs are a, b/],
    [{ rungs: [{ ...document.rungs[0], after: 'x' }] }, /after refers to x/],
  ])('with %j is rejected with the line number', (change, expected) => {
    expect(() => read(change)).toThrow(expected)
    expect(() => read(change)).toThrow(/^ladder\.json:\d+:\d+: /)
  })
})

describe('ladder.yaml', () => {
  const templates = join(import.meta.dirname, '../../../resources/templates')
  const text = readFileSync(join(templates, 'softmax', 'ladder.yaml'), 'utf8')

  /** Returns the error message with its remedy, as printed. */
  function faultsOf(source: string): string {
    try {
      parseLadderDocument(source, 'lab/ladder.yaml')
    } catch (error) {
      const { message, remedy = '' } = error as KernelLadderError
      return `${message}\n${inEnglish(remedy)}`
    }
    throw new Error('It was accepted.')
  }

  describe('a document', () => {
    it.each(readdirSync(templates))('from the template %s is valid', (name) => {
      const source = readFileSync(join(templates, name, 'ladder.yaml'), 'utf8')
      const { task, ladder } = parseLadderDocument(source, name)
      expect(ladder.id).toBe(name)
      expect(Task.parse(task)).toEqual(task)
    })

    it("from the example in docs/guides/ladders.md is valid, including its rungs' headers", () => {
      const docs = readFileSync(join(templates, '../../docs/guides/ladders.md'), 'utf8')
      const files = new Map(
        [...docs.matchAll(/^`([\w.]+)`\n\n```\w+\n([^]*?)^```/gm)].map(([, name, text]) => [
          name,
          text!,
        ]),
      )
      const { task, ladder } = parseLadderDocument(files.get('ladder.yaml')!, 'ladder.yaml')
      for (const { id, params = {} } of ladder.rungs) {
        const header = parseRungHeader(files.get(`${id}.cu`)!, `${id}.cu`, task)
        expect(header.id).toBe(id)
        for (const [name, value] of Object.entries(params))
          expect(header.params.find((param) => param.name === name)?.allowed).toContain(value)
      }
      expect(files.get('reference.cu')).toContain('kl_reference(')
    })

    it('becomes a ladder and a task with the same structure as the built-in ones', () => {
      const { task, ladder } = parseLadderDocument(text, 'lab/ladder.yaml')
      expect(task).toMatchObject({
        id: 'softmax',
        struct: 'KlTask',
        sizes: { ROWS: { value: 4096 } },
      })
      expect(ladder).toMatchObject({
        task: 'softmax',
        sizes: [
          { ROWS: 4096, COLS: 4096 },
          { ROWS: 65536, COLS: 1024 },
        ],
        reference: null,
      })
    })

    it('may omit sizes that have a default value, and may be JSON', () => {
      const document = {
        kernel_ladder: 1,
        id: 'one',
        title: 'One',
        summary: 'One.',
        task: {
          sizes: { N: { value: 8, max: 64 }, M: 2 },
          buffers: { y: { dtype: 'i32', shape: ['N', 'M'], access: 'out' } },
          reference: { rung: 'a' },
          check: { y: { exact: true } },
          work: { reads: 0, writes: '4*N*M' },
        },
        at: [{ N: 16 }, {}],
        rungs: [{ id: 'a' }],
      }
      const read = (change: object) =>
        parseLadderDocument(JSON.stringify({ ...document, ...change }, null, '\t'), 'ladder.json')
      expect(read({}).ladder.sizes).toEqual([
        { N: 16, M: 2 },
        { N: 8, M: 2 },
      ])
      expect(() => read({ at: [{ N: 65 }] })).toThrow(
        /^ladder\.json:\d+:\d+: N = 65 is not a valid size/,
      )
      expect(() => read({ title: 3 })).toThrow(/^ladder\.json:4:2: title must be a string\./)
    })

    it.each([
      [
        'a key that is none',
        'summary:',
        'sumary:',
        /:5:1: There is no key "sumary"\. Did you mean summary\?$/m,
      ],
      ['a key too few', 'summary: From', '# From', /:2:1: summary is missing\.$/m],
      ['an id with a space', 'id: softmax', 'id: soft max', /:3:1: id: An id consists of/],
      ['an empty title', 'title: Row softmax', "title: ''", /:4:1: title must be non-empty\./],
      ['no value', 'summary: From', 'summary: # From', /:5:1: summary has no value\.$/m],
      [
        'a key of a buffer that is none',
        'access: in,',
        'acess: in,',
        /no key "acess" in task\.buffers\.x\. Did you mean access\?/,
      ],
      [
        'a bound without a scale',
        'rtol: 2e-6 * sqrt(COLS), atol: 0',
        'bound: 1',
        /task\.check\.y\.scale is missing: write `scale: true`\./,
      ],
      [
        'a word that is none',
        'access: out',
        'access: write',
        /access must be one of in, out, inout\./,
      ],
      [
        'a key twice',
        'title: Row softmax',
        'title: a\ntitle: b',
        /:5:1: The key "title" is repeated; it first appears on line 4\./,
      ],
      [
        'a later version',
        'kernel_ladder: 1',
        'kernel_ladder: 2',
        /:2:1: kernel_ladder must be 1\./,
      ],
      ['a size of 0', 'ROWS: 4096\n', 'ROWS: 0\n', /:10:5: task\.sizes\.ROWS must be at least 1\./],
      ['a negative size', '{ ROWS: 65536,', '{ ROWS: -1,', /at\[1\]\.ROWS must be at least 1\./],
      ['half a size', '{ ROWS: 1,', '{ ROWS: 1.5,', /ROWS = 1\.5 is not a valid size/],
      ['a size of nothing', '{ ROWS: 65536,', '{ ROW: 65536,', /no size, scalar or option "ROW"/],
      [
        'a name of nothing',
        '5 * ROWS',
        '5 * LINES',
        /:25:5: work\.flops uses LINES, but the task has only ROWS, COLS/,
      ],
      ['a division by zero', '5 * ROWS', 'ROWS / (COLS - COLS)', /is not a finite number/],
      ['what overflows', '5 * ROWS', 'pow(ROWS, 500)', /At ROWS 4096.*is not a finite number/],
      [
        'a shape that is not whole',
        'y: { dtype: f32, shape: [ROWS,',
        'y: { dtype: f32, shape: [ROWS/3,',
        /:16:30: At ROWS 4096, COLS 4096, ROWS\/3 is 1365\.3\d+, but an extent must be a whole number/,
      ],
      [
        'a shape of nothing',
        'y: { dtype: f32, shape: [ROWS,',
        'y: { dtype: f32, shape: [ROWS-1,',
        /At ROWS 1, COLS 7, ROWS-1 is 0/,
      ],
      [
        'more than any memory',
        '{ ROWS: 65536,',
        '{ ROWS: 9999999999999,',
        /TiB, which is too large/,
      ],
      ['a tolerance below 0', 'atol: 0', 'atol: -1', /-1 is -1, but must not be negative/],
      [
        'a type that is none',
        'y: { dtype: f32',
        'y: { dtype: f33',
        /f33 is neither a type nor an option of the task; the types are f32, f16, /,
      ],
      ['a fill that does not go upwards', 'hi: 4', 'hi: -5', /hi must be greater than lo/],
      [
        'two rungs of one id',
        '    as: 03_smaller_blocks\n',
        '',
        /The name 03_in_registers is repeated; give the variant its own name/,
      ],
      [
        'a reference rung of nothing',
        'rungs:\n',
        'reference_rung: none\nrungs:\n',
        /There is no rung none; the rungs are 01_naive/,
      ],
      [
        'a reference that is no source',
        'reference: reference.cu',
        'reference: ../x.cu',
        /relative to the task’s folder/,
      ],
      [
        'neither tolerance nor exactness',
        'rtol: 2e-6 * sqrt(COLS), ',
        '',
        /check\.y\.rtol is missing\./,
      ],
      [
        'a comma in an expression',
        'rtol: 2e-6 * sqrt(COLS)',
        'rtol: pow(2, -20)',
        /no key "-20\)" in task\.check\.y\. Put quotes around an expression that contains a comma/,
      ],
      [
        'a constraint that compares nothing',
        '  buffers:\n',
        '  constraints: [COLS % 8]\n  buffers:\n',
        /:14:\d+: constraints\[0\] is not a valid expression\. It compares nothing/,
      ],
      [
        'a constraint on an unknown size',
        '  buffers:\n',
        '  constraints: [COLS % 8 == K]\n  buffers:\n',
        /:14:\d+: constraints\[0\] uses K, but the task has only ROWS, COLS/,
      ],
      [
        'a constraint that a size of `test_at` breaks',
        '  buffers:\n',
        '  constraints: [COLS % 8 == 0]\n  buffers:\n',
        /:14:\d+: At ROWS 1, COLS 7, COLS % 8 == 0 is not satisfied/,
      ],
      [
        'a workspace of other contents',
        '  reference: reference.cu',
        '  workspace: ones\n  reference: reference.cu',
        /task\.workspace must be zero/,
      ],
      ['an anchor', 'task:\n', 'task: &a\n', /:\d+:7: Anchors and aliases/],
      ['an alias', 'ROWS: 4096\n    COLS: 4096', 'ROWS: &n 4096\n    COLS: *n', /:11:11: Anchors/],
    ])('with %s is rejected with the line and column', (_what, from, to, expected) => {
      expect(text).toContain(from)
      const told = faultsOf(text.replace(from, to))
      expect(told).toMatch(expected)
      expect(told).toMatch(/^lab\/ladder\.yaml:\d+:\d+: [^\n]+\n/)
    })

    it('reports all its faults together, sorted by line', () => {
      const wrong = text
        .replace('summary:', 'sumary: x\nsummary:')
        .replace('shape: [ROWS, COLS], access: out', 'shape: [ROWS, COL], access: out')
        .replace('  - { ROWS: 1, COLS: 7 }', '  - { ROW: 1, COLS: 7 }')
        .replace('rungs:\n', 'build: { flags: [-run] }\nrungs:\n')
        .replace('as: 03_smaller_blocks', 'as: 03_in_registers')
      const kinds = /no key "sumary"|uses COL, but|"ROW"|-run|name 03_in_registers is repeated/g
      expect(faultsOf(wrong).match(kinds)).toEqual([
        ...[
          'no key "sumary"',
          'uses COL, but',
          '"ROW"',
          '-run',
          'name 03_in_registers is repeated',
        ],
      ])
    })

    it.each(['reference.py', '{ rung: 01_naive }'])(
      'rejects computed inputs and masks with the reference %s',
      (reference) => {
        const told = faultsOf(
          text
            .replace('reference: reference.cu', `reference: ${reference}`)
            .replace('{ kind: uniform, lo: -4, hi: 4 }', '{ kind: computed }')
            .replace('atol: 0 }', 'atol: 0, mask: true }'),
        )
        expect(told).toMatch(/Only kl_inputs of a reference\.cu can compute an input.*\n.*a mask/)
      },
    )

    it('reports a misspelled key only once, not also as missing', () => {
      const told = faultsOf(text.replace('fill: {', 'fil: {'))
      expect(told).toMatch(/no key "fil"/)
      expect(told.trim().split('\n')).toHaveLength(1)
    })

    it('has one fault for a wrong name that other entries of `at` inherit', () => {
      const told = faultsOf(text.replace('- { ROWS: 4096,', '- { ROW: 4096,'))
      expect(told).toMatch(/^lab\/ladder\.yaml:33:\d+: [^\n]+\n[^\n]*$/)
    })

    it('that is empty or not a map is rejected with that reason', () => {
      expect(faultsOf('# nothing\n')).toBe('lab/ladder.yaml:1:1: The file is empty.\n')
      expect(faultsOf('- a\n')).toBe('lab/ladder.yaml:1:1: The file is not a map of keys.\n')
    })

    it('with anchors that expand exponentially is rejected immediately', () => {
      const bomb = Array.from(
        { length: 30 },
        (_, i) => `k${i}: &k${i} [${i === 0 ? 'x' : `*k${i - 1}, *k${i - 1}`}]`,
      )
      expect(faultsOf(bomb.join('\n'))).toMatch(/Anchors and aliases/)
    })

    it('with thousands of keys is rejected with a list of only the first faults', () => {
      const repeated = faultsOf('task: 1\n'.repeat(5000))
      expect(repeated).toMatch(/2:1: The key "task" is repeated; it first appears on line 1/)
      expect(repeated.split('is repeated')).toHaveLength(21)
      expect(faultsOf('a: 1\n'.repeat(200_000))).toMatch(/limit of 10000 keys/)
      expect(faultsOf(`a: ${'['.repeat(300)}\n`.repeat(500))).toMatch(
        /lists nested deeper than the limit of 64/,
      )
    })

    it('with nested explicit keys is rejected before it is parsed', () => {
      expect(faultsOf('? '.repeat(1000))).toMatch(/limit of 64 explicit keys/)
      const stairs = Array.from({ length: 1000 }, (_, at) => `${' '.repeat(at)}?`)
      expect(faultsOf(stairs.join('\n'))).toMatch(/limit of 64 explicit keys/)
      expect(faultsOf(`title: ${'Why? Why not? '.repeat(200)}\n`)).not.toMatch(/explicit/)
    })
  })
})

describe('the published schema', () => {
  const root = join(import.meta.dirname, '../../..')
  const templates = join(root, 'resources/templates')

  describe('for ladder.yaml', () => {
    const check = new Ajv2020({ strict: false }).compile(ladderSchema())

    it.each(readdirSync(templates))('accepts the template %s, and rejects unknown keys', (name) => {
      const document = parse(readFileSync(join(templates, name, 'ladder.yaml'), 'utf8')) as {
        task: object
      }
      expect(check(document), JSON.stringify(check.errors)).toBe(true)
      expect(check({ ...document, sizes: {} })).toBe(false)
      expect(check({ ...document, task: { ...document.task, size: {} } })).toBe(false)
    })
  })
})
