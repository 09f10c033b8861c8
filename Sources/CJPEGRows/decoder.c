// libjpeg's decoder with results instead of jumps.
//
// The library takes its memory from malloc and offers no other place; so what it takes is counted on the way, and a
// picture that wants more than was promised is refused. Its own limit, `max_memory_to_use`, sees only whole pictures
// that it would like to keep.
#include "library.h"

#include <setjmp.h>
#include <string.h>

#if CJR_HAS_LIBJPEG

/// Bytes of the file that are held: room for a MCU of those pictures that are coded anew, and to spare.
enum { WINDOW_BYTES = 8 << 10 };

struct cjr_decoder {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  /// The library's own functions for memory, behind those that count.
  struct jpeg_memory_mgr memory;
  cjr_job job;
  jmp_buf escape;
  cjr_result failure;
  /// Where in the source the next window begins.
  uint64_t offset;
  size_t taken;
  bool is_created;
  /// Whether an end was put in for the one that the file does not have, or data were missing.
  bool has_ended;
  /// How many rows may still be given out once the data have ended.
  uint32_t last_row;
  char message[JMSG_LENGTH_MAX];
  uint8_t window[WINDOW_BYTES];
};

static cjr_decoder *decoder_of(j_common_ptr jpeg) { return jpeg->client_data; }

static _Noreturn void fail(cjr_decoder *decoder, cjr_result failure) {
  decoder->failure = failure;
  longjmp(decoder->escape, 1);
}

// MARK: Errors

static _Noreturn void error_exit(j_common_ptr jpeg) {
  cjr_decoder *decoder = decoder_of(jpeg);
  jpeg->err->format_message(jpeg, decoder->message);
  int code = jpeg->err->msg_code;
  bool is_memory = code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE;
  fail(decoder, is_memory ? CJR_NO_MEMORY : CJR_DAMAGED);
}

/// Whether a warning means that pixels are not what they were: the others are of what is written beside them.
static bool is_damage(int code) {
  switch (code) {
  case JWRN_HIT_MARKER:
  case JWRN_HUFF_BAD_CODE:
  case JWRN_JPEG_EOF:
  case JWRN_MUST_RESYNC:
  case JWRN_BOGUS_PROGRESSION: return true;
  default: return false;
  }
}

static void emit_message(j_common_ptr jpeg, int level) {
  if (level >= 0 || !is_damage(jpeg->err->msg_code)) return;
  cjr_decoder *decoder = decoder_of(jpeg);
  // Once the data have ended, nothing more can be wrong with them.
  if (decoder->has_ended) return;
  if (decoder->message[0] == 0) jpeg->err->format_message(jpeg, decoder->message);
  if (decoder->job.is_strict) fail(decoder, CJR_DAMAGED);
  // A marker that is no restart: there is nothing more to decode. The library would fill the picture up with grey.
  int marker = decoder->jpeg.unread_marker;
  if (jpeg->err->msg_code == JWRN_HIT_MARKER && (marker < 0xd0 || marker > 0xd7)) decoder->has_ended = true;
}

static void output_message(j_common_ptr jpeg) { (void)jpeg; }

// MARK: Memory

static void count(j_common_ptr jpeg, size_t bytes) {
  cjr_decoder *decoder = decoder_of(jpeg);
  if (bytes > decoder->job.most_bytes - decoder->taken) {
    strcpy(decoder->message, "the decoder wants more memory than it may have");
    fail(decoder, CJR_NO_MEMORY);
  }
  decoder->taken += bytes;
}

static void *take_small(j_common_ptr jpeg, int pool, size_t bytes) {
  count(jpeg, bytes);
  return decoder_of(jpeg)->memory.alloc_small(jpeg, pool, bytes);
}

static void *take_large(j_common_ptr jpeg, int pool, size_t bytes) {
  count(jpeg, bytes);
  return decoder_of(jpeg)->memory.alloc_large(jpeg, pool, bytes);
}

