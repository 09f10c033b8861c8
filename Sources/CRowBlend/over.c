// Laying rows over a plane, two pixels at a time.
#include "vectors.h"

/// All bits of the alphas of two pixels of 8 bits a channel, and of one of 16.
static const uint8_t alpha_bytes_8[8] = {0, 0, 0, 255, 0, 0, 0, 255};
static const uint16_t alpha_words_16[4] = {0, 0, 0, 65535};

INLINE uint64_t word(const void *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/// Straight pixels over those of a plane.
INLINE pair over_straight(pair source, pair opacity, pair below) {
  const pair only_alpha = {0, 0, 0, 65535, 0, 0, 0, 65535};
  pair alpha = scaled(alphas(source), opacity);
  // Full in place of alpha, so that the product with alpha is alpha.
  return scaled(source | only_alpha, alpha) + scaled(below, ~alpha);
}

/// Premultiplied pixels over those of a plane.
INLINE pair over_premultiplied(pair source, pair opacity, pair below) {
  pair shown = scaled(source, opacity);
  return shown + scaled(below, ~alphas(shown));
}

void crb_over_8(const uint8_t *source, size_t count, uint16_t opacity, uint16_t *plane) {
  const pair opacities = broadcast(opacity);
  const uint64_t mask = word(alpha_bytes_8);
  size_t index = 0;
  for (; index + 4 <= count; index += 4) {
    const uint8_t *pixels = source + 4 * index;
    uint16_t *below = plane + 4 * index;
    uint64_t first = word(pixels), second = word(pixels + 8);
    if (((first | second) & mask) == 0) continue;
    pair left = load_wide(pixels), right = load_wide(pixels + 8);
    if (opacity != 65535 || (first & second & mask) != mask) {
      left = over_straight(left, opacities, load_pair(below));
      right = over_straight(right, opacities, load_pair(below + 8));
    }
    store_pair(below, left);
    store_pair(below + 8, right);
  }
  // Up to three more, through a copy with as many more transparent ones as make four.
  if (index < count) {
    uint8_t pixels[16] = {0};
    uint16_t below[16] = {0};
    memcpy(pixels, source + 4 * index, 4 * (count - index));
    memcpy(below, plane + 4 * index, 8 * (count - index));
    crb_over_8(pixels, 4, opacity, below);
    memcpy(plane + 4 * index, below, 8 * (count - index));
  }
}

/// Rows of 16 bits a channel over those of a plane, as one of the functions above has it.
INLINE void over_pairs(pair (*over)(pair, pair, pair), const uint16_t *source, size_t count, uint16_t opacity,
                       uint16_t *plane) {
  const pair opacities = broadcast(opacity);
  const uint64_t mask = word(alpha_words_16);
  size_t index = 0;
  for (; index + 2 <= count; index += 2) {
    const uint16_t *pixels = source + 4 * index;
    uint16_t *below = plane + 4 * index;
    uint64_t first = word(pixels), second = word(pixels + 4);
    if (((first | second) & mask) == 0) continue;
    pair value = load_pair(pixels);
    if (opacity != 65535 || (first & second & mask) != mask) value = over(value, opacities, load_pair(below));
    store_pair(below, value);
  }
  if (index < count) {
    pair pixel = {0}, below = {0};
    memcpy(&pixel, source + 4 * index, 8);
    memcpy(&below, plane + 4 * index, 8);
    below = over(pixel, opacities, below);
    memcpy(plane + 4 * index, &below, 8);
  }
}

void crb_over_16(const uint16_t *source, size_t count, uint16_t opacity, uint16_t *plane) {
  over_pairs(over_straight, source, count, opacity, plane);
}

void crb_over_plane(const uint16_t *source, size_t count, uint16_t opacity, uint16_t *plane) {
  over_pairs(over_premultiplied, source, count, opacity, plane);
}
