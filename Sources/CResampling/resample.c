// Weighted sums of pixels, a pixel to a vector.
#include "CResampling.h"

#include <string.h>

typedef float pixel __attribute__((vector_size(16)));
typedef int32_t lanes __attribute__((vector_size(16)));

static inline pixel load(const float *at) {
  pixel value;
  memcpy(&value, __builtin_assume_aligned(at, 16), sizeof value);
  return value;
}

static inline void store(float *at, pixel value) { memcpy(__builtin_assume_aligned(at, 16), &value, sizeof value); }

void crs_widen(const uint8_t *pixels, size_t count, const float *light, float *target) {
  for (size_t i = 0; i < count; i++, pixels += 4, target += 4) {
    float alpha = (float)pixels[3];
    pixel value;
    if (light == NULL) {
      value = __builtin_convertvector((lanes){pixels[0], pixels[1], pixels[2], 255}, pixel);
    } else {
      value = (pixel){light[pixels[0]], light[pixels[1]], light[pixels[2]], 255};
    }
    // An opaque pixel is not to be rounded by a division.
    if (pixels[3] != 255) value *= alpha / 255;
    value[3] = alpha;
    store(target, value);
  }
}

void crs_across(const float *row, const crs_window *windows, const float *weights, size_t count, float *target) {
  for (size_t i = 0; i < count; i++) {
    const float *at = row + 4 * (size_t)windows[i].first;
    const float *weight = weights + windows[i].weights;
    pixel sum = {0, 0, 0, 0};
    for (uint32_t k = 0; k < windows[i].count; k++) sum += load(at + 4 * k) * weight[k];
    store(target + 4 * i, sum);
  }
}

void crs_down(const float *const *rows, const float *weights, size_t row_count, size_t count, float *target) {
  for (size_t i = 0; i < count; i++) {
    pixel sum = {0, 0, 0, 0};
    for (size_t k = 0; k < row_count; k++) sum += load(rows[k] + 4 * i) * weights[k];
    store(target + 4 * i, sum);
  }
}

static inline float clamped(float value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

void crs_narrow(const float *row, size_t count, const uint8_t *steps, uint8_t *pixels) {
  for (size_t i = 0; i < count; i++, row += 4, pixels += 4) {
    uint8_t alpha = (uint8_t)(clamped(row[3]) + 0.5f);
    if (alpha == 0) {
      memset(pixels, 0, 4);
      continue;
    }
    // By the alpha as it came out, which can be more than there is where a filter overshoots.
    float factor = 255 / row[3];
    for (int k = 0; k < 3; k++) {
      float color = clamped(row[k] * factor);
      pixels[k] = steps == NULL ? (uint8_t)(color + 0.5f) : steps[(size_t)(color * ((CRS_STEPS - 1) / 255.0f) + 0.5f)];
    }
    pixels[3] = alpha;
  }
}
