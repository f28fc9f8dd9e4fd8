// reprise: the distributions of the random ops, element by element.

#include "reprise/Reference/Random.h"
#include "reprise/Reference/Elementary.h"

namespace reprise::reference {
namespace {

template <typename F> F affine(F unit, double low, double high) {
  F product = static_cast<F>(high - low) * unit;
  return static_cast<F>(low) + product;
}

template <typename F> F dropoutOf(const Draw &draw, uint64_t index, F x, double rate) {
  return bernoulli(draw, index, rate) ? F(0) : x * static_cast<F>(1 / (1 - rate));
}

} // namespace

float uniformF32(const Draw &draw, uint64_t index, double low, double high) {
  return affine(static_cast<float>(draw.word(index) >> 8) * 0x1p-24f, low, high);
}

float uniformF16(const Draw &draw, uint64_t index, double low, double high) {
  return affine(static_cast<float>(draw.word(index) >> 21) * 0x1p-11f, low, high);
}

float uniformBf16(const Draw &draw, uint64_t index, double low, double high) {
  return affine(static_cast<float>(draw.word(index) >> 24) * 0x1p-8f, low, high);
}

double uniformF64(const Draw &draw, uint64_t index, double low, double high) {
  return affine(static_cast<double>(draw.word(index)) * 0x1p-32, low, high);
}

int64_t uniformInt(const Draw &draw, uint64_t index, int64_t low, int64_t high) {
  uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(low) +
                              (static_cast<uint64_t>(draw.word(index)) * span >> 32));
}

float normal(const Draw &draw, uint64_t index, double mean, double std) {
  const uint64_t first = index & ~uint64_t(1);
  float u1 = static_cast<float>((draw.word(first) >> 8) + 1) * 0x1p-24f;
  float u2 = static_cast<float>(draw.word(first + 1) >> 8) * 0x1p-24f;
  float radius = sqrt(-2.0f * log(u1));
  float sine, cosine;
  sinCosOfTurn(u2, sine, cosine);
  float z = radius * (index & 1 ? sine : cosine);
  float scaled = static_cast<float>(std) * z;
  return static_cast<float>(mean) + scaled;
}

uint64_t hitThreshold(double probability) {
  // The product is exact, and the conversion drops the fraction.
  return static_cast<uint64_t>(probability * 0x1p32);
}

bool bernoulli(const Draw &draw, uint64_t index, double probability) {
  return static_cast<uint64_t>(draw.word(index)) < hitThreshold(probability);
}

float dropout(const Draw &draw, uint64_t index, float x, double rate) {
  return dropoutOf(draw, index, x, rate);
}

double dropout(const Draw &draw, uint64_t index, double x, double rate) {
  return dropoutOf(draw, index, x, rate);
}

} // namespace reprise::reference
