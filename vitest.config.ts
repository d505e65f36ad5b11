import { availableParallelism } from 'node:os'
import vue from '@vitejs/plugin-vue'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { assetPack } from './scripts/vite/assets.ts'
import { yamlModules } from './scripts/vite/yaml-modules.ts'
import { emulatorWorker } from './scripts/vite/emulator-worker.ts'

const exclude = [
  ...configDefaults.exclude,
  'out/**',
  'dist/**',
  'test/captures/**',
  'test/fakes/**',
]

/** They put something else in the place of a module, which files beside them would see. */
const mocking = ['test/hosts/electron/**/*.test.ts', 'test/services/report/save.test.ts']

/**
 * Files that take longest, most of it waiting or in one thread: begun last, one of them would keep all others waiting. A
 * fresh clone knows no times yet, and would begin with the files that have most text.
 */
const longest = [
  ...['cli/machines', 'cli/lab', 'browser/accessibility', 'cli/slurm', 'browser/folders'],
  ...['browser/labs', 'browser/run', 'browser/app', 'cli/saving', 'browser/ladder'],
  ...['labs/emulated-labs', 'domain/emulator/hardware', 'services/programs/profile-program'],
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`))
      return projects.indexOf(project) * 1000 + (found < 0 ? longest.length : found)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

// To start a program the table of a worker's memory is copied, which takes a tenth of the time where buffers lie in large pages.
process.env['GLIBC_TUNABLES'] ??= 'glibc.malloc.hugetlb=1'

/**
 * Each test runs little code often, and one worker all of it: a tenth of a worker's time goes into optimizing what is soon
 * done with, and another into marking a heap that a file has just begun to fill. An older Node may not know such a count.
 */
const optimizeLate =
  Number.parseInt(process.versions.node, 10) >= 24 ? ['--invocation-count-for-turbofan=12000'] : []
const collectLate = ['--initial-old-space-size=1000']

export default defineConfig({
  plugins: [
    vue(),
    yamlModules(),
    assetPack({ root: import.meta.dirname, embed: false }),
    emulatorWorker({ root: import.meta.dirname }),
  ],
  test: {
    globalSetup: 'test/setup.ts',
    setupFiles: 'test/setup-each.ts',
    // Vitest would leave a core to itself, which has little to do while tests run.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // All tests run beside one another, on a machine that may be busy.
    expect: { poll: { timeout: 30_000, interval: 25 } },
    tags: [{ name: 'thorough', description: 'runs in `npm run test:all`, and not in `npm test`' }],
    // Workers spend a tenth of their time on collecting garbage in a young generation of the usual size.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts', 'src-renderer/**/*.test.ts'],
          exclude: [...exclude, 'test/browser/**', 'test/cli/**', 'test/desktop/**', ...mocking],
          // Most of what a file takes alone is loading what the others load too.
          isolate: false,
          execArgv: [...optimizeLate, ...collectLate],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: mocking, testTimeout: 120_000, hookTimeout: 120_000 },
      },
      {
        extends: true,
        test: {
          // What needs the built programs: the UI in a browser, the command line as a process, and the window.
          name: 'built',
          include: ['browser', 'cli', 'desktop'].map((folder) => `test/${folder}/**/*.test.ts`),
          exclude,
          isolate: false,
          // Each of them often waits: for a page, a program, a server. Some start a dozen programs one after another.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
