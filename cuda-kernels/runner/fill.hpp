// The initial contents of a buffer: a pure function of seed, stream and index. Every GPU produces the same contents in
// any order, so a buffer can be refilled instead of stored.
#pragma once

#include "dtype.hpp"

#include <climits>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

// NumPy .npy files: strict parsing of the header, then the data.

class NpyFile {
 public:
  // Reads the header and rejects a file that is not an array of the given type and shape.
  NpyFile(const std::string& path, const DtypeFacts& dtype, const std::vector<long long>& shape) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot be opened");
    unsigned char start[12] = {};
    file.read(reinterpret_cast<char*>(start), 10);
    if (!file || memcmp(start, "\x93NUMPY", 6) != 0) fail("is not a .npy file");
    size_t length = start[8] | start[9] << 8;
    data_ = 10;
    if (start[6] >= 2) {  // since version 2, the header length has four bytes
      file.read(reinterpret_cast<char*>(start) + 10, 2);
      length |= size_t(start[10]) << 16 | size_t(start[11]) << 24;
      data_ = 12;
    }
    if (length > (1 << 20)) fail("has a header of more than 1 MiB");
    std::string header(length, ' ');
    if (!file.read(header.data(), std::streamsize(length))) fail("ends within its header");
    data_ += length;

    requireType(value(header, "descr"), dtype);
    if (value(header, "fortran_order").rfind("False", 0) != 0) fail("is in Fortran order: save a C-ordered copy");
    requireShape(value(header, "shape"), shape);
    bytes_ = dtype.bytes;
    for (const long long extent : shape) bytes_ *= size_t(extent);
    file.seekg(0, std::ios::end);
    if (size_t(file.tellg()) < data_ + bytes_) fail("ends within its data");
  }

  // Reads the data in pieces and passes each piece to `take`.
  void read(const std::function<void(size_t offset, const void* piece, size_t bytes)>& take) const {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(std::streamoff(data_));
    std::vector<char> piece(std::min<size_t>(bytes_, 16 << 20));
    for (size_t done = 0; done < bytes_; done += piece.size()) {
      const size_t count = std::min(piece.size(), bytes_ - done);
      if (!file.read(piece.data(), std::streamsize(count))) fail("cannot be read to its end");
      take(done, piece.data(), count);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw RunnerError{kBadInput, "file", path_ + " " + what}; }

  // Returns the header text that follows 'key':. The header is a Python dictionary with three fixed keys.
  std::string value(const std::string& header, const std::string& key) const {
    size_t at = header.find("'" + key + "'");
    if (at != std::string::npos) at = header.find(':', at);
    if (at != std::string::npos) at = header.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos) fail("has no '" + key + "' in its header");
    return header.substr(at);
  }

  void requireType(const std::string& descr, const DtypeFacts& dtype) const {
    // The string contains the byte order and the type, such as '<f4'.
    const std::string type = descr.size() > 1 && descr[0] == '\'' ? descr.substr(1, descr.find('\'', 1) - 1) : "";
    const bool littleEndian = type.size() > 1 && (type[0] == '<' || type[0] == '|');
    for (const std::string& name : split(dtype.numpy, ' '))
      if (littleEndian && type.substr(1) == name) return;
    fail("holds " + (type.empty() ? "records" : "'" + type + "'") + ", the buffer is " + dtype.name);
  }

  void requireShape(const std::string& text, const std::vector<long long>& shape) const {
    const std::string inside = text.size() > 1 && text[0] == '(' ? text.substr(1, text.find(')') - 1) : "";
    std::vector<long long> found;
    for (const std::string& part : split(inside, ','))
      if (part.find_first_of("0123456789") != std::string::npos) found.push_back(atoll(part.c_str()));
    if (found != shape) fail("has the shape (" + inside + "), not that of the buffer");
  }

  std::string path_;
  size_t data_ = 0, bytes_ = 0;
};

struct FillRule {
  enum Kind { kPoison, kUniform, kNormal, kConstant, kIota, kPermutation, kFile, kComputed } kind = kPoison;
  double real[2] = {};        // floats: lo and hi, mean and deviation, or the constant
  long long integer[2] = {};  // integers: lo and hi, or the constant
  // Infinities or NaN replace values in every `every`th line of `line` elements; 0 disables this replacement.
  long long every = 0, line = 1;
};

inline FillRule parseFill(const std::string& option, const std::string& text, const DtypeFacts& dtype,
                          long long count) {
  const std::vector<std::string> parts = split(text, ',');
  const std::string& kind = parts[0];
  FillRule rule;
  const auto takes = [&](size_t values) {
    if (parts.size() != values + 1)
      badArgument(option + ": " + kind + " takes " + std::to_string(values) + " values, not '" + text + "'");
  };
  const auto values = [&](size_t number) {
    if (dtype.isFloat && number == 2 && parts.size() == 4) rule.every = parseInteger(option, parts[3], 1, LLONG_MAX);
    else takes(number);
    for (size_t i = 0; i < number; ++i) {
      if (dtype.isFloat) rule.real[i] = parseReal(option, parts[i + 1], -1e300, 1e300);
      else rule.integer[i] = parseInteger(option, parts[i + 1], dtype.least, dtype.most);
    }
  };
  if (kind == "uniform") {
    rule.kind = FillRule::kUniform;
    values(2);
    if (dtype.isFloat ? !(rule.real[0] < rule.real[1]) : rule.integer[0] > rule.integer[1])
      badArgument(option + ": uniform must go from a lower value to a higher one, not '" + text + "'");
  } else if (kind == "normal") {
    if (!dtype.isFloat) badArgument(option + ": normal fills floating-point buffers only");
    rule.kind = FillRule::kNormal;
    values(2);
  } else if (kind == "constant") {
    rule.kind = FillRule::kConstant;
    values(1);
  } else if (kind == "zero") {
    rule.kind = FillRule::kConstant;
    takes(0);
  } else if (kind == "iota") {
    rule.kind = FillRule::kIota;
    takes(0);
  } else if (kind == "permutation") {
    rule.kind = FillRule::kPermutation;
    takes(0);
    if (count - 1 > dtype.most)
      badArgument(option + ": a permutation of " + std::to_string(count) + " elements does not fit into " + dtype.name);
  } else if (kind == "file") {
    rule.kind = FillRule::kFile;
  } else if (kind == "computed") {
    rule.kind = FillRule::kComputed;
    takes(0);
  } else {
    badArgument(option +
                ": the fill must be uniform, normal, constant, zero, iota, permutation, file or computed, not '" +
                kind + "'");
  }
  return rule;
}

