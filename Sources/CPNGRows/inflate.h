// What an inflating library provides to the rest of this target.
#ifndef CPNGROWS_INFLATE_H
#define CPNGROWS_INFLATE_H

#include "CPNGRows.h"

/// The functions do what those in CPNGRows.h promise.
typedef struct {
  size_t state_byte_count;
  bool (*begin)(void *state);
  cpr_result (*inflate)(void *state, cpr_stream *stream);
  void (*end)(void *state);
  uint32_t (*crc32)(uint32_t crc, const uint8_t *bytes, size_t count);
} cpr_library;

extern const cpr_library cpr_zlib;

/// ISA-L, loaded by the first call; NULL where it is not there. Any thread may call.
const cpr_library *cpr_isal(void);

/// The libraries' counters have 32 bits; what is more is left for the next call.
static inline uint32_t cpr_clamped(size_t count) { return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count; }

#endif
