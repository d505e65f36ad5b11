// Element types: names, sizes, and conversion of elements to doubles and integers, on the host and the GPU.
#pragma once

#include "../include/kl_abi.h"
#include "parse.hpp"

#include <climits>
#include <cmath>
#include <cstring>
#include <string>

struct DtypeFacts {
  const char* name;
  KlDtype dtype;
  size_t bytes;
  bool isFloat;
  long long least, most;  // range of exactly representable integers; for u64, limited to long long
  const char* numpy;      // type name in .npy files, without byte order; numpy has no names for ml_dtypes types
};

constexpr DtypeFacts kDtypes[] = {
    {"f32", KL_F32, 4, true, -(1LL << 24), 1LL << 24, "f4"},
    {"f16", KL_F16, 2, true, -(1 << 11), 1 << 11, "f2"},
    {"bf16", KL_BF16, 2, true, -(1 << 8), 1 << 8, "V2 u2"},
    {"f64", KL_F64, 8, true, -(1LL << 53), 1LL << 53, "f8"},
    {"e4m3", KL_E4M3, 1, true, -16, 16, "V1 u1 f1"},
    {"e5m2", KL_E5M2, 1, true, -8, 8, "V1 u1 f1"},
    {"i8", KL_I8, 1, false, SCHAR_MIN, SCHAR_MAX, "i1"},
    {"i16", KL_I16, 2, false, SHRT_MIN, SHRT_MAX, "i2"},
    {"i32", KL_I32, 4, false, INT_MIN, INT_MAX, "i4"},
    {"i64", KL_I64, 8, false, LLONG_MIN, LLONG_MAX, "i8"},
    {"u8", KL_U8, 1, false, 0, UCHAR_MAX, "u1"},
    {"u16", KL_U16, 2, false, 0, USHRT_MAX, "u2"},
    {"u32", KL_U32, 4, false, 0, UINT_MAX, "u4"},
    {"u64", KL_U64, 8, false, 0, LLONG_MAX, "u8"},
};

inline const DtypeFacts& factsOf(KlDtype dtype) {
  for (const DtypeFacts& facts : kDtypes)
    if (facts.dtype == dtype) return facts;
  throw RunnerError{kBadInput, "bad-argument", "no such dtype"};
}

inline KlDtype parseDtype(const std::string& option, const std::string& name) {
  std::string names;
  for (const DtypeFacts& facts : kDtypes) {
    if (name == facts.name) return facts.dtype;
    names += (names.empty() ? "" : ", ") + std::string(facts.name);
  }
  badArgument(option + ": the dtype must be one of " + names + ", not '" + name + "'");
}

// ---- 8-bit and 16-bit floating-point types, without CUDA's headers, which are slow to compile ----

struct SmallFloat {
  int mantissa, bias;
  unsigned finite;    // bits of the largest finite number
  unsigned overflow;  // result for numbers above `finite`; 8-bit types saturate, like CUDA's own conversions
  bool hasInfinity;
};

__host__ __device__ inline SmallFloat smallFloat(KlDtype dtype) {
  switch (dtype) {
    case KL_F16: return {10, 15, 0x7bff, 0x7c00, true};
    case KL_BF16: return {7, 127, 0x7f7f, 0x7f80, true};
    case KL_E4M3: return {3, 7, 0x7e, 0x7e, false};
    default: return {2, 15, 0x7b, 0x7b, true};  // KL_E5M2
  }
}

// Encodes a number. Rounds to nearest, ties to even.
__host__ __device__ inline unsigned encodeSmall(double value, KlDtype dtype) {
  const SmallFloat f = smallFloat(dtype);
  const unsigned sign = dtype == KL_F16 || dtype == KL_BF16 ? 0x8000u : 0x80u;
  if (isnan(value)) return sign - 1;
  const unsigned minus = signbit(value) ? sign : 0;
  const double x = fabs(value);
  if (x == 0) return minus;
  int exponent;
  frexp(x, &exponent);
  exponent = exponent - 1 > 1 - f.bias ? exponent - 1 : 1 - f.bias;  // a subnormal has the smallest exponent
  // The leading bit is added to the exponent, so rounding up to the next power of two carries into the exponent.
  const unsigned bits =
      (unsigned(exponent + f.bias - 1) << f.mantissa) + unsigned(rint(ldexp(x, f.mantissa - exponent)));
  return minus | (isinf(x) || bits > f.finite ? f.overflow : bits);
}