static JSAMPARRAY take_samples(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION rows) {
  // Rows are rounded up to twice a vector's size, see jmemmgr.c's ALIGN_SIZE.
  count(jpeg, ((size_t)width + 64 + sizeof(JSAMPROW)) * rows);
  return decoder_of(jpeg)->memory.alloc_sarray(jpeg, pool, width, rows);
}

static JBLOCKARRAY take_blocks(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION rows) {
  count(jpeg, ((size_t)width * sizeof(JBLOCK) + sizeof(JBLOCKROW)) * rows);
  return decoder_of(jpeg)->memory.alloc_barray(jpeg, pool, width, rows);
}

static void count_memory(cjr_decoder *decoder) {
  struct jpeg_memory_mgr *memory = decoder->jpeg.mem;
  decoder->memory = *memory;
  memory->alloc_small = take_small;
  memory->alloc_large = take_large;
  memory->alloc_sarray = take_samples;
  memory->alloc_barray = take_blocks;
  // Of pictures that would be kept whole; they do not get here.
  memory->max_memory_to_use = 1;
}

// MARK: Input

static void init_source(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean fill(j_decompress_ptr jpeg) {
  cjr_decoder *decoder = jpeg->client_data;
  ptrdiff_t got = decoder->job.read(decoder->job.user, decoder->offset, decoder->window, WINDOW_BYTES);
  if (got < 0) fail(decoder, CJR_READ_FAILED);
  if (got == 0) {
    if (decoder->job.is_strict) fail(decoder, CJR_CUT_OFF);
    // What the library is to find where there is nothing: the end.
    decoder->has_ended = true;
    decoder->window[0] = 0xff;
    decoder->window[1] = JPEG_EOI;
    got = 2;
  }
  decoder->offset += (uint64_t)got;
  decoder->source.next_input_byte = decoder->window;
  decoder->source.bytes_in_buffer = (size_t)got;
  return TRUE;
}

static void skip(j_decompress_ptr jpeg, long bytes) {
  cjr_decoder *decoder = jpeg->client_data;
  if (bytes <= 0) return;
  size_t left = decoder->source.bytes_in_buffer;
  size_t here = (size_t)bytes < left ? (size_t)bytes : left;
  decoder->source.next_input_byte += here;
  decoder->source.bytes_in_buffer -= here;
  decoder->offset += (uint64_t)bytes - here;
}

static void term_source(j_decompress_ptr jpeg) { (void)jpeg; }

// MARK: Decoding

static J_COLOR_SPACE color_space(cjr_colors colors) {
  switch (colors) {
  case CJR_GRAY: return JCS_GRAYSCALE;
  case CJR_YCC: return JCS_YCbCr;
  case CJR_RGB: return JCS_RGB;
  case CJR_CMYK: return JCS_CMYK;
  case CJR_YCCK: return JCS_YCCK;
  }
  return JCS_UNKNOWN;
}

size_t cjr_decoder_byte_count(void) { return sizeof(cjr_decoder); }

cjr_result cjr_begin(void *memory, const cjr_job *job) {
  cjr_decoder *decoder = memory;
  memset(decoder, 0, offsetof(cjr_decoder, window));
  decoder->job = *job;
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  jpeg->err = cjr_jpeg.std_error(&decoder->errors);
  decoder->errors.error_exit = error_exit;
  decoder->errors.emit_message = emit_message;
  decoder->errors.output_message = output_message;
  jpeg->client_data = decoder;
  if (setjmp(decoder->escape)) return decoder->failure;
  decoder->is_created = true;
  cjr_jpeg.create(jpeg, JPEG_LIB_VERSION, sizeof(struct jpeg_decompress_struct));
  count_memory(decoder);
  decoder->source.init_source = init_source;
  decoder->source.fill_input_buffer = fill;
  decoder->source.skip_input_data = skip;
  decoder->source.resync_to_restart = cjr_jpeg.resync;
  decoder->source.term_source = term_source;
  jpeg->src = &decoder->source;
  cjr_jpeg.read_header(jpeg, TRUE);
  if (jpeg->image_width != job->width || jpeg->image_height != job->height ||
      jpeg->num_components != (int)job->component_count)
    return CJR_CHANGED;
  jpeg->jpeg_color_space = color_space(job->colors);
  bool is_cmyk = job->colors == CJR_CMYK || job->colors == CJR_YCCK;
  jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg->scale_num = job->eighths;
  jpeg->scale_denom = 8;
  cjr_jpeg.start(jpeg);
  decoder->last_row = jpeg->output_height;
  return CJR_DONE;
}

/// What light goes through the inks, without a profile: white less cyan, times white less black, and so on.
static void convert_cmyk(uint8_t *row, uint32_t width, bool is_inverted) {
  uint8_t flip = is_inverted ? 0 : 255;
  for (uint8_t *pixel = row; pixel < row + 4 * (size_t)width; pixel += 4) {
    uint32_t black = pixel[3] ^ flip;
    for (int i = 0; i < 3; i++) {
      uint32_t product = (uint32_t)(pixel[i] ^ flip) * black + 128;
      // The nearest to the product over 255, for all products of two bytes.
      pixel[i] = (uint8_t)((product + (product >> 8)) >> 8);
    }
    pixel[3] = 255;
  }
}

cjr_result cjr_row(cjr_decoder *decoder, uint8_t *row) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  if (jpeg->output_scanline >= decoder->last_row) return CJR_CUT_OFF;
  if (setjmp(decoder->escape)) return decoder->failure;
  bool had_ended = decoder->has_ended;
  JSAMPROW rows[1] = {row};
  if (cjr_jpeg.read_rows(jpeg, rows, 1) != 1) return CJR_CUT_OFF;
  if (jpeg->out_color_space == JCS_CMYK) convert_cmyk(row, jpeg->output_width, decoder->job.is_inverted);
  if (decoder->has_ended && !had_ended) {
    // The rest of the row of MCUs that is being decoded: in it is the last that there is.
    uint32_t step = (uint32_t)jpeg->max_v_samp_factor * decoder->job.eighths;
    uint32_t end = (jpeg->output_scanline + step - 1) / step * step;
    if (end < decoder->last_row) decoder->last_row = end;
  }
  if (jpeg->output_scanline == jpeg->output_height && decoder->job.is_strict) cjr_jpeg.finish(jpeg);
  return CJR_DONE;
}

