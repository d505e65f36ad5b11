// The inputs, the FP64 reference, and the check of a result against it.
#pragma once

#include "arguments.hpp"
#include "device.hpp"
#include "errors.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

// ---- Inputs ----------------------------------------------------------------------------------

enum Matrix { kMatrixA = 0, kMatrixB = 1, kMatrixC = 2, kBias = 3 };

// Uniform in (-1, 1), a pure function of seed, matrix and index: the same on every GPU, in any
// order, and C can be made again instead of kept. The mixer is the finalizer of SplitMix64.
__host__ __device__ inline float uniform(long long seed, Matrix matrix, long long index) {
  unsigned long long x = (unsigned long long)seed * 0xd1342543de82ef95ull +
                         (unsigned long long)matrix * 0xa0761d6478bd642full +
                         (unsigned long long)(index + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  // 23 random bits give odd multiples of 2^-23: exact in a float, symmetric, never 0 and never 1.
  const int odd = 2 * int(x >> 41) + 1;
  return float(odd - (1 << 23)) * (1.0f / (1 << 23));
}

// 16-bit floats without their headers, which would take most of the compile time.
__device__ inline unsigned short toHalf(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ inline float fromHalf(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ inline unsigned short toBfloat(float value) {  // the inputs are finite: round to even
  const unsigned bits = __float_as_uint(value);
  return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

__device__ inline void storeInput(void* data, int dtype, long long i, float value) {
  if (dtype == KL_F32) static_cast<float*>(data)[i] = value;
  else static_cast<unsigned short*>(data)[i] = dtype == KL_F16 ? toHalf(value) : toBfloat(value);
}

__device__ inline float loadInput(const void* data, int dtype, long long i) {
  if (dtype == KL_F32) return static_cast<const float*>(data)[i];
  const unsigned short bits = static_cast<const unsigned short*>(data)[i];
  return dtype == KL_F16 ? fromHalf(bits) : __uint_as_float((unsigned)bits << 16);
}

__global__ void fillUniform(void* data, int dtype, long long count, long long seed, Matrix matrix) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    storeInput(data, dtype, i, uniform(seed, matrix, i));
}

// ---- FP64 reference --------------------------------------------------------------------------

constexpr int kRefTile = 64, kRefDepth = 16, kRefThreads = 16;  // 16 x 16 threads, 4 x 4 each

// A * B in FP64, and |A| * |B|, the scale of its rounding errors. The scale only sets a tolerance
// and sums positive terms, so FP32 does; that halves the FP64 work, which is slow on most GPUs.
__global__ void __launch_bounds__(kRefThreads* kRefThreads)
referenceTiles(const void* a, const void* b, int dtype, int m, int n, int k, long long firstTile,
               double* product, float* scale) {
  __shared__ double aTile[kRefDepth][kRefTile + 1], bTile[kRefDepth][kRefTile];
  __shared__ float aAbs[kRefDepth][kRefTile + 1], bAbs[kRefDepth][kRefTile];
  const int tilesN = (n + kRefTile - 1) / kRefTile;
  const long long tile = firstTile + blockIdx.x;
  const int row0 = int(tile / tilesN) * kRefTile, col0 = int(tile % tilesN) * kRefTile;
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kRefThreads + tx;

  double sum[4][4] = {};
  float sumAbs[4][4] = {};
  for (int t = 0; t < k; t += kRefDepth) {
    for (int e = thread; e < kRefTile * kRefDepth; e += kRefThreads * kRefThreads) {
      const int aRow = e / kRefDepth, aCol = e % kRefDepth, bRow = e / kRefTile, bCol = e % kRefTile;
      const float av = row0 + aRow < m && t + aCol < k
                           ? loadInput(a, dtype, (long long)(row0 + aRow) * k + t + aCol) : 0.0f;
      const float bv = t + bRow < k && col0 + bCol < n
                           ? loadInput(b, dtype, (long long)(t + bRow) * n + col0 + bCol) : 0.0f;
      aTile[aCol][aRow] = av;
      aAbs[aCol][aRow] = fabsf(av);
      bTile[bRow][bCol] = bv;
      bAbs[bRow][bCol] = fabsf(bv);
    }
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < kRefDepth; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sum[i][j] += aTile[d][ty + 16 * i] * bTile[d][tx + 16 * j];
          sumAbs[i][j] += aAbs[d][ty + 16 * i] * bAbs[d][tx + 16 * j];
        }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row >= m || col >= n) continue;
      product[(long long)row * n + col] = sum[i][j];
      scale[(long long)row * n + col] = sumAbs[i][j];
    }
}

// ---- Check -----------------------------------------------------------------------------------

struct Tally {
  unsigned long long mismatches = 0;
  unsigned long long first = ~0ull;  // the lowest index of a mismatch
  unsigned long long worst = 0;      // bits of the largest relative error; they sort like the doubles
  int nan = 0;
};

struct CheckInput {
  const float* c;
  const double* product;
  const float* scale;
  long long count, n, seed;
  double alpha, beta, tolerance;
  Epilogue epilogue;
};

// What is added to every row before the activation; 0 for a rung without a bias.
__host__ __device__ inline double biasAt(const CheckInput& in, long long i) {
  return in.epilogue.bias ? double(uniform(in.seed, kBias, i % in.n)) : 0;
}

__host__ __device__ inline double expectedAt(const CheckInput& in, double product, long long i) {
  const double c = in.beta == 0 ? 0 : in.beta * double(uniform(in.seed, kMatrixC, i));
  const double total = in.alpha * product + c + biasAt(in, i);
  return in.epilogue.activation == KL_RELU && total < 0 ? 0 : total;
}

__global__ void checkResult(CheckInput in, Tally* tally) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  double worst = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < in.count; i += stride) {
    const double error = fabs(double(in.c[i]) - expectedAt(in, in.product[i], i));
    double scale = fabs(in.alpha) * in.scale[i];
    if (in.beta != 0) scale += fabs(in.beta) * fabs(double(uniform(in.seed, kMatrixC, i)));
    // ReLU moves no two numbers further apart: the bound on what goes into it holds for what comes out.
    scale += fabs(biasAt(in, i));
    // Written so that a NaN, which compares false with everything, is a mismatch.
    if (!(error <= in.tolerance * scale)) {
      atomicAdd(&tally->mismatches, 1ull);
      atomicMin(&tally->first, (unsigned long long)i);
    }
    if (isnan(error)) tally->nan = 1;
    else if (error > 0) worst = fmax(worst, error / scale);
  }
  __shared__ unsigned long long blockWorst;
  if (threadIdx.x == 0) blockWorst = 0;
  __syncthreads();
  if (worst > 0) atomicMax(&blockWorst, (unsigned long long)__double_as_longlong(worst));
  __syncthreads();
  if (threadIdx.x == 0 && blockWorst) atomicMax(&tally->worst, blockWorst);
}

