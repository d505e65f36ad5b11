// Tests the parts of the runner that need no GPU: buffer fills, and small float types compared with
// CUDA's conversions.
#include "../../../cuda-kernels/runner/fill.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool right, const char* what, unsigned long long at) {
  if (!right && ++failures < 20) fprintf(stderr, "%s is wrong at %llx\n", what, at);
}

static float asFloat(unsigned bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool same(double a, double b) { return a == b ? signbit(a) == signbit(b) : std::isnan(a) && std::isnan(b); }

int main() {
  for (unsigned bits = 0; bits < 1 << 16; ++bits) {
    __half_raw half;
    half.x = (unsigned short)bits;
    __nv_bfloat16_raw bfloat;
    bfloat.x = (unsigned short)bits;
    expect(same(decodeSmall(bits, KL_F16), __half2float(__half(half))), "f16 read", bits);
    expect(same(decodeSmall(bits, KL_BF16), __bfloat162float(__nv_bfloat16(bfloat))), "bf16 read", bits);
  }
  for (unsigned bits = 0; bits < 1 << 8; ++bits) {
    const auto toFloat = [&](__nv_fp8_interpretation_t kind) {
      return double(__half2float(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)bits, kind))));
    };
    expect(same(decodeSmall(bits, KL_E4M3), toFloat(__NV_E4M3)), "e4m3 read", bits);
    expect(same(decodeSmall(bits, KL_E5M2), toFloat(__NV_E5M2)), "e5m2 read", bits);
  }
  // Test every 977th float of both signs.
  for (unsigned long long bits = 0; bits <= 0xffffffffull; bits += 977) {
    const float value = asFloat(unsigned(bits));
    if (!std::isfinite(value)) continue;
    expect(encodeSmall(value, KL_F16) == __half_raw(__float2half_rn(value)).x, "f16 written", bits);
    expect(encodeSmall(value, KL_BF16) == __nv_bfloat16_raw(__float2bfloat16_rn(value)).x, "bf16 written", bits);
    expect(encodeSmall(value, KL_E4M3) == __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3), "e4m3 written",
           bits);
    expect(encodeSmall(value, KL_E5M2) == __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2), "e5m2 written",
           bits);
  }

  for (const long long count : {1LL, 2LL, 3LL, 5LL, 64LL, 1000LL, 65537LL}) {
    std::vector<bool> seen(size_t(count), false);
    const Permutation permutation(count);
    for (long long i = 0; i < count; ++i) {
      const long long to = permutation.at({7, 2}, i);
      expect(to >= 0 && to < count && !seen[size_t(to)], "a permutation", (unsigned long long)i);
      if (to >= 0 && to < count) seen[size_t(to)] = true;
    }
  }

  // Earlier recordings were verified with the following values.
  const RandomStream random{1, 2};
  const unsigned first[] = {0x3f0b0842, 0xbf69410a, 0xbf26d73e, 0xbe656618};
  for (long long i = 0; i < (long long)(sizeof first / sizeof *first); ++i) {
    const float value = float(uniformOf(random.bits(i), 23));
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    expect(bits == first[i], "a uniform value", (unsigned long long)i);
  }
  // The f64 values are the same as in test/domain/emulator/arithmetic.test.ts.
  const unsigned long long firstDoubles[] = {0x3fe1610801a55156, 0xbfed28210dce1852, 0xbfe4dae7c35ad4da,
                                               0xbfccacc219df00a8};
  for (long long i = 0; i < (long long)(sizeof firstDoubles / sizeof *firstDoubles); ++i) {
    const double value = uniformOf(random.bits(i), 52);
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    expect(bits == firstDoubles[i], "a uniform f64", (unsigned long long)i);
  }
  if (failures == 0) printf("ok\n");
  return failures ? 1 : 0;
}
