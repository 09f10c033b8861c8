// libjpeg's encoder with results instead of jumps, into memory of a fixed size.
#include "library.h"

#include <setjmp.h>
#include <string.h>

#if CJR_HAS_LIBJPEG

typedef struct {
  struct jpeg_error_mgr errors;
  jmp_buf failed;
  struct jpeg_destination_mgr target;
} encoder;

static void fail(j_common_ptr jpeg) { longjmp(((encoder *)jpeg->err)->failed, 1); }

static void be_silent(j_common_ptr jpeg, int level) { (void)jpeg, (void)level; }

static void begin_target(j_compress_ptr jpeg) { (void)jpeg; }

static boolean is_full(j_compress_ptr jpeg) {
  fail((j_common_ptr)jpeg);
  return FALSE;
}

static void end_target(j_compress_ptr jpeg) { (void)jpeg; }

size_t cjr_encode_picture(const uint8_t *pixels, uint32_t width, uint32_t height, int quality, uint8_t *row,
                          uint8_t *target, size_t capacity) {
  struct jpeg_compress_struct jpeg;
  encoder state;
  memset(&jpeg, 0, sizeof jpeg);
  jpeg.err = cjr_jpeg.std_error(&state.errors);
  state.errors.error_exit = fail;
  state.errors.emit_message = be_silent;
  if (setjmp(state.failed)) {
    cjr_jpeg.destroy_compress(&jpeg);
    return 0;
  }
  cjr_jpeg.create_compress(&jpeg, JPEG_LIB_VERSION, sizeof jpeg);
  state.target = (struct jpeg_destination_mgr){target, capacity, begin_target, is_full, end_target};
  jpeg.dest = &state.target;
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  cjr_jpeg.set_defaults(&jpeg);
  cjr_jpeg.set_quality(&jpeg, quality, TRUE);
  cjr_jpeg.start_compress(&jpeg, TRUE);
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++, pixels += 4) memcpy(row + 3 * (size_t)x, pixels, 3);
    JSAMPROW rows[1] = {row};
    cjr_jpeg.write_rows(&jpeg, rows, 1);
  }
  cjr_jpeg.finish_compress(&jpeg);
  size_t count = capacity - state.target.free_in_buffer;
  cjr_jpeg.destroy_compress(&jpeg);
  return count;
}

#else

size_t cjr_encode_picture(const uint8_t *pixels, uint32_t width, uint32_t height, int quality, uint8_t *row,
                          uint8_t *target, size_t capacity) {
  (void)pixels, (void)width, (void)height, (void)quality, (void)row, (void)target, (void)capacity;
  return 0;
}

#endif
