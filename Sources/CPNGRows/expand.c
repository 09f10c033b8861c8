// Widening rows to RGBA with straight alpha: grey to three channels, indexes to colours, full alpha where there is
// none, and samples to 8 or 16 bits.
#include <string.h>

#include "CPNGRows.h"

#define INLINE static inline __attribute__((always_inline))

/// A sample, as it is in the file. The size is a constant.
INLINE uint32_t sample(const uint8_t *bytes, unsigned size) {
  return size == 1 ? bytes[0] : (uint32_t)bytes[0] << 8 | bytes[1];
}

/// A sample of one size in another. Narrowing gives the nearest value, the same as (value + 128) / 257.
INLINE uint32_t resized(uint32_t value, unsigned from, unsigned to) {
  if (from == to) return value;
  return from == 1 ? value * 257 : (value * 255 + 32895) >> 16;
}

INLINE void put(void *target, size_t index, uint32_t value, unsigned size) {
  if (size == 1) {
    ((uint8_t *)target)[index] = (uint8_t)value;
  } else {
    ((uint16_t *)target)[index] = (uint16_t)value;
  }
}

/// A loop for `channels` of `from` bytes to RGBA of `to` bytes; all three are constants, so that no pixel asks.
INLINE void expand(const cpr_pixels *pixels, unsigned channels, unsigned from, const uint8_t *row, size_t width,
                   void *rgba, unsigned to) {
  const uint32_t full = to == 1 ? 255 : 65535;
  // Colour and alpha lie apart by this many samples.
  const unsigned green = channels >= 3 ? 1 : 0, blue = channels >= 3 ? 2 : 0;
  const bool has_alpha = channels == 2 || channels == 4;
  const bool has_key = pixels->has_key;
  const uint32_t key[3] = {pixels->key[0], pixels->key[1], pixels->key[2]};
  for (size_t index = 0; index < 4 * width; index += 4, row += channels * from) {
    uint32_t r = sample(row, from), g = sample(row + green * from, from), b = sample(row + blue * from, from);
    uint32_t alpha = has_alpha ? resized(sample(row + (channels - 1) * from, from), from, to) : full;
    if (!has_alpha && has_key && r == key[0] && g == key[green] && b == key[blue]) alpha = 0;
    put(rgba, index, resized(r, from, to), to);
    put(rgba, index + 1, resized(g, from, to), to);
    put(rgba, index + 2, resized(b, from, to), to);
    put(rgba, index + 3, alpha, to);
  }
}

INLINE void expand_any(const cpr_pixels *pixels, const uint8_t *row, size_t width, void *rgba, unsigned to) {
  switch (pixels->channels << 2 | pixels->sample_bytes) {
    case 1 << 2 | 1: expand(pixels, 1, 1, row, width, rgba, to); break;
    case 1 << 2 | 2: expand(pixels, 1, 2, row, width, rgba, to); break;
    case 2 << 2 | 1: expand(pixels, 2, 1, row, width, rgba, to); break;
    case 2 << 2 | 2: expand(pixels, 2, 2, row, width, rgba, to); break;
    case 3 << 2 | 1: expand(pixels, 3, 1, row, width, rgba, to); break;
    case 3 << 2 | 2: expand(pixels, 3, 2, row, width, rgba, to); break;
    case 4 << 2 | 1: expand(pixels, 4, 1, row, width, rgba, to); break;
    default: expand(pixels, 4, 2, row, width, rgba, to); break;
  }
}

/// Colour of 8 bits, the commonest kind without alpha: a word at a time, in a third of the time.
static void expand_rgb_8(const uint8_t *row, size_t width, uint8_t *rgba) {
  const uint8_t opaque_bytes[4] = {0, 0, 0, 255};
  uint32_t opaque, pixel;
  memcpy(&opaque, opaque_bytes, 4);
  for (size_t index = 0; index < width; index++) {
    // Reads one byte of the next pixel, or of the margin.
    memcpy(&pixel, row + 3 * index, 4);
    pixel |= opaque;
    memcpy(rgba + 4 * index, &pixel, 4);
  }
}

void cpr_expand_8(const cpr_pixels *pixels, const uint8_t *palette, const uint8_t *row, size_t width, uint8_t *rgba) {
  if (!pixels->is_indexed) {
    if (pixels->channels == 3 && pixels->sample_bytes == 1 && !pixels->has_key) {
      expand_rgb_8(row, width, rgba);
    } else {
      expand_any(pixels, row, width, rgba, 1);
    }
    return;
  }
  for (size_t index = 0; index < width; index++) memcpy(rgba + 4 * index, palette + 4 * (size_t)row[index], 4);
}

void cpr_expand_16(const cpr_pixels *pixels, const uint8_t *palette, const uint8_t *row, size_t width, uint16_t *rgba) {
  if (!pixels->is_indexed) {
    expand_any(pixels, row, width, rgba, 2);
    return;
  }
  for (size_t index = 0; index < width; index++) {
    const uint8_t *color = palette + 4 * (size_t)row[index];
    for (size_t channel = 0; channel < 4; channel++) rgba[4 * index + channel] = (uint16_t)(color[channel] * 257);
  }
}
