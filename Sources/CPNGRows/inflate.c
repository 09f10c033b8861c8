// One door to both inflating libraries.
#include "inflate.h"

static const cpr_library *library(cpr_inflater kind) {
  const cpr_library *isal = kind == CPR_FAST ? cpr_isal() : NULL;
  return isal != NULL ? isal : &cpr_zlib;
}

size_t cpr_inflater_byte_count(cpr_inflater kind) { return library(kind)->state_byte_count; }

bool cpr_inflate_begin(cpr_inflater kind, void *state) { return library(kind)->begin(state); }

cpr_result cpr_inflate(cpr_inflater kind, void *state, cpr_stream *stream) {
  return library(kind)->inflate(state, stream);
}

void cpr_inflate_end(cpr_inflater kind, void *state) { library(kind)->end(state); }

uint32_t cpr_crc32(cpr_inflater kind, uint32_t crc, const uint8_t *bytes, size_t count) {
  return library(kind)->crc32(crc, bytes, count);
}
