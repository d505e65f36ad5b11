import { expect, it } from 'vitest'
import { sourceFunctions } from '../../../src-main/parsers/kernels/cuda-source'
import { hasMain } from '../../../src-main/domain/proposal/source'

const text = `
#include <cstdio>
#define TWICE(x) { x; x; }
// __global__ void comment(int n) { }
namespace own {
template <typename T, int TILE>
__global__ void __launch_bounds__(256, 2) scale(T* __restrict__ y, const T *x, const int n, float by = 1.0f) {
  if (threadIdx.x < n) { y[0] = x[0] * by; }
}
}  // namespace own
struct Pair { int a; void method() { a = 1; } };
extern "C" {
void launch_scale(float* y, const float* x, int n, int block_size) {
  const char* text = "other<<<1, 2>>>(x);";
  own::scale<float, 8><<<dim3((n + 7) / 8, 1), block_size, 0>>>(y, (const float*)x, n, 2.0f);
}
}
int main(int argc, char** argv) { launch_scale(0, 0, 1, 2); }
`

const byName = new Map(sourceFunctions(text).map((one) => [one.name, one]))

it('kernels, launchers, and main() in a CUDA source are found, but not in comments, macros, or classes', () => {
  expect([...byName.keys()]).toEqual(['scale', 'launch_scale', 'main'])
  expect(hasMain([...byName.values()])).toBe(true)
  expect(byName.get('scale')).toMatchObject({ isKernel: true, isTemplate: true })
  expect(byName.get('launch_scale')).toMatchObject({ isKernel: false, isTemplate: false })
})

it("a kernel's parameters have names and types", () => {
  expect(byName.get('scale')!.parameters).toEqual([
    { type: 'T* __restrict__', name: 'y', isPointer: true },
    { type: 'const T *', name: 'x', isPointer: true },
    { type: 'const int', name: 'n', isPointer: false },
    { type: 'float', name: 'by', isPointer: false },
  ])
})

it('a launch has its kernel, configuration, and arguments, unlike a string that looks like a launch', () => {
  expect(byName.get('launch_scale')!.launches).toEqual([
    {
      kernel: 'scale',
      configuration: ['dim3((n + 7) / 8, 1)', 'block_size', '0'],
      arguments: ['y', '(const float*)x', 'n', '2.0f'],
    },
  ])
})

it.each(['', '{', '__global__ void f(', '<<<>>>(', '"', '/*'])(
  'a damaged source %j has no functions',
  (damaged) => {
    expect(sourceFunctions(damaged)).toEqual([])
  },
)
