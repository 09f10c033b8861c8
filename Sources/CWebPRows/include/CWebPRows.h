// libwebp, loaded when a picture wants it.
#ifndef CWEBPROWS_H
#define CWEBPROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads libwebp, the first time; NULL, or why it cannot be used. Any thread may call.
const char *cwr_library_problem(void);

/// Why a library of this name cannot be used in its place; NULL if it can. Loads it and lets go of it again.
const char *cwr_problem_of(const char *name);

typedef enum cwr_result {
  CWR_DONE,
  /// The data end before the picture does.
  CWR_CUT_OFF,
  CWR_DAMAGED,
  CWR_NO_MEMORY,
} cwr_result;

/// Decodes a file into rows of `width` pixels, 8-bit RGBA with straight alpha and without gaps, scaled by libwebp where
/// that is said. `row_count` becomes how many rows are there. Only with a library, see above.
cwr_result cwr_decode(const uint8_t *file, size_t count, uint32_t width, uint32_t height, bool is_scaled, uint8_t *rows,
                      uint32_t *row_count);

#endif