__host__ __device__ inline double decodeSmall(unsigned bits, KlDtype dtype) {
  const SmallFloat f = smallFloat(dtype);
  const unsigned sign = dtype == KL_F16 || dtype == KL_BF16 ? 0x8000u : 0x80u;
  const unsigned magnitude = bits & (sign - 1), leading = 1u << f.mantissa;
  const unsigned exponent = magnitude >> f.mantissa, fraction = magnitude & (leading - 1);
  double value;
  if (magnitude > f.finite) value = f.hasInfinity && magnitude == f.finite + 1 ? INFINITY : NAN;
  else if (exponent == 0) value = ldexp(double(fraction), 1 - f.bias - f.mantissa);
  else value = ldexp(double(leading + fraction), int(exponent) - f.bias - f.mantissa);
  return bits & sign ? -value : value;
}

// ---- Elements ----

__host__ __device__ inline bool isFloat(KlDtype dtype) { return dtype <= KL_E5M2; }

__host__ __device__ inline double loadReal(const void* data, KlDtype dtype, long long i) {
  switch (dtype) {
    case KL_F32: return static_cast<const float*>(data)[i];
    case KL_F64: return static_cast<const double*>(data)[i];
    case KL_F16:
    case KL_BF16: return decodeSmall(static_cast<const unsigned short*>(data)[i], dtype);
    case KL_E4M3:
    case KL_E5M2: return decodeSmall(static_cast<const unsigned char*>(data)[i], dtype);
    case KL_I8: return static_cast<const signed char*>(data)[i];
    case KL_I16: return static_cast<const short*>(data)[i];
    case KL_I32: return static_cast<const int*>(data)[i];
    case KL_I64: return double(static_cast<const long long*>(data)[i]);
    case KL_U8: return static_cast<const unsigned char*>(data)[i];
    case KL_U16: return static_cast<const unsigned short*>(data)[i];
    case KL_U32: return static_cast<const unsigned*>(data)[i];
    case KL_U64: return double(static_cast<const unsigned long long*>(data)[i]);
  }
  return NAN;
}

// Stores a double in a floating-point type.
__host__ __device__ inline void storeReal(void* data, KlDtype dtype, long long i, double value) {
  if (dtype == KL_F32) static_cast<float*>(data)[i] = float(value);
  else if (dtype == KL_F64) static_cast<double*>(data)[i] = value;
  else if (dtype == KL_F16 || dtype == KL_BF16)
    static_cast<unsigned short*>(data)[i] = (unsigned short)encodeSmall(value, dtype);
  else static_cast<unsigned char*>(data)[i] = (unsigned char)encodeSmall(value, dtype);
}

// Stores an integer in any type; an integer type keeps the low bits.
__host__ __device__ inline void storeInteger(void* data, KlDtype dtype, long long i, long long value) {
  switch (dtype) {
    case KL_I8:
    case KL_U8: static_cast<unsigned char*>(data)[i] = (unsigned char)value; break;
    case KL_I16:
    case KL_U16: static_cast<unsigned short*>(data)[i] = (unsigned short)value; break;
    case KL_I32:
    case KL_U32: static_cast<unsigned*>(data)[i] = unsigned(value); break;
    case KL_I64:
    case KL_U64: static_cast<unsigned long long*>(data)[i] = (unsigned long long)value; break;
    default: storeReal(data, dtype, i, double(value));
  }
}

__host__ __device__ inline unsigned long long loadBits(const void* data, size_t bytes, long long i) {
  switch (bytes) {
    case 1: return static_cast<const unsigned char*>(data)[i];
    case 2: return static_cast<const unsigned short*>(data)[i];
    case 4: return static_cast<const unsigned*>(data)[i];
    default: return static_cast<const unsigned long long*>(data)[i];
  }
}

// Returns an element as JSON, with enough digits to distinguish values of type `like`. Infinities are strings; NaN is
// null.
inline std::string elementText(const void* element, KlDtype dtype, KlDtype like, bool exact) {
  // Integers above 2^53 can change when a reader parses them as doubles.
  constexpr long long kMostExact = 1LL << 53;
  const auto whole = [](const std::string& text, bool fits) { return fits ? text : Json::quote(text); };
  if (dtype == KL_U64) {
    const auto value = *static_cast<const unsigned long long*>(element);
    return whole(Json::text(value), value <= (unsigned long long)kMostExact);
  }
  if (dtype == KL_I64) {
    const auto value = *static_cast<const long long*>(element);
    return whole(Json::text(value), value >= -kMostExact && value <= kMostExact);
  }
  const double value = loadReal(element, dtype, 0);
  if (exact && isnan(value)) {
    char text[32];
    snprintf(text, sizeof text, "NaN (0x%0*llx)", int(2 * factsOf(dtype).bytes),
             loadBits(element, factsOf(dtype).bytes, 0));
    return Json::quote(text);
  }
  if (isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return Json::text(value, like == KL_F64 || !isFloat(like) ? 17 : 9);
}
