#include "JPEGReference.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

static J_COLOR_SPACE stored(jref_colors colors) {
  switch (colors) {
  case JREF_GRAY: return JCS_GRAYSCALE;
  case JREF_YCC: return JCS_YCbCr;
  case JREF_RGB: return JCS_RGB;
  case JREF_CMYK: return JCS_CMYK;
  case JREF_YCCK: return JCS_YCCK;
  }
  return JCS_UNKNOWN;
}

uint8_t *jref_encode(const jref_options *options, const uint8_t *samples, size_t *count) {
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char *bytes = NULL;
  unsigned long length = 0;
  jpeg_mem_dest(&jpeg, &bytes, &length);
  jpeg.image_width = options->width;
  jpeg.image_height = options->height;
  switch (options->colors) {
  case JREF_GRAY: jpeg.input_components = 1; jpeg.in_color_space = JCS_GRAYSCALE; break;
  case JREF_YCC:
  case JREF_RGB: jpeg.input_components = 3; jpeg.in_color_space = JCS_RGB; break;
  default: jpeg.input_components = 4; jpeg.in_color_space = JCS_CMYK; break;
  }
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, stored(options->colors));
  jpeg_set_quality(&jpeg, options->quality, TRUE);
  for (int i = 0; i < jpeg.num_components; i++) {
    jpeg.comp_info[i].h_samp_factor = options->across[i] > 0 ? options->across[i] : 1;
    jpeg.comp_info[i].v_samp_factor = options->down[i] > 0 ? options->down[i] : 1;
  }
  jpeg.restart_interval = options->restart_interval;
  jpeg_scan_info *scans = calloc((size_t)options->scan_count + 1, sizeof *scans);
  for (int i = 0; i < options->scan_count; i++) {
    const jref_scan *scan = &options->scans[i];
    scans[i].comps_in_scan = scan->component_count;
    memcpy(scans[i].component_index, scan->components, sizeof scan->components);
    scans[i].Ss = scan->first;
    scans[i].Se = scan->last;
    scans[i].Ah = scan->high;
    scans[i].Al = scan->low;
  }
  if (options->scan_count > 0) {
    jpeg.scan_info = scans;
    jpeg.num_scans = options->scan_count;
  } else if (options->is_progressive) {
    jpeg_simple_progression(&jpeg);
  }
  jpeg_start_compress(&jpeg, TRUE);
  size_t stride = (size_t)options->width * (size_t)jpeg.input_components;
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = (JSAMPROW)(uintptr_t)(samples + stride * jpeg.next_scanline);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  free(scans);
  *count = length;
  return bytes;
}

uint8_t *jref_decode(const uint8_t *bytes, size_t count, unsigned eighths, uint32_t *width, uint32_t *height,
                     uint32_t *channels) {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, bytes, count);
  jpeg_read_header(&jpeg, TRUE);
  jpeg.scale_num = eighths;
  jpeg.scale_denom = 8;
  jpeg_start_decompress(&jpeg);
  *width = jpeg.output_width;
  *height = jpeg.output_height;
  *channels = (uint32_t)jpeg.output_components;
  size_t stride = (size_t)*width * *channels;
  uint8_t *samples = malloc(stride * *height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = samples + stride * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_destroy_decompress(&jpeg);
  return samples;
}

/// Errors leave the library by a jump.
struct leaving {
  struct jpeg_error_mgr errors;
  jmp_buf escape;
};

static void leave(j_common_ptr jpeg) { longjmp(((struct leaving *)jpeg->err)->escape, 1); }

static void keep_quiet(j_common_ptr jpeg) { (void)jpeg; }

int16_t *jref_coefficients(const uint8_t *bytes, size_t count, int component, uint32_t *width, uint32_t *height) {
  struct jpeg_decompress_struct jpeg;
  struct leaving leaving;
  int16_t *volatile result = NULL;
  jpeg.err = jpeg_std_error(&leaving.errors);
  leaving.errors.error_exit = leave;
  leaving.errors.output_message = keep_quiet;
  jpeg_create_decompress(&jpeg);
  if (setjmp(leaving.escape)) {
    jpeg_destroy_decompress(&jpeg);
    free(result);
    return NULL;
  }
  jpeg_mem_src(&jpeg, bytes, count);
  jpeg_read_header(&jpeg, TRUE);
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(&jpeg);
  *width = jpeg.comp_info[component].width_in_blocks;
  *height = jpeg.comp_info[component].height_in_blocks;
  size_t stride = 64 * (size_t)*width;
  result = malloc(stride * *height * sizeof *result);
  for (uint32_t y = 0; y < *height; y++) {
    JBLOCKARRAY row = jpeg.mem->access_virt_barray((j_common_ptr)&jpeg, arrays[component], y, 1, FALSE);
    memcpy(result + stride * y, row[0], stride * sizeof *result);
  }
  // What it warned of, it has repaired in its own way.
  bool is_sound = jpeg.err->num_warnings == 0;
  jpeg_destroy_decompress(&jpeg);
  if (is_sound) return result;
  free(result);
  return NULL;
}
