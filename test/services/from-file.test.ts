/**
 * Tests `init --from`, which creates a ladder from a file with a kernel. A real nvcc compiles each
 * file, and its main() runs.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findTool } from '../../src-main/adapters/tools/live-toolbox'
import { runIn, type Finished } from '../hosts/cli/support'

const program = (kernels: string, body: string, before = ''): string => `
#include <cstdio>
#include <cstdlib>
${before}
${kernels}
int main(int argc, char** argv) {
  const int n = 5000;
  float *x, *y, *host = (float*)malloc(n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = float(i % 7) - 3;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
  ${body}
  cudaMemcpy(host, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
`

const twice = `
__global__ void twice(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
`
const launchTwice = 'twice<<<(n + 127) / 128, 128>>>(y, x, n);'

const nvcc = await findTool('nvcc')

describe.skipIf(nvcc === null)('a ladder from a file', { tags: ['thorough'] }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kl-from-file-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const env = {
    KERNEL_LADDER_CACHE: join(folder, 'cache'),
    KERNEL_LADDER_DATA: join(folder, 'data'),
  }
  let files = 0

  interface From extends Finished {
    ladder: string
    /** The texts of ladder.yaml and the rung, or empty texts if the files do not exist. */
    yaml: string
    rung: string
  }

  const init = async (text: string, ...words: string[]): Promise<From> => {
    const own = join(folder, `${++files}`)
    await mkdir(own)
    await writeFile(join(own, 'file.cu'), text)
    await writeFile(join(own, 'data.txt'), '4000\n')
    const ladder = join(own, 'ladder')
    const done = await runIn({ env }, 'init', ladder, '--from', join(own, 'file.cu'), ...words)
    const names = await readdir(ladder).catch(() => [])
    const read = async (pattern: RegExp): Promise<string> => {
      const name = names.find((one) => pattern.test(one))
      return name === undefined ? '' : readFile(join(ladder, name), 'utf8')
    }
    return { ...done, ladder, yaml: await read(/^ladder\.yaml$/), rung: await read(/^01_.*\.cu$/) }
  }

  it('runs on the emulated GPU with the suggested command, without changing the file', async () => {
    const text = program(twice, launchTwice)
    const { code, ladder, yaml, rung, stdout, stderr } = await init(text)
    expect(code, stderr).toBe(0)
    expect(await readFile(join(ladder, 'original', 'file.cuh'), 'utf8')).toBe(text)
    expect(yaml).toMatch(/ {4}n: 5000\n/)
    expect(yaml).toMatch(/ {4}out: \{ dtype: f32, shape: \[n\], access: out \}/)
    expect(yaml).toMatch(/ {4}in: .*access: in, fill: \{ kind: uniform, lo: -3, hi: 3 \}/)
    expect(rung).toContain('(p->n + 127) / 128')
    expect(stdout).toMatch(/same launch +yes/)
    expect(stderr).toContain('Running main() of')
    const ran = await runIn({ env }, 'run', '--ladder', ladder, '--target', 'emulated')
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(/01_twice +ok/)
  })

  it('runs main() with the arguments after --, and lets it read files and the clock', async () => {
    const text = program(
      twice,
      `int own = 0;
       if (FILE* file = fopen("data.txt", "r")) { if (fscanf(file, "%d", &own) != 1) own = 0; fclose(file); }
       if (argc != 2 || time(nullptr) == 0) return 1;
       twice<<<(own + 127) / 128, atoi(argv[1])>>>(y, x, own);`,
      '#include <ctime>',
    )
    const { code, yaml, rung, stderr } = await init(text, '--', '128')
    expect(code, stderr).toBe(0)
    expect(yaml).toMatch(/ {4}n: 4000\n/)
    expect(rung).toContain('const dim3 block(128, 1, 1); // as recorded')
  })

  it("calls the file's own launcher, with the sizes converted to int", async () => {
    const launcher = `
    void launch_twice(float* out, const float* in, int n, int block_size) {
      twice<<<(n + block_size - 1) / block_size, block_size>>>(out, in, n);
    }`
    const { code, rung, stderr } = await init(
      program(twice + launcher, 'launch_twice(y, x, n, 64);'),
    )
    expect(code, stderr).toBe(0)
    expect(rung).toContain(
      'launch_twice((float*)p->out, (const float*)p->in, (int)p->n, 64); // guess:',
    )
  })

  it('uses a CPU function with the same parameters and results as the reference', async () => {
    const cpu = (factor: number) => `
    void twice_cpu(float* out, const float* in, int n) {
      for (int i = 0; i < n; ++i) out[i] = ${factor} * in[i];
    }`
    const right = await init(program(twice + cpu(2), launchTwice))
    expect(right.yaml).toContain('reference: reference.cu # guess:')
    const wrong = await init(program(twice + cpu(3), launchTwice))
    expect(wrong.yaml).toContain('reference: { rung: 01_twice } # guess:')
    expect(wrong.stdout).toContain('twice_cpu() has the kernel’s parameters, but:')
  })

  it('supports two-dimensional grids, scalars passed by value, and variables that the program sets', async () => {
    const kernel = `
    __constant__ float offset[2];
    __global__ void shift(float* out, const float* in, int width, int height, float by, double power) {
      const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
      if (x < width && y < height) out[y * width + x] += in[y * width + x] * by + offset[x % 2] + float(power);
    }`
    const { code, yaml, rung, ladder, stderr } = await init(
      program(
        kernel,
        `const float values[2] = {1, 2};
         cudaMemcpyToSymbol(offset, values, sizeof values);
         shift<<<dim3(7, 13), dim3(16, 4)>>>(y, x, 100, 50, 0.5f, 2.0);`,
      ),
    )
    expect(code, stderr).toBe(0)
    expect(yaml).toMatch(/ {4}out: .*shape: \[height, width\], access: inout/)
    expect(yaml).toMatch(/ {4}by: \{ dtype: f32, value: 0.5 \}/)
    expect(yaml).toMatch(/ {4}power: \{ dtype: f64, value: 2 \}/)
    expect(rung).toContain('grid(unsigned((p->width + 15) / 16), unsigned((p->height + 3) / 4), 1)')
    expect(rung).toContain('cudaMemcpyToSymbolAsync(offset,')
    const ran = await runIn({ env }, 'run', '--ladder', ladder, '--target', 'emulated')
    expect(ran.code, ran.stderr).toBe(0)
  })

  describe('with equal sizes in a matrix product', () => {
    const product = (b: string): string => `
#include <cstdlib>
__global__ void sgemm(const float* A, const float* B, float* C, int N, int M, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[${b}];
  C[row * M + col] = sum;
}
int main() {
  float *A, *B, *C;
  int N, M, K;
  N = M = K = 128;
  cudaMalloc(&A, N * K * 4); cudaMalloc(&B, K * M * 4); cudaMalloc(&C, N * M * 4);
  sgemm<<<dim3(M / 16, N / 16), dim3(16, 16)>>>(A, B, C, N, M, K);
}
`
    it('assigns rows and columns by trials with unequal sizes, not by name', async () => {
      const { code, yaml, rung, stderr } = await init(product('i * M + col'))
      expect(code, stderr).toBe(0)
      expect(yaml).toMatch(
        / A: \{ dtype: f32, shape: \[N, K\].*\n.* B: .*shape: \[K, M\].*\n.* C: .*shape: \[N, M\], access: out \}/,
      )
      expect(yaml).not.toContain('could also be')
      expect(rung).toMatch(
        /grid\(unsigned\(\(p->M \+ 15\) \/ 16\), unsigned\(\(p->N \+ 15\) \/ 16\), 1\)/,
      )
    })

    it('keeps sizes equal if no names work with unequal sizes', async () => {
      const { code, yaml, stdout, stderr } = await init(product('i * K + col'))
      expect(code, stderr).toBe(0)
      expect(yaml).toMatch(/^ {2}constraints: \[N == M, M == K\] # guess: in trials/m)
      expect(stdout).toMatch(/equal sizes +N, M, K +guess: /)
    })
  })

  describe('that needs files outside its folder', () => {
    const tree = async (build: boolean): Promise<string> => {
      const root = join(folder, `tree-${++files}`)
      await mkdir(join(root, 'common/util'), { recursive: true })
      await mkdir(join(root, 'src'))
      await mkdir(join(root, '.git'))
      await writeFile(join(root, 'common/util/factor.h'), '#define FACTOR 2\n')
      const text = program(
        `#include "util/factor.h"\n${twice.replace('2 *', 'FACTOR *')}`,
        launchTwice.replaceAll('128', 'BLOCK').replaceAll('127', '(BLOCK - 1)'),
      )
      await writeFile(join(root, 'src/file.cu'), text)
      const command = 'nvcc -DBLOCK=64 -isystem common --use_fast_math -O3 -c src/file.cu -o file.o'
      const commands = [{ directory: root, file: 'src/file.cu', command }]
      if (build) await writeFile(join(root, 'compile_commands.json'), JSON.stringify(commands))
      return root
    }
    const from = async (root: string, ...words: string[]) => {
      const ladder = join(folder, `ladder-${++files}`)
      const file = join(root, 'src/file.cu')
      const done = await runIn({ env }, 'init', ladder, '--from', file, ...words)
      const yaml = await readFile(join(ladder, 'ladder.yaml'), 'utf8').catch(() => '')
      return { ...done, yaml, ladder }
    }

    it("names the options that add a header's folder or define a macro", async () => {
      const root = await tree(false)
      const include = ['--include', join(root, 'common')]
      const noHeader = await from(root)
      expect(noHeader.code).toBe(2)
      expect(noHeader.stderr).toMatch(
        /includes util\/factor\.h.*\n.*Add --include \S*common, which/,
      )
      const noMacro = await from(root, ...include)
      expect(noMacro.code).toBe(2)
      expect(noMacro.stderr).toMatch(/"BLOCK" is undefined\n.*add --define BLOCK=VALUE/)
      const { code, yaml, stdout } = await from(root, ...include, '--define', 'BLOCK=64')
      expect(code).toBe(0)
      expect(yaml).toMatch(/^build:\n {2}defines: \{ BLOCK: "64" \}$/m)
      expect(stdout).toMatch(/same launch +yes/)
    })

    it('distinguishes the file from a header with the same name', async () => {
      const root = await tree(false)
      await writeFile(join(root, 'src/file.cuh'), '#define BLOCK 64\n')
      const file = join(root, 'src/file.cu')
      await writeFile(file, `#include "file.cuh"\n${await readFile(file, 'utf8')}`)
      const { code, ladder, stdout, stderr } = await from(root, '--include', join(root, 'common'))
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/same launch +yes/)
      expect((await readdir(join(ladder, 'original'))).sort()).toEqual(['file.cu.cuh', 'file.cuh'])
    })

    it('is compiled with the options from the nearest compile_commands.json', async () => {
      const { code, yaml, stdout, stderr } = await from(await tree(true))
      expect(code, stderr).toBe(0)
      expect(stderr).toMatch(/^Compiling it as \S*compile_commands\.json says\.$/m)
      expect(yaml).toMatch(
        /^build:\n {2}flags: \["--use_fast_math"\]\n {2}defines: \{ BLOCK: "64" \}$/m,
      )
      expect(stdout).toMatch(/same launch +yes/)
    })

    it('includes a large library from its original folder', async () => {
      const library = join(folder, 'library')
      await mkdir(join(library, 'many'), { recursive: true })
      const names = Array.from({ length: 160 }, (_, index) => `many/${index}.hpp`)
      for (const name of names) await writeFile(join(library, name), '')
      const text =
        names.map((name) => `#include <${name}>\n`).join('') + program(twice, launchTwice)
      const { code, yaml, stderr, ladder } = await init(text, '--include', library)
      expect(code, stderr).toBe(0)
      expect(yaml).toContain(`include: ["${library}"]`)
      expect(await readdir(ladder)).not.toContain('many')
    })
  })

  it('is created without verification for a kernel with more than 20 million warp instructions', async () => {
    const slow = `
    __global__ void slow(float* out, const float* in, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      float sum = 0;
      for (int turn = 0; turn < 2 * n; ++turn) sum = sum * 0.5f + in[(i + turn) % n];
      if (i < n) out[i] = sum;
    }`
    const { code, ladder, stderr } = await init(program(slow, launchTwice.replace('twice', 'slow')))
    expect(code, stderr).toBe(0)
    const ran = await runIn({ env }, 'run', '--ladder', ladder, '--target', 'emulated')
    expect(ran.code, ran.stderr).toBe(0)
    const [, instructions] = /about (\d+) million warp instructions/.exec(ran.stderr)!
    expect(Number(instructions)).toBeGreaterThan(20)
  })

  it('has fixed sizes if smaller sizes make the kernel write outside its buffers', async () => {
    const tiles = `
    __global__ void tiles(float* out, float* in, int width) {
      const int at = (blockIdx.y * 32 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x;
      out[at] = in[at];
    }`
    const { code, yaml, stderr } = await init(
      program(
        tiles,
        `const int width = 288;
         cudaMalloc(&x, width * width * 4);
         cudaMalloc(&y, width * width * 4);
         tiles<<<dim3(9, 9), dim3(32, 32)>>>(y, x, width);`,
      ),
    )
    expect(code, stderr).toBe(0)
    expect(yaml).toMatch(
      /width: \{ value: 288, fixed: true \} # guess: at smaller sizes it accessed memory outside its buffers/,
    )
    expect(yaml).toMatch(/ {4}in: .*access: in,/)
    expect(yaml).toMatch(/ {4}out: .*access: out/)
  })

  it('uses the kernel given with --kernel if the file launches several kernels', async () => {
    const text = program(
      `${twice}${twice.replace('twice', 'again')}`,
      `${launchTwice} ${launchTwice.replace('twice', 'again')}`,
    )
    const refused = await init(text)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/launches 2 kernels\.\n.*--kernel: .*twice/)
    const chosen = await init(text, '--kernel', 'again')
    expect(chosen.code, chosen.stderr).toBe(0)
    expect(chosen.rung).toContain('again<<<grid')
  })

  it('has placeholder values, marked as placeholders, for a kernel without a launch', async () => {
    const { code, yaml, stdout, stderr } = await init(twice)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('has no main(), so every number is invented.')
    expect(yaml).toMatch(/ {4}n: 65536 # guess: the program’s own numbers are not known/)
  })

  it('a main() that never ends is stopped, and its launches until then are used', async () => {
    const { code, stdout, stderr } = await init(program(twice, `${launchTwice} for (;;) {}`))
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/stopped: /)
    expect(stdout).toMatch(/same launch +yes/)
  })

  it('main() may create library handles, and launches before an unsupported library call are used', async () => {
    const { code, ladder, stdout, stderr } = await init(
      program(
        twice,
        `void* handle; if (cublasCreate_v2(&handle) != 0) return 1; ${launchTwice} otherLibrary();`,
        'extern "C" { int cublasCreate_v2(void**); int otherLibrary(); }',
      ),
    )
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('stopped: it calls otherLibrary, which needs a GPU or a library')
    expect(stdout).toMatch(/same launch +yes/)
    // On a GPU, the runner loads the rung and rejects a library with an undefined symbol.
    expect((await runIn({ env }, 'run', '--ladder', ladder, '--target', 'emulated')).code).toBe(0)
    const builds = join(env.KERNEL_LADDER_CACHE, 'build')
    for (const build of await readdir(builds)) {
      const library = await readFile(join(builds, build, 'rung.so')).catch(() => '')
      expect(library.includes('otherLibrary')).toBe(false)
    }
  })

  it('main() cannot write files or start programs', async () => {
    const { code, ladder } = await init(
      program(
        twice,
        `if (fopen("written.txt", "w")) return 1; if (system("touch started.txt") == 0) return 1; ${launchTwice}`,
      ),
    )
    expect(code).toBe(0)
    expect((await readdir(join(ladder, '..'))).sort()).toEqual(['data.txt', 'file.cu', 'ladder'])
  })

  it.each<[string, string, RegExp, ...string[]]>([
    ['a file without a kernel', 'int main() { return 0; }', /defines no __global__ function/],
    [
      'a missing kernel',
      program(twice, launchTwice),
      /has no kernel "thrice"/,
      '--kernel',
      'thrice',
    ],
    [
      'a template without instances',
      'template <int N> __global__ void f(float* x) { x[N] = 1; }',
      /The kernel f of .* is a template, and the file uses no instance of it/,
    ],
    [
      'a struct passed by value',
      program(
        'struct Pair { int a, b; }; __global__ void f(float* x, Pair pair) { x[0] = pair.a; }',
        'f<<<1, 1>>>(x, Pair{1, 2});',
      ),
      /the parameter pair of f is Pair by value/,
    ],
    [
      'a kernel without an array parameter',
      program(
        '__device__ float result; __global__ void f(int n) { result = n; }',
        'f<<<1, 1>>>(n);',
      ),
      /f has no array among its parameters/,
    ],
    ['a missing header', '#include "absent.h"\n', /includes absent\.h, which was not found/],
    ['a compile error', '__global__ void f(float* x) { x = ; }', /file\.cu:1: /],
  ])(
    '%s is rejected with one error message, and no files are left',
    async (_, text, why, ...words) => {
      const { code, stderr, stdout, ladder } = await init(text, ...words)
      expect(code).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).toMatch(why)
      await expect(readdir(ladder)).rejects.toThrow('ENOENT')
    },
  )
})
