// Two pixels in a vector, and the one product that all blending is made of.
//
// The vectors are those of the compiler: SSE2 on x86_64, NEON on arm64 (not run here), plain arithmetic elsewhere.
#ifndef CROWBLEND_VECTORS_H
#define CROWBLEND_VECTORS_H

#include <string.h>

#include "CRowBlend.h"

#define INLINE static inline __attribute__((always_inline))

/// Two pixels of 16 bits a channel.
typedef uint16_t pair __attribute__((vector_size(16)));
typedef int16_t signed_pair __attribute__((vector_size(16)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

INLINE pair load_pair(const uint16_t *pixels) {
  pair value;
  memcpy(&value, pixels, sizeof value);
  return value;
}

INLINE void store_pair(uint16_t *pixels, pair value) { memcpy(pixels, &value, sizeof value); }

/// Two pixels of 8 bits a channel, each sample times 257: the same byte twice.
INLINE pair load_wide(const uint8_t *pixels) {
  bytes8 value;
  memcpy(&value, pixels, sizeof value);
  return (pair)__builtin_shufflevector(value, value, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
}

INLINE pair broadcast(uint16_t value) { return value - (pair){0}; }

/// Each pixel's alpha in all its channels.
INLINE pair alphas(pair pixels) { return __builtin_shufflevector(pixels, pixels, 3, 3, 3, 3, 7, 7, 7, 7); }

/// The upper halves of the products.
INLINE pair high_product(pair a, pair b) {
  typedef uint32_t wide __attribute__((vector_size(32)));
  // One instruction, which the compiler finds in this.
  return __builtin_convertvector(__builtin_convertvector(a, wide) * __builtin_convertvector(b, wide) >> 16, pair);
}

/// The nearest values to a * b / 65 535.
///
/// With t = a * b + 32 768 that is (t + (t >> 16)) >> 16: the upper half of t, and what carries into it when the upper
/// half is added to the lower. To compare unsigned numbers as signed ones their highest bits are flipped; adding 32 768
/// has flipped that of the lower half already.
INLINE pair scaled(pair a, pair b) {
  pair low = a * b;
  pair high = high_product(a, b) + (low >> 15);
  return high - (pair)((signed_pair)low > (signed_pair)(high ^ 0x7fff));
}

#endif
