// The inner loops of resampling: pixels are four floats, colour multiplied by alpha, from 0 to 255.
#ifndef CRESAMPLING_H
#define CRESAMPLING_H

#include <stddef.h>
#include <stdint.h>

/// Which pixels of a side make a pixel of the other, and where their weights begin.
typedef struct crs_window {
  uint32_t first, count;
  size_t weights;
} crs_window;

/// Makes floats of `count` pixels of 8-bit RGBA with straight alpha. `light`, if there is one, has the value that each
/// of the 256 steps of a colour stands for.
void crs_widen(const uint8_t *pixels, size_t count, const float *light, float *target);

/// Makes a row of `count` pixels, each the weighted sum of some of `row`. Both are aligned to 16.
void crs_across(const float *row, const crs_window *windows, const float *weights, size_t count, float *target);

/// Makes a row of `count` pixels, each the weighted sum of those at its place in `row_count` rows. All are aligned to 16.
void crs_down(const float *const *rows, const float *weights, size_t row_count, size_t count, float *target);

enum {
  /// How many steps a table has that leads from light back to 8 bits.
  CRS_STEPS = 16384,
};

/// Makes 8-bit RGBA with straight alpha of `count` pixels, to the nearest; where alpha comes to 0, so does colour.
/// `steps`, if there is one, has the colour for each of CRS_STEPS amounts of light from 0 to 255.
void crs_narrow(const float *row, size_t count, const uint8_t *steps, uint8_t *pixels);

#endif
