// Not linked: a program that reads no WebP should not map libwebp. Its headers are used for the layout of what it is
// told; the library compares their version with its own.
#include "CWebPRows.h"

#if __has_include(<webp/decode.h>) && __has_include(<dlfcn.h>)

#include <dlfcn.h>
#include <pthread.h>
#include <webp/decode.h>

#if defined(__APPLE__)
// Not run here.
#define CWR_NAME "libwebp.7.dylib"
#else
#define CWR_NAME "libwebp.so.7"
#endif

typedef struct {
  int (*init)(WebPDecoderConfig *, int version);
  WebPIDecoder *(*begin)(const uint8_t *, size_t, WebPDecoderConfig *);
  VP8StatusCode (*update)(WebPIDecoder *, const uint8_t *, size_t);
  uint8_t *(*rows)(const WebPIDecoder *, int *, int *, int *, int *);
  void (*end)(WebPIDecoder *);
} functions;

static functions webp;
static const char *problem;

static void *load(const char *name, functions *into) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  // Data pointers turned into function pointers, as POSIX has it and ISO C has not.
  *(void **)&into->init = dlsym(library, "WebPInitDecoderConfigInternal");
  *(void **)&into->begin = dlsym(library, "WebPIDecode");
  *(void **)&into->update = dlsym(library, "WebPIUpdate");
  *(void **)&into->rows = dlsym(library, "WebPIDecGetRGB");
  *(void **)&into->end = dlsym(library, "WebPIDelete");
  return library;
}

static const char *lack(const functions *found) {
  WebPDecoderConfig config;
  if (!found->init || !found->begin || !found->update || !found->rows || !found->end) return "it lacks functions";
  return found->init(&config, WEBP_DECODER_ABI_VERSION) ? NULL : "it is of another version";
}

static void load_once(void) { problem = load(CWR_NAME, &webp) == NULL ? CWR_NAME " cannot be loaded" : lack(&webp); }

const char *cwr_library_problem(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_once);
  return problem;
}

const char *cwr_problem_of(const char *name) {
  functions found;
  void *library = load(name, &found);
  if (library == NULL) return "it cannot be loaded";
  const char *result = lack(&found);
  dlclose(library);
  return result;
}

cwr_result cwr_decode(const uint8_t *file, size_t count, uint32_t width, uint32_t height, bool is_scaled, uint8_t *rows,
                      uint32_t *row_count) {
  *row_count = 0;
  WebPDecoderConfig config;
  if (!webp.init(&config, WEBP_DECODER_ABI_VERSION)) return CWR_NO_MEMORY;
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = rows;
  config.output.u.RGBA.stride = (int)(4 * width);
  config.output.u.RGBA.size = 4 * (size_t)width * height;
  config.options.use_scaling = is_scaled;
  config.options.scaled_width = (int)width;
  config.options.scaled_height = (int)height;
  // The one way that tells how far it came.
  WebPIDecoder *decoder = webp.begin(NULL, 0, &config);
  if (decoder == NULL) return CWR_NO_MEMORY;
  VP8StatusCode status = webp.update(decoder, file, count);
  int last = 0;
  if (webp.rows(decoder, &last, NULL, NULL, NULL) != NULL && last > 0) *row_count = (uint32_t)last;
  webp.end(decoder);
  switch (status) {
    case VP8_STATUS_OK: return CWR_DONE;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return CWR_CUT_OFF;
    case VP8_STATUS_OUT_OF_MEMORY: return CWR_NO_MEMORY;
    default: return CWR_DAMAGED;
  }
}

#else

const char *cwr_library_problem(void) { return "the program was built without the headers of libwebp"; }

const char *cwr_problem_of(const char *name) { return name == NULL ? NULL : cwr_library_problem(); }

cwr_result cwr_decode(const uint8_t *file, size_t count, uint32_t width, uint32_t height, bool is_scaled, uint8_t *rows,
                      uint32_t *row_count) {
  (void)file, (void)count, (void)width, (void)height, (void)is_scaled, (void)rows;
  *row_count = 0;
  return CWR_NO_MEMORY;
}

#endif
