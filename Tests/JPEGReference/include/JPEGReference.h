// libjpeg as tests use it: files of every kind, and what the library itself makes of a file, all at once and in as much
// memory as it likes. What fails here fails the test run.
#ifndef JPEGREFERENCE_H
#define JPEGREFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/// How samples are stored.
typedef enum jref_colors { JREF_GRAY, JREF_YCC, JREF_RGB, JREF_CMYK, JREF_YCCK } jref_colors;

/// A scan: which components, which coefficients, and which of their bits.
typedef struct jref_scan {
  int component_count;
  int components[4];
  int first, last, high, low;
} jref_scan;

typedef struct jref_options {
  uint32_t width, height;
  jref_colors colors;
  /// How finely components are sampled; zeros for all alike.
  int across[4], down[4];
  int quality;
  /// MCUs between restarts; 0 for none.
  unsigned restart_interval;
  /// The scans; none for a single one, or for the library's usual ones where `is_progressive`.
  bool is_progressive;
  const jref_scan *scans;
  int scan_count;
} jref_options;

/// Makes a file of samples: grey, RGB or CMYK as they are given. `free` the result.
uint8_t *jref_encode(const jref_options *options, const uint8_t *samples, size_t *count);

/// Decodes a file as `djpeg` does: grey, RGB, or CMYK as it is stored. `free` the result.
uint8_t *jref_decode(const uint8_t *bytes, size_t count, unsigned eighths, uint32_t *width, uint32_t *height,
                     uint32_t *channels);

/// All coefficients of a component, block by block, each row by row; only blocks that hold pixels. `free` the result.
/// NULL for a file that the library finds anything wrong with.
int16_t *jref_coefficients(const uint8_t *bytes, size_t count, int component, uint32_t *width, uint32_t *height);

#endif
