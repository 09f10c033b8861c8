// Inflating with zlib, in memory that the caller gives.
#include "inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/// zlib 1.2.13 takes 7,160 bytes for its state and, when the first row has come out, 32,768 for its window.
enum { ARENA_BYTES = 40 << 10 };

typedef struct {
  z_stream zlib;
  size_t taken;
  _Alignas(16) uint8_t arena[ARENA_BYTES];
} state_of_zlib;

// A zlib that wants more than the arena has (zlib-ng pads for its vectors) gets the rest from the C library: such
// memory is not in the caller's count, but refusing would make a picture unreadable for a few hundred bytes.
static voidpf take(voidpf opaque, uInt items, uInt size) {
  state_of_zlib *state = opaque;
  size_t bytes = ((size_t)items * size + 15) & ~(size_t)15;
  if (bytes > ARENA_BYTES - state->taken) return malloc(bytes);
  void *memory = state->arena + state->taken;
  state->taken += bytes;
  return memory;
}

static void give_back(voidpf opaque, voidpf memory) {
  state_of_zlib *state = opaque;
  uintptr_t offset = (uintptr_t)memory - (uintptr_t)state->arena;
  if (offset >= ARENA_BYTES) free(memory);
}

static bool begin(void *memory) {
  state_of_zlib *state = memory;
  memset(state, 0, offsetof(state_of_zlib, arena));
  state->zlib.zalloc = take;
  state->zlib.zfree = give_back;
  state->zlib.opaque = state;
  if (inflateInit2(&state->zlib, MAX_WBITS) != Z_OK) return false;
  // A header of our own, for a window of 32 KB. Raw inflating would do without, but then also without the checksum.
  uint8_t header[2] = {0x78, 0x01}, nothing;
  state->zlib.next_in = header;
  state->zlib.avail_in = sizeof header;
  state->zlib.next_out = &nothing;
  inflate(&state->zlib, Z_SYNC_FLUSH);
  return state->zlib.avail_in == 0;
}

static cpr_result run(void *memory, cpr_stream *stream) {
  state_of_zlib *state = memory;
  z_stream *zlib = &state->zlib;
  uint32_t input_count = cpr_clamped(stream->input_count), output_count = cpr_clamped(stream->output_count);
  // zlib does not write through this pointer; it lacks the const unless ZLIB_CONST is defined.
  zlib->next_in = (Bytef *)(uintptr_t)stream->input;
  zlib->avail_in = input_count;
  zlib->next_out = stream->output;
  zlib->avail_out = output_count;
  int code = inflate(zlib, Z_SYNC_FLUSH);
  stream->input += input_count - zlib->avail_in;
  stream->input_count -= input_count - zlib->avail_in;
  stream->output += output_count - zlib->avail_out;
  stream->output_count -= output_count - zlib->avail_out;
  switch (code) {
    case Z_OK:
    // No progress was possible.
    case Z_BUF_ERROR: return CPR_GOES_ON;
    case Z_STREAM_END: return CPR_ENDED;
    case Z_MEM_ERROR: return CPR_NO_MEMORY;
    default:
      // zlib says the same again when it is asked again.
      if (stream->output_count == 0) return CPR_GOES_ON;
      return zlib->msg != NULL && strcmp(zlib->msg, "incorrect data check") == 0 ? CPR_WRONG_CHECKSUM : CPR_DAMAGED;
  }
}

static void end(void *memory) { inflateEnd(&((state_of_zlib *)memory)->zlib); }

static uint32_t crc(uint32_t crc, const uint8_t *bytes, size_t count) { return (uint32_t)crc32_z(crc, bytes, count); }

const cpr_library cpr_zlib = {sizeof(state_of_zlib), begin, run, end, crc};
