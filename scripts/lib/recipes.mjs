// @ts-check
/** Applies each recipe in CONTRIBUTING.md to a clone, using a small example. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the hash for the key of a translation. `hashOf` in src-renderer/ui/authored.ts computes
 * the same hash.
 * @param {string} text
 */
function hashOf(text) {
  let hash = 0x811c9dc5
  for (const character of text.trim().replaceAll(/\s+/g, ' '))
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

const languages = ['ko', 'zh-CN']
const locales = ['en', ...languages]

/** Returns functions that edit files in the given folder. @param {string} root */
export function editorOf(root) {
  /** @param {string} path @param {string} text */
  const write = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  /** @param {string} path */
  const read = (path) => readFileSync(join(root, path), 'utf8')
  /** @param {string} path @param {string} found occurs once @param {(found: string) => string} change */
  const replace = (path, found, change) => {
    const parts = read(path).split(found)
    if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${found}`)
    write(path, parts.join(change(found)))
  }
  return {
    write,
    /** @param {string} from @param {string} to */
    copy: (from, to) => cpSync(join(root, from), join(root, to), { recursive: true }),
    replace,
    /** @param {string} path @param {string} anchor @param {string} text */
    insertAfter: (path, anchor, text) => replace(path, anchor, (found) => `${found}${text}`),
    /** @param {string} path @param {string} anchor @param {string} text */
    insertBefore: (path, anchor, text) => replace(path, anchor, (found) => `${text}${found}`),
    /** @param {string} path @param {(document: any) => void} change */
    json(path, change) {
      const document = JSON.parse(read(path))
      change(document)
      write(path, `${JSON.stringify(document, null, 2)}\n`)
    },
    /** @param {readonly string[]} folders @param {string} file @param {(words: any) => void} change */
    words(folders, file, change) {
      for (const folder of folders) this.json(`src-renderer/locales/${folder}/${file}`, change)
    },
    /**
     * Adds translations of authored text to a file.
     * @param {string} file
     * @param {string} heading the line after which to insert the translations
     * @param {string} name @param {Record<string, string>} texts by key
     */
    translate(file, heading, name, texts) {
      const rows = Object.entries(texts).map(
        ([key, text]) => `    ${key} ${hashOf(text)}: ${JSON.stringify(`한 中 ${text}`)}\n`,
      )
      for (const language of languages)
        this.insertAfter(
          `src-renderer/locales/${language}/${file}`,
          `\n${heading}\n`,
          `  ${name}:\n${rows.join('')}`,
        )
    },
  }
}

/** @typedef {ReturnType<typeof editorOf>} Editor */

/**
 * @typedef {object} Recipe
 * @property {string} heading of its section in CONTRIBUTING.md
 * @property {(edit: Editor) => void} carryOut
 * @property {readonly string[]} [commands] of npm, run after the edits
 */

const rung = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ idea) =>
  `// @rung    ${id}
// @title   ${title}
// @idea    ${idea}
#include "kernel_ladder.h"

__global__ void copy(const float* x, float* y, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  copy<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->x, p->y, p->N);
  return cudaGetLastError();
}
`

/** @type {readonly Recipe[]} */
export const recipes = [
  {
    heading: 'A rung',
    carryOut(edit) {
      const [title, idea] = ['Recipe rows', 'a warp reads rows as the recipe says']
      edit.copy('cuda-kernels/transpose/01_column_writes.cu', 'cuda-kernels/transpose/10_recipe.cu')
      const path = 'cuda-kernels/transpose/10_recipe.cu'
      edit.replace(path, '01_column_writes', () => '10_recipe')
      edit.replace(path, 'Row reads, column writes', () => title)
      edit.replace(
        path,
        `each thread moves one element of x. A warp reads 32 adjacent elements, one line of 128 bytes, and writes
//          them to 32 rows of y. The write touches 32 sectors, with only 4 bytes in each`,
        () => idea,
      )
      edit.json('cuda-kernels/transpose/ladders/transpose.json', ({ rungs }) =>
        rungs.push({ id: '10_recipe' }),
      )
      edit.translate('ladders.yaml', 'rungs:', '10_recipe', { title, idea })
    },
    commands: ['-s run readme -- reference'],
  },
  {
    heading: 'A lab',
    carryOut(edit) {
      const folder = 'cuda-kernels/labs/17-recipe'
      edit.copy('cuda-kernels/labs/01-coalescing', folder)
      const [title, summary] = ['Recipe lab', 'A lab as the recipe says.']
      edit.replace(`${folder}/lab.md`, 'title: Coalescing\n', () => `title: ${title}\n`)
      edit.replace(
        `${folder}/lab.md`,
        'Swapping two indices makes the kernel many times faster. Find out why before you swap them.',
        () => summary,
      )
      edit.replace(`${folder}/lab.md`, 'order: 1\n', () => 'order: 17\n')
      for (const file of ['starter.cu', 'solution.cu'])
        edit.replace(`${folder}/${file}`, '@rung    01-coalescing', () => '@rung    17-recipe')
      edit.translate('ladders.yaml', 'labs:', '17-recipe', { title, summary })
      const check = 'Few sectors as the recipe says'
      edit.replace(`${folder}/lab.md`, 'title: Few sectors per load\n', () => `title: ${check}\n`)
      for (const language of languages)
        edit.insertBefore(
          `src-renderer/locales/${language}/labs.yaml`,
          '\n01-coalescing:\n',
          '\n17-recipe:',
        )
      edit.translate('labs.yaml', '17-recipe:', 'load-sectors', { title: check })
    },
    commands: ['-s run kernel-ladder -- lab validate cuda-kernels/labs/17-recipe'],
  },
  {
    heading: 'A task',
    carryOut(edit) {
      const folder = 'cuda-kernels/recipe'
      const [title, summary, rows] = [
        'Recipe copy',
        'y = x, as the recipe says',
        'elements to copy',
      ]
      const [ladderTitle, ladderSummary] = ['Recipe ladder', 'One rung, as the recipe says.']
      const [rungTitle, idea] = ['Recipe kernel', 'one thread per element']
      edit.write(
        `${folder}/task.yaml`,
        `id: recipe
title: ${title}
summary: ${summary}
sizes:
  N: { title: ${rows}, value: 1048576 }
buffers:
  x: { dtype: f32, shape: [N], access: in, fill: { kind: uniform, lo: -1, hi: 1 } }
  y: { dtype: f32, shape: [N], access: out }
reference: reference.cu
check:
  y: { exact: true }
work:
  reads: '4*N'
  writes: '4*N'
sanitize: { N: 1000 }
`,
      )
      edit.write(
        `${folder}/reference.cu`,
        `// Reference for the rungs of recipe/.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->N; ++i) p->y[i] = p->x[i];
}
`,
      )
      edit.write(`${folder}/91_recipe_copy.cu`, rung('91_recipe_copy', rungTitle, idea))
      edit.write(
        `${folder}/ladders/recipe.json`,
        JSON.stringify({
          ...{
            schema: 2,
            id: 'recipe',
            title: ladderTitle,
            summary: ladderSummary,
            task: 'recipe',
          },
          ...{ sizes: [{ N: 1048576 }], reference: null, rungs: [{ id: '91_recipe_copy' }] },
        }),
      )
      edit.translate('ladders.yaml', 'rungs:', '91_recipe_copy', { title: rungTitle, idea })
      edit.translate('ladders.yaml', 'tasks:', 'recipe', { title, summary, size: rows })
      edit.translate('ladders.yaml', 'ladders:', 'recipe', {
        title: ladderTitle,
        summary: ladderSummary,
      })
    },
    commands: ['-s run readme -- reference'],
  },
  {
    heading: 'A metric',
    carryOut(edit) {
      edit.insertAfter(
        'src-main/domain/metrics/standard-metrics.ts',
        'export const standardMetrics: readonly MetricDefinition[] = [\n',
        `  busy({
    id: 'recipeAlu',
    label: 'ALU pipe, as the recipe says',
    meaning: 'The share of cycles in which the ALU pipe was active.',
    ncu: ['sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active'],
  }),
`,
      )
      edit.words(languages, 'metrics.json', (metrics) => {
        metrics.recipeAlu = { label: '한 中', meaning: '한 中.' }
      })
    },
    commands: ['-s run readme -- reference'],
  },
  {
    heading: 'A machine instruction',
    carryOut(edit) {
      edit.insertAfter(
        'src-main/domain/sass/opcodes/control.ts',
        "  opcode(0x918, 'NOP'),\n",
        "  opcode(0xeee, 'RECIPE'),\n",
      )
    },
  },
  {
    heading: 'A report format',
    carryOut(edit) {
      edit.insertAfter(
        'src-main/domain/report/report-format.ts',
        'const formats = {\n',
        "  txt: { mediaType: 'text/plain', isText: true, sections: [], isAuthored: false },\n",
      )
      edit.write(
        'src-main/services/report/printers/txt.ts',
        `/** A report as plain text: where its figures come from, and a line per rung. */
import { visible } from '../../../domain/text/hidden-characters'
import type { Printer } from './printer'

const lines = (all: readonly string[]): string => all.map((line) => \`\${visible(line)}\\n\`).join('')

export const txtPrinter: Printer = {
  session: ({ facts, session }) =>
    lines([
      ...facts.map(({ id, value }) => \`\${id}: \${value}\`),
      ...session.rungs.map(({ id, status }) => \`\${id}: \${status}\`),
    ]),
  comparison: ({ facts, rungs }) =>
    lines([
      ...facts.map(({ id, a, b }) => \`\${id}: \${a}, \${b}\`),
      ...rungs.map(({ a, b }) => \`\${a.id}: \${a.status}, \${b.status}\`),
    ]),
}
`,
      )
      const index = 'src-main/services/report/printers/index.ts'
      edit.insertAfter(
        index,
        "import { jsonPrinter } from './json'\n",
        "import { txtPrinter } from './txt'\n",
      )
      edit.insertAfter(index, '  tex: texPrinter,\n', '  txt: txtPrinter,\n')
      edit.words(locales, 'screens.json', (words) => {
        words.export.formats.txt = { name: 'Text', text: 'a line per rung' }
      })
    },
  },
  {
    heading: 'A screen',
    carryOut(edit) {
      edit.write(
        'src-renderer/features/recipe/RecipeScreen.vue',
        `<script setup lang="ts">
import { t } from '../../ui/words'
import EmptyState from '../../ui/EmptyState.vue'
</script>

<template>
  <EmptyState :title="t('recipe.title')" :text="t('recipe.text')" />
</template>
`,
      )
      edit.insertBefore(
        'src-renderer/screens.ts',
        "  {\n    path: '/:rest(.*)*',",
        `  {
    path: '/recipe',
    name: 'recipe',
    meta: { linked: true, key: 'p' },
    component: () => import('./features/recipe/RecipeScreen.vue'),
  },
`,
      )
      edit.words(locales, 'screens.json', (words) => {
        words.title.recipe = 'Recipe'
        words.recipe = { title: 'A recipe', text: 'A screen as the recipe says.' }
      })
    },
  },
  {
    heading: 'A kind of target',
    carryOut(edit) {
      edit.insertAfter(
        'src-main/domain/targets/kinds.ts',
        "export const defaultEmulatedGpu = 'h200'\n",
        `
/** A kind as the recipe says: built, and never run. */
export const recipe = {
  ...built,
  syntax: namedSyntax('recipe', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', false),
  help: 'build as the recipe says',
  again: (name: string) => ['--target', \`recipe:\${name}\`],
  origin: (name: string, createdAt: string) =>
    \`built for \${name} on \${createdAt.slice(0, 10)}, as the recipe says\`,
} as const satisfies TargetKind

`,
      )
      const targets = 'src-main/domain/targets/targets.ts'
      edit.insertAfter(targets, '  recorded,\n  built,\n', '  recipe,\n')
      edit.insertAfter(targets, '  static: built,\n', '  recipe,\n')
      edit.insertAfter(
        'src-main/services/targets/start-run.ts',
        '  static: runStatic,\n',
        '  recipe: runStatic,\n',
      )
      edit.insertAfter(
        'src-main/domain/messages/english/provenance.ts',
        'export const origin = {\n',
        "  recipe: 'Built for {name} as the recipe says',\n",
      )
      edit.words(languages, 'statements.json', (statements) => {
        statements.origin.recipe = '한 中 {name}'
      })
      edit.words(locales, 'screens.json', (words) => {
        words.targets.recipe = { ...words.targets.static, choice: 'Recipe', missing: 'No recipe' }
      })
    },
    commands: ['-s run readme -- reference', '-s run schemas'],
  },
]