// ---- Memory ----------------------------------------------------------------------------------

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t bytes) { check(cudaMalloc(&data_, std::max<size_t>(bytes, 1)), "cudaMalloc"); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  void* get() const { return data_; }
  template <typename T> T* as() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

// A matrix between two guard bands of 0xff bytes. Around A and B these are NaN, so what a rung reads
// out there and uses is seen in the result; around C they show what it writes out there. A memory
// checker takes the bands for part of the allocation, so for it there are none.
class GuardedBuffer {
 public:
  static constexpr size_t kBand = 1 << 20;
  static size_t totalBytes(size_t bytes) { return bytes + 2 * kBand; }

  GuardedBuffer(size_t bytes, bool guarded)
      : guard_(guarded ? kBand : 0), bytes_(bytes), memory_(bytes + 2 * guard_) {
    armGuards();
  }

  char* data() const { return memory_.as<char>() + guard_; }

  void armGuards() {
    if (!guard_) return;
    check(cudaMemset(data() - guard_, 0xff, guard_), "cudaMemset");
    check(cudaMemset(data() + bytes_, 0xff, guard_), "cudaMemset");
  }

  bool guardsIntact() const {
    std::vector<unsigned char> band(guard_);
    for (const char* start : {data() - guard_, data() + bytes_}) {
      check(cudaMemcpy(band.data(), start, guard_, cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (std::any_of(band.begin(), band.end(), [](unsigned char byte) { return byte != 0xff; })) return false;
    }
    return true;
  }

 private:
  size_t guard_, bytes_;
  DeviceBuffer memory_;
};

// ---- The problem -----------------------------------------------------------------------------

inline size_t inputBytes(KlDtype dtype) { return dtype == KL_F32 ? 4 : 2; }

// Of FP32, whatever the type of A and B: their elements are rounded before the reference reads them, so that only the
// sums of a rung round.
constexpr double kUnitRoundoff = 0x1p-24;

struct Verification {
  bool passed = false, outOfBounds = false;
  double worstRelativeError = 0, worstToleranceRatio = 0;  // NaN when the result holds a NaN
  unsigned long long mismatches = 0;
  long long firstRow = -1, firstCol = -1;
  double expected = 0, actual = 0;

  void print(const std::string& rung) const {
    Json line("verify");
    line.string("rung", rung).boolean("passed", passed);
    line.number("worstRelativeError", worstRelativeError).number("worstToleranceRatio", worstToleranceRatio);
    line.number("mismatches", mismatches);
    if (firstRow < 0) line.null("firstMismatch");
    else line.raw("firstMismatch", "{\"row\":" + Json::text(firstRow) + ",\"col\":" + Json::text(firstCol) +
                                       ",\"expected\":" + Json::text(expected) + ",\"actual\":" + Json::text(actual) + "}");
    line.boolean("outOfBounds", outOfBounds).print();
  }
};

class Problem {
 public:
  // Of GPU memory; with what it takes to check a result.
  static size_t bytes(const Arguments& args, KlDtype dtype, bool reference, bool bias) {
    const size_t input = inputBytes(dtype), m = args.m, n = args.n, k = args.k;
    return GuardedBuffer::totalBytes(m * k * input) + GuardedBuffer::totalBytes(k * n * input) +
           GuardedBuffer::totalBytes(m * n * sizeof(float)) +
           (bias ? GuardedBuffer::totalBytes(n * sizeof(float)) : 0) + (reference ? m * n * (sizeof(double) + sizeof(float)) : 0);
  }

  // With a bias where one of its rungs adds one.
  Problem(const Arguments& args, KlDtype dtype, const Device& device, bool reference, bool bias, bool guarded = true)
      : args_(args), dtype_(dtype), smCount_(device.properties.multiProcessorCount),
        a_(args.m * args.k * inputBytes(dtype), guarded), b_(args.k * args.n * inputBytes(dtype), guarded),
        c_(args.m * args.n * sizeof(float), guarded) {
    if (reference) {
      product_ = std::make_unique<DeviceBuffer>(count() * sizeof(double));
      scale_ = std::make_unique<DeviceBuffer>(count() * sizeof(float));
    }
    if (bias) {
      bias_ = std::make_unique<GuardedBuffer>(args.n * sizeof(float), guarded);
      fill(bias_->data(), KL_F32, args.n, kBias, nullptr);
    }
    fill(a_.data(), dtype, args.m * args.k, kMatrixA, nullptr);
    fill(b_.data(), dtype, args.k * args.n, kMatrixB, nullptr);
    check(cudaDeviceSynchronize(), "filling the inputs");
  }

  KlGemm gemm(const Epilogue& epilogue) const {
    return {args_.m, args_.n, args_.k, args_.alpha, args_.beta, a_.data(), b_.data(),
            reinterpret_cast<float*>(c_.data()), dtype_, nullptr, 0,
            epilogue.bias ? reinterpret_cast<const float*>(bias_->data()) : nullptr, epilogue.activation};
  }

  // What C holds before a launch: NaN when it must not be read, else the seeded C0.
  void resetC(cudaStream_t stream) {
    if (args_.beta == 0) check(cudaMemsetAsync(c_.data(), 0xff, count() * sizeof(float), stream), "cudaMemset");
    else fill(c_.data(), KL_F32, count(), kMatrixC, stream);
  }

  void armGuards() { c_.armGuards(); }

  // FP64 on the GPU, once, in launches short enough for a GPU with slow FP64 and a display.
  void computeReference() {
    if (referenceDone_) return;
    referenceDone_ = true;
    const auto tilesOf = [](long long size) { return (size + kRefTile - 1) / kRefTile; };
    const long long tiles = tilesOf(args_.m) * tilesOf(args_.n);
    const double flopsATile = 2.0 * kRefTile * kRefTile * args_.k, flopsALaunch = 1e10;
    const long long chunk = std::min(1LL << 20, std::max<long long>(2 * smCount_, flopsALaunch / flopsATile));

    auto last = std::chrono::steady_clock::now();
    for (long long first = 0; first < tiles; first += chunk) {
      const unsigned blocks = unsigned(std::min(chunk, tiles - first));
      referenceTiles<<<blocks, dim3(kRefThreads, kRefThreads)>>>(
          a_.data(), b_.data(), dtype_, int(args_.m), int(args_.n), int(args_.k), first,
          product_->as<double>(), scale_->as<float>());
      check(cudaGetLastError(), "computing the FP64 reference");
      check(cudaDeviceSynchronize(), "computing the FP64 reference");
      const auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::milliseconds(250)) continue;
      last = now;
      Json("progress").string("stage", "reference").number("fraction", double(first + blocks) / tiles).print();
    }
  }

  Verification verify(const Epilogue& epilogue) {
    const CheckInput in{reinterpret_cast<float*>(c_.data()), product_->as<double>(), scale_->as<float>(), count(),
                        args_.n, args_.seed, args_.alpha, args_.beta,
                        4 * std::sqrt(double(args_.k)) * kUnitRoundoff, epilogue};
    Tally tally;
    const DeviceBuffer tallyOnDevice(sizeof tally);
    check(cudaMemcpy(tallyOnDevice.get(), &tally, sizeof tally, cudaMemcpyHostToDevice), "cudaMemcpy");
    checkResult<<<blocksFor(count()), 256>>>(in, tallyOnDevice.as<Tally>());
    check(cudaGetLastError(), "checking the result");
    check(cudaMemcpy(&tally, tallyOnDevice.get(), sizeof tally, cudaMemcpyDeviceToHost), "checking the result");

    Verification result;
    result.mismatches = tally.mismatches;
    result.outOfBounds = !c_.guardsIntact();
    result.passed = tally.mismatches == 0 && !result.outOfBounds;
    memcpy(&result.worstRelativeError, &tally.worst, sizeof tally.worst);
    if (tally.nan) result.worstRelativeError = NAN;
    result.worstToleranceRatio = result.worstRelativeError / in.tolerance;
    if (tally.mismatches) {
      const long long index = (long long)tally.first;
      double product = 0;
      float actual = 0;
      check(cudaMemcpy(&product, in.product + index, sizeof product, cudaMemcpyDeviceToHost), "cudaMemcpy");
      check(cudaMemcpy(&actual, in.c + index, sizeof actual, cudaMemcpyDeviceToHost), "cudaMemcpy");
      result.firstRow = index / args_.n;
      result.firstCol = index % args_.n;
      result.expected = expectedAt(in, product, index);
      result.actual = actual;
    }
    return result;
  }

 private:
  long long count() const { return args_.m * args_.n; }

  unsigned blocksFor(long long elements) const {
    return unsigned(std::min<long long>((elements + 255) / 256, 8LL * smCount_));
  }

  void fill(void* data, KlDtype dtype, long long elements, Matrix matrix, cudaStream_t stream) {
    fillUniform<<<blocksFor(elements), 256, 0, stream>>>(data, dtype, elements, args_.seed, matrix);
    check(cudaGetLastError(), "filling a matrix");
  }

  const Arguments& args_;
  KlDtype dtype_;
  int smCount_;
  GuardedBuffer a_, b_, c_;
  std::unique_ptr<GuardedBuffer> bias_;
  std::unique_ptr<DeviceBuffer> product_, scale_;  // the reference
  bool referenceDone_ = false;
};

// The problem once for each input type that a rung asks for: the same seeded values, rounded to it.
class Problems {
 public:
  // Throws out-of-memory before anything is allocated. extraBytes is what the caller will allocate.
  static std::set<KlDtype> requireMemory(const Arguments& args, const Device& device, bool reference, size_t extraBytes) {
    std::set<KlDtype> dtypes;
    for (const RungPath& rung : args.rungs) dtypes.insert(rung.dtype);
    size_t needed = extraBytes;
    for (const KlDtype dtype : dtypes) needed += Problem::bytes(args, dtype, reference, hasBias(args, dtype));
    if (needed > device.freeBytes)
      throw RunnerError{kBadInput, "out-of-memory",
                        "this problem needs " + std::to_string(needed >> 20) + " MiB of GPU memory and " +
                            std::to_string(device.freeBytes >> 20) + " MiB are free",
                        needed, device.freeBytes};
    return dtypes;
  }

  Problems(const Arguments& args, const Device& device, bool reference, size_t extraBytes) {
    for (const KlDtype dtype : requireMemory(args, device, reference, extraBytes))
      problems_.try_emplace(dtype, args, dtype, device, reference, hasBias(args, dtype));
  }

  Problem& operator[](KlDtype dtype) { return problems_.at(dtype); }

 private:
  static bool hasBias(const Arguments& args, KlDtype dtype) {
    return std::any_of(args.rungs.begin(), args.rungs.end(),
                       [&](const RungPath& rung) { return rung.dtype == dtype && rung.epilogue.bias; });
  }

  std::map<KlDtype, Problem> problems_;
};