// ---- On the GPU ------------------------------------------------------------------------------

// Mixes bits with the finalizer of SplitMix64.
__host__ __device__ inline unsigned long long mixBits(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

struct RandomStream {
  long long seed, stream;

  __host__ __device__ unsigned long long bits(long long index) const {
    return mixBits((unsigned long long)seed * 0xd1342543de82ef95ull +
                   (unsigned long long)stream * 0xa0761d6478bd642full +
                   (unsigned long long)(index + 1) * 0x9e3779b97f4a7c15ull);
  }
};

// Returns a random number in (-1, 1), which is an odd multiple of 2^-places. Its distribution is symmetric around 0 and
// excludes 0 and 1. A float holds 23 places exactly. An f64 gets 52 places, so a rung that computes in float fails an
// exact check.
__host__ __device__ inline double uniformOf(unsigned long long bits, int places) {
  const long long odd = 2 * (long long)(bits >> (64 - places)) + 1;
  return ldexp(double(odd - (1LL << places)), -places);
}

// Returns a normally distributed number (Box-Muller): the radius uses the upper half of the bits, the angle the lower
// half.
__device__ inline double normalOf(unsigned long long bits) {
  const double length = double((bits >> 32) + 1) * 0x1p-32, angle = double(unsigned(bits)) * 0x1p-32;
  return sqrt(-2 * log(length)) * cospi(2 * angle);
}

// Maps an index through a permutation of 0 … count - 1. Applies four rounds of a Feistel network over an even number of
// bits, and repeats until the result is below count.
struct Permutation {
  long long count;
  int halfBits;

  explicit Permutation(long long count) : count(count), halfBits(1) {
    while (1LL << (2 * halfBits) < count) ++halfBits;
  }

  __host__ __device__ long long at(const RandomStream& random, long long index) const {
    const unsigned long long mask = (1ull << halfBits) - 1;
    do {
      unsigned long long left = (unsigned long long)index >> halfBits, right = index & mask;
      for (int round = 0; round < 4; ++round) {
        const unsigned long long next = left ^ (random.bits((long long)(right << 2 | round)) & mask);
        left = right;
        right = next;
      }
      index = (long long)(left << halfBits | right);
    } while (index >= count);
    return index;
  }
};

// Cycles through four special lines: a line of -infinity, then lines with one -infinity, infinity or NaN at a random
// place. Returns false if the element keeps its random value.
__host__ __device__ inline bool specialAt(const FillRule& rule, const RandomStream& random, long long count,
                                          long long i, double& value) {
  if (rule.every == 0) return false;
  const long long line = i / rule.line;
  if ((line + 1) % rule.every != 0) return false;
  const long long kind = ((line + 1) / rule.every - 1) % 4;
  value = kind < 2 ? -INFINITY : kind == 2 ? INFINITY : NAN;
  // Uses random-stream indices above those of the elements.
  return kind == 0 || i % rule.line == (long long)((random.bits(count + line) >> 32) % (unsigned long long)rule.line);
}

__global__ void fillBuffer(void* data, KlDtype dtype, long long count, FillRule rule, RandomStream random,
                           Permutation permutation) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  const double middle = (rule.real[0] + rule.real[1]) / 2, half = (rule.real[1] - rule.real[0]) / 2;
  const unsigned long long span = (unsigned long long)(rule.integer[1] - rule.integer[0]) + 1;  // 0 means 2^64
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    double special;
    if (specialAt(rule, random, count, i, special)) {
      storeReal(data, dtype, i, special);
      continue;
    }
    switch (rule.kind) {
      case FillRule::kUniform: {
        const unsigned long long bits = random.bits(i);
        // Rounds twice, like the emulator. A fused multiply-add would change the last bits.
        if (isFloat(dtype))
          storeReal(data, dtype, i, __dadd_rn(middle, __dmul_rn(half, uniformOf(bits, dtype == KL_F64 ? 52 : 23))));
        else storeInteger(data, dtype, i, rule.integer[0] + (long long)(span ? __umul64hi(bits, span) : bits));
        break;
      }
      case FillRule::kNormal: storeReal(data, dtype, i, rule.real[0] + rule.real[1] * normalOf(random.bits(i))); break;
      case FillRule::kConstant:
        if (isFloat(dtype)) storeReal(data, dtype, i, rule.real[0]);
        else storeInteger(data, dtype, i, rule.integer[0]);
        break;
      case FillRule::kIota: storeInteger(data, dtype, i, i); break;
      case FillRule::kPermutation: storeInteger(data, dtype, i, permutation.at(random, i)); break;
      default: break;
    }
  }
}

// Returns enough 256-thread blocks to fill the GPU with a grid-stride loop.
inline unsigned blocksFor(long long elements, int smCount) {
  return unsigned(std::min<long long>((elements + 255) / 256, 8LL * smCount));
}
