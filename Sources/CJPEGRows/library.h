// The functions of libjpeg, once it is loaded.
#ifndef CJPEGROWS_LIBRARY_H
#define CJPEGROWS_LIBRARY_H

#include "CJPEGRows.h"

#if __has_include(<jpeglib.h>) && __has_include(<dlfcn.h>)
#define CJR_HAS_LIBJPEG 1

#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

typedef struct {
  struct jpeg_error_mgr *(*std_error)(struct jpeg_error_mgr *);
  void (*create)(j_decompress_ptr, int version, size_t size);
  void (*destroy)(j_decompress_ptr);
  int (*read_header)(j_decompress_ptr, boolean require_image);
  boolean (*start)(j_decompress_ptr);
  JDIMENSION (*read_rows)(j_decompress_ptr, JSAMPARRAY rows, JDIMENSION count);
  boolean (*finish)(j_decompress_ptr);
  boolean (*resync)(j_decompress_ptr, int desired);
  void (*create_compress)(j_compress_ptr, int version, size_t size);
  void (*destroy_compress)(j_compress_ptr);
  void (*set_defaults)(j_compress_ptr);
  void (*set_quality)(j_compress_ptr, int quality, boolean force_baseline);
  void (*start_compress)(j_compress_ptr, boolean write_all_tables);
  JDIMENSION (*write_rows)(j_compress_ptr, JSAMPARRAY rows, JDIMENSION count);
  void (*finish_compress)(j_compress_ptr);
} cjr_library;

/// Valid once `cjr_library_problem` has returned NULL.
extern cjr_library cjr_jpeg;

#endif
#endif