void cjr_end(cjr_decoder *decoder) {
  // Frees, and cannot fail.
  if (decoder->is_created) cjr_jpeg.destroy(&decoder->jpeg);
  decoder->is_created = false;
}

const char *cjr_message(const cjr_decoder *decoder) { return decoder->message; }
uint32_t cjr_width(const cjr_decoder *decoder) { return decoder->jpeg.output_width; }
uint32_t cjr_height(const cjr_decoder *decoder) { return decoder->jpeg.output_height; }
size_t cjr_taken_byte_count(const cjr_decoder *decoder) { return decoder->taken; }

#else

// Built without the headers: nothing of this is called, as there is no library.
size_t cjr_decoder_byte_count(void) { return 0; }
cjr_result cjr_begin(void *memory, const cjr_job *job) { return (void)memory, (void)job, CJR_NO_MEMORY; }
cjr_result cjr_row(cjr_decoder *decoder, uint8_t *row) { return (void)decoder, (void)row, CJR_NO_MEMORY; }
void cjr_end(cjr_decoder *decoder) { (void)decoder; }
const char *cjr_message(const cjr_decoder *decoder) { return (void)decoder, ""; }
uint32_t cjr_width(const cjr_decoder *decoder) { return (void)decoder, 0; }
uint32_t cjr_height(const cjr_decoder *decoder) { return (void)decoder, 0; }
size_t cjr_taken_byte_count(const cjr_decoder *decoder) { return (void)decoder, 0; }

#endif
