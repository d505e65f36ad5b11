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

/**
 * Tests that mock modules. These tests run in isolation, because other test files would otherwise
 * see the mocks.
 */
const mocking = ['test/hosts/electron/**/*.test.ts', 'test/services/report/save.test.ts']

/**
 * The slowest test files, which mostly wait or use one thread. Slow files start first, because a
 * slow file that starts last delays the end. In a fresh clone, Vitest has no recorded times and
 * would start with the largest files.
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

// Use large pages. Starting a program copies the page table of the worker, and large pages reduce
// the time of this copy to a tenth.
process.env['GLIBC_TUNABLES'] ??= 'glibc.malloc.hugetlb=1'

/**
 * Node.js options for workers. Each test runs little code, and most code runs only a few times.
 * With the default options, a worker spends a tenth of its time optimizing code that is soon
 * unused. The worker spends another tenth marking a heap that a test file has only started to fill.
 * Older Node.js versions may not support the option for the invocation count.
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
    // Use all cores. By default, Vitest reserves a core for its main process, which has little work
    // while tests run.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // Tests run in parallel on a machine that may be busy, so allow long waits.
    expect: { poll: { timeout: 30_000, interval: 25 } },
    tags: [{ name: 'thorough', description: 'runs in `npm run test:all`, and not in `npm test`' }],
    // With the default size of the young generation, workers spend a tenth of their time on garbage
    // collection.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts', 'src-renderer/**/*.test.ts'],
          exclude: [...exclude, 'test/browser/**', 'test/cli/**', 'test/desktop/**', ...mocking],
          // Share modules between test files. A single test file spends most of its time loading
          // modules that other files load too.
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
          // Tests of the built programs: the UI in a browser, the command-line program as a
          // process, and the desktop window.
          name: 'built',
          include: ['browser', 'cli', 'desktop'].map((folder) => `test/${folder}/**/*.test.ts`),
          exclude,
          isolate: false,
          // A test often waits for a page, a program or a server. Some tests start a dozen programs
          // one after another.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
