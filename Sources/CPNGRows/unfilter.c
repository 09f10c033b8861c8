// Taking the filters off rows (PNG specification, 9.2).
//
// Each pixel needs the one to its left, so the work is a chain, and its speed is that of one link. A whole pixel is
// worked on at a time, each sample in 16 bits of a vector. The vectors are those of the compiler, which become SSE2
// on x86_64, NEON on arm64 (not run here) and plain arithmetic elsewhere. Written in SSE2's own functions the slowest
// loop, Paeth's, took a tenth less, a fiftieth of reading a row; that is not worth having each of them three times.
#include <string.h>

#include "CPNGRows.h"

typedef int16_t samples __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

#define INLINE static inline __attribute__((always_inline))

/// A pixel of `size` bytes, a constant. What else the vector holds comes from behind the pixel and is not used.
INLINE samples load(const uint8_t *pixel, unsigned size) {
  bytes8 bytes = {0};
  // 3 and 6 bytes would take two reads each.
  memcpy(&bytes, pixel, size <= 2 ? size : size <= 4 ? 4 : 8);
  return __builtin_convertvector(bytes, samples);
}

INLINE void store(uint8_t *pixel, samples value, unsigned size) {
  bytes8 bytes = __builtin_convertvector(value, bytes8);
  // Not beyond the pixel: there the row above still is.
  memcpy(pixel, &bytes, size);
}

INLINE samples choose(samples mask, samples yes, samples no) { return (mask & yes) | (~mask & no); }

INLINE void unfilter_sub(const uint8_t *filtered, uint8_t *row, size_t count, unsigned size) {
  samples left = {0};
  for (size_t index = 0; index < count; index += size) {
    left = (left + load(filtered + index, size)) & 255;
    store(row + index, left, size);
  }
}

static void unfilter_up(const uint8_t *restrict filtered, uint8_t *restrict row, size_t count) {
  for (size_t index = 0; index < count; index++) row[index] += filtered[index];
}

INLINE void unfilter_average(const uint8_t *filtered, uint8_t *row, size_t count, unsigned size) {
  samples left = {0};
  for (size_t index = 0; index < count; index += size) {
    samples up = load(row + index, size);
    left = (((left + up) >> 1) + load(filtered + index, size)) & 255;
    store(row + index, left, size);
  }
}

/// Adds whichever of left, up and corner is nearest to left + up - corner, in this order.
///
/// With the smaller and the larger of left and up, that is the larger where the corner is below both, the smaller
/// where it is above both, and in between the corner unless it is at least twice as near to one of them as to the
/// other: then the far one. All of that is where 3 corner - left - up lies, to which the larger and the smaller are
/// compared. Left, which is known last, so passes through fewer steps than by the three distances.
INLINE void unfilter_paeth(const uint8_t *filtered, uint8_t *row, size_t count, unsigned size) {
  samples left = {0}, corner = {0};
  for (size_t index = 0; index < count; index += size) {
    samples up = load(row + index, size);
    samples middle = (3 * corner - up) - left;
    samples low = __builtin_elementwise_min(left, up), high = __builtin_elementwise_max(left, up);
    samples nearest = choose(high > middle, corner, low);
    nearest = choose(middle > low, nearest, high);
    left = (nearest + load(filtered + index, size)) & 255;
    store(row + index, left, size);
    corner = up;
  }
}

INLINE bool unfilter(unsigned filter, const uint8_t *filtered, uint8_t *row, size_t count, unsigned size) {
  switch (filter) {
    case 0: memcpy(row, filtered, count); return true;
    case 1: unfilter_sub(filtered, row, count, size); return true;
    case 2: unfilter_up(filtered, row, count); return true;
    case 3: unfilter_average(filtered, row, count, size); return true;
    case 4: unfilter_paeth(filtered, row, count, size); return true;
    default: return false;
  }
}

bool cpr_unfilter(unsigned filter, const uint8_t *filtered, uint8_t *row, size_t count, unsigned pixel) {
  // Each call is a loop of its own, made for pixels of this size.
  switch (pixel) {
    case 1: return unfilter(filter, filtered, row, count, 1);
    case 2: return unfilter(filter, filtered, row, count, 2);
    case 3: return unfilter(filter, filtered, row, count, 3);
    case 4: return unfilter(filter, filtered, row, count, 4);
    case 6: return unfilter(filter, filtered, row, count, 6);
    default: return unfilter(filter, filtered, row, count, 8);
  }
}
