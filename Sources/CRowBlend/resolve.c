// Turning a plane into pixels to be written.
#include "vectors.h"

typedef int32_t words4 __attribute__((vector_size(16)));
typedef float floats4 __attribute__((vector_size(16)));
typedef uint16_t half_pair __attribute__((vector_size(8)));
typedef uint8_t bytes4 __attribute__((vector_size(4)));

/// The least alpha that is not 0 with 8 bits.
enum { LEAST_ALPHA = 129 };

/// Opaque pixels: (v + 128) / 257, which is (255 v + 32 895) / 65 536 rounded down.
INLINE void resolve_opaque(const uint16_t *plane, uint8_t *pixels) {
  pair value = load_pair(plane);
  // All bits set, that is -1, where adding 32 895 to the lower half carries.
  pair carry = (pair)(value * 255 > 65535 - 32895);
  bytes8 narrow = __builtin_convertvector(high_product(value, broadcast(255)) - carry, bytes8);
  memcpy(pixels, &narrow, sizeof narrow);
}

/// A pixel that is not quite transparent. The dividends have 24 bits, so that a float holds them; and the quotients, as
/// far as they are below 256, lie further from the next whole number than a float is inexact.
INLINE void resolve_one(const uint16_t *plane, uint8_t *pixels) {
  half_pair value;
  memcpy(&value, plane, sizeof value);
  int32_t alpha = plane[3];
  words4 dividend = __builtin_convertvector(value, words4) * 255 + (alpha >> 1);
  words4 divisor = (words4){0} + alpha;
  dividend[3] = alpha + 128;
  divisor[3] = 257;
  floats4 quotient = __builtin_convertvector(dividend, floats4) / __builtin_convertvector(divisor, floats4);
  words4 whole = __builtin_convertvector(quotient, words4);
  bytes4 narrow = __builtin_convertvector(__builtin_elementwise_min(whole, (words4){0} + 255), bytes4);
  memcpy(pixels, &narrow, sizeof narrow);
}

void crb_resolve(const uint16_t *plane, size_t count, uint8_t *pixels) {
  size_t index = 0;
  while (index < count) {
    const uint16_t *here = plane + 4 * index;
    uint8_t *there = pixels + 4 * index;
    if (index + 2 <= count && (here[3] & here[7]) == 65535) {
      resolve_opaque(here, there);
      index += 2;
      continue;
    }
    if (here[3] < LEAST_ALPHA) {
      memset(there, 0, 4);
    } else {
      resolve_one(here, there);
    }
    index++;
  }
}
