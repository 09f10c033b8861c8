// Inflating with ISA-L, which is loaded when it is first used.
//
// Not linked: it is not everywhere, a package manifest cannot ask whether it is here, and a program that reads no
// picture should not map it. Its headers are used where they are, because the state is the caller's memory and its
// layout must be the library's; the number in the library's name stands for that layout. Declaring the state here
// instead, to do without the headers, would fail silently at the next version.
#include "inflate.h"

#if __has_include(<isa-l/igzip_lib.h>) && __has_include(<dlfcn.h>)

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <string.h>

typedef struct {
  struct inflate_state isal;
  /// What the library said once it had failed; it must not be called again then.
  int failure;
} state_of_isal;

static void (*isal_init)(struct inflate_state *);
static int (*isal_run)(struct inflate_state *);
static uint32_t (*isal_crc)(uint32_t, const unsigned char *, uint64_t);
static bool is_loaded;

static bool begin(void *memory) {
  state_of_isal *state = memory;
  isal_init(&state->isal);
  state->isal.crc_flag = ISAL_ZLIB_NO_HDR_VER;
  state->failure = 0;
  return true;
}

/// Puts out what the library had inflated ahead of its failure; it copies no more than one call's output by itself.
static cpr_result drain(state_of_isal *state, cpr_stream *stream) {
  struct inflate_state *isal = &state->isal;
  size_t count = (size_t)(isal->tmp_out_valid - isal->tmp_out_processed);
  if (count > stream->output_count) count = stream->output_count;
  memcpy(stream->output, isal->tmp_out_buffer + isal->tmp_out_processed, count);
  isal->tmp_out_processed += (int32_t)count;
  stream->output += count;
  stream->output_count -= count;
  if (stream->output_count == 0) return CPR_GOES_ON;
  return state->failure == ISAL_INCORRECT_CHECKSUM ? CPR_WRONG_CHECKSUM : CPR_DAMAGED;
}

static cpr_result run(void *memory, cpr_stream *stream) {
  state_of_isal *state = memory;
  if (state->failure != 0) return drain(state, stream);
  struct inflate_state *isal = &state->isal;
  uint32_t input_count = cpr_clamped(stream->input_count), output_count = cpr_clamped(stream->output_count);
  // Read only; the library's field lacks the const.
  isal->next_in = (uint8_t *)(uintptr_t)stream->input;
  isal->avail_in = input_count;
  isal->next_out = stream->output;
  isal->avail_out = output_count;
  int code = isal_run(isal);
  // Where it fails behind the codes of a block that came in two pieces, the library has used more than it was given: its
  // counter has run below zero. Nothing is read after a failure, so what counts as used there does not matter.
  uint32_t input_left = isal->avail_in < input_count ? isal->avail_in : input_count;
  stream->input += input_count - input_left;
  stream->input_count -= input_count - input_left;
  stream->output += output_count - isal->avail_out;
  stream->output_count -= output_count - isal->avail_out;
  if (code != ISAL_DECOMP_OK) {
    state->failure = code;
    return drain(state, stream);
  }
  return isal->block_state == ISAL_BLOCK_FINISH ? CPR_ENDED : CPR_GOES_ON;
}

static void end(void *memory) { (void)memory; }

static uint32_t crc(uint32_t crc, const uint8_t *bytes, size_t count) { return isal_crc(crc, bytes, count); }

static void load(void) {
#if defined(__APPLE__)
  // Not run here.
  void *library = dlopen("libisal.2.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
#endif
  if (library == NULL) return;
  // A data pointer turned into a function pointer, as POSIX has it and ISO C has not.
  *(void **)&isal_init = dlsym(library, "isal_inflate_init");
  *(void **)&isal_run = dlsym(library, "isal_inflate");
  *(void **)&isal_crc = dlsym(library, "crc32_gzip_refl");
  is_loaded = isal_init != NULL && isal_run != NULL && isal_crc != NULL;
  if (!is_loaded) dlclose(library);
}

const cpr_library *cpr_isal(void) {
  static const cpr_library library = {sizeof(state_of_isal), begin, run, end, crc};
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &library : NULL;
}

#else

// Built without its headers.
const cpr_library *cpr_isal(void) { return NULL; }

#endif
