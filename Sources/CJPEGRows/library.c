// Loads libjpeg when a picture wants it.
//
// Not linked: a program that reads no JPEG should not map it. Its headers are used, because a decoder is the caller's
// memory and its layout must be the library's; the number in the library's name stands for that layout, and the library
// compares it once more when a decoder is made.
#include "library.h"

#if CJR_HAS_LIBJPEG

#include <dlfcn.h>
#include <pthread.h>

#define CJR_TEXT_OF(number) #number
#define CJR_TEXT(number) CJR_TEXT_OF(number)
#if defined(__APPLE__)
// Not run here.
#define CJR_NAME(number) "libjpeg." number ".dylib"
#else
#define CJR_NAME(number) "libjpeg.so." number
#endif

cjr_library cjr_jpeg;
static const char *problem;

static void load(void) {
  static const char *const name = CJR_NAME(CJR_TEXT(JPEG_LIB_VERSION));
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    problem = CJR_NAME(CJR_TEXT(JPEG_LIB_VERSION)) " cannot be loaded";
    return;
  }
  // Data pointers turned into function pointers, as POSIX has it and ISO C has not.
  *(void **)&cjr_jpeg.std_error = dlsym(library, "jpeg_std_error");
  *(void **)&cjr_jpeg.create = dlsym(library, "jpeg_CreateDecompress");
  *(void **)&cjr_jpeg.destroy = dlsym(library, "jpeg_destroy_decompress");
  *(void **)&cjr_jpeg.read_header = dlsym(library, "jpeg_read_header");
  *(void **)&cjr_jpeg.start = dlsym(library, "jpeg_start_decompress");
  *(void **)&cjr_jpeg.read_rows = dlsym(library, "jpeg_read_scanlines");
  *(void **)&cjr_jpeg.finish = dlsym(library, "jpeg_finish_decompress");
  *(void **)&cjr_jpeg.resync = dlsym(library, "jpeg_resync_to_restart");
  *(void **)&cjr_jpeg.create_compress = dlsym(library, "jpeg_CreateCompress");
  *(void **)&cjr_jpeg.destroy_compress = dlsym(library, "jpeg_destroy_compress");
  *(void **)&cjr_jpeg.set_defaults = dlsym(library, "jpeg_set_defaults");
  *(void **)&cjr_jpeg.set_quality = dlsym(library, "jpeg_set_quality");
  *(void **)&cjr_jpeg.start_compress = dlsym(library, "jpeg_start_compress");
  *(void **)&cjr_jpeg.write_rows = dlsym(library, "jpeg_write_scanlines");
  *(void **)&cjr_jpeg.finish_compress = dlsym(library, "jpeg_finish_compress");
  bool is_whole = cjr_jpeg.std_error && cjr_jpeg.create && cjr_jpeg.destroy && cjr_jpeg.read_header &&
                  cjr_jpeg.start && cjr_jpeg.read_rows && cjr_jpeg.finish && cjr_jpeg.resync &&
                  cjr_jpeg.create_compress && cjr_jpeg.destroy_compress && cjr_jpeg.set_defaults &&
                  cjr_jpeg.set_quality && cjr_jpeg.start_compress && cjr_jpeg.write_rows && cjr_jpeg.finish_compress;
  if (is_whole) return;
  dlclose(library);
  problem = CJR_NAME(CJR_TEXT(JPEG_LIB_VERSION)) " lacks functions of libjpeg";
}

const char *cjr_library_problem(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return problem;
}

#else

const char *cjr_library_problem(void) { return "the program was built without the headers of libjpeg"; }

#endif
