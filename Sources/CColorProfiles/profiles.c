// Not linked: a program whose pictures have no profiles should not map lcms2.
#include "CColorProfiles.h"

#if __has_include(<lcms2.h>) && __has_include(<dlfcn.h>)

#include <dlfcn.h>
#include <lcms2.h>
#include <pthread.h>
#include <stdlib.h>

#if defined(__APPLE__)
// Not run here.
#define CCP_NAME "liblcms2.2.dylib"
#else
#define CCP_NAME "liblcms2.so.2"
#endif

typedef struct {
  cmsContext (*create_context)(void *, void *);
  void (*delete_context)(cmsContext);
  cmsHPROFILE (*open)(cmsContext, const void *, cmsUInt32Number);
  cmsHPROFILE (*srgb)(cmsContext);
  cmsBool (*close)(cmsHPROFILE);
  cmsColorSpaceSignature (*space)(cmsHPROFILE);
  cmsHTRANSFORM (*create)(cmsContext, cmsHPROFILE, cmsUInt32Number, cmsHPROFILE, cmsUInt32Number, cmsUInt32Number,
                          cmsUInt32Number);
  void (*delete)(cmsHTRANSFORM);
  void (*convert)(cmsHTRANSFORM, const void *, void *, cmsUInt32Number);
} functions;

struct ccp_conversion {
  cmsContext context;
  cmsHTRANSFORM transform;
};

static functions lcms;
static const char *problem;

static void *load(const char *name, functions *into) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  // Data pointers turned into function pointers, as POSIX has it and ISO C has not.
  *(void **)&into->create_context = dlsym(library, "cmsCreateContext");
  *(void **)&into->delete_context = dlsym(library, "cmsDeleteContext");
  *(void **)&into->open = dlsym(library, "cmsOpenProfileFromMemTHR");
  *(void **)&into->srgb = dlsym(library, "cmsCreate_sRGBProfileTHR");
  *(void **)&into->close = dlsym(library, "cmsCloseProfile");
  *(void **)&into->space = dlsym(library, "cmsGetColorSpace");
  *(void **)&into->create = dlsym(library, "cmsCreateTransformTHR");
  *(void **)&into->delete = dlsym(library, "cmsDeleteTransform");
  *(void **)&into->convert = dlsym(library, "cmsDoTransform");
  return library;
}

static const char *lack(const functions *found) {
  bool is_whole = found->create_context && found->delete_context && found->open && found->srgb && found->close &&
                  found->space && found->create && found->delete && found->convert;
  return is_whole ? NULL : "it lacks functions";
}

static void load_once(void) { problem = load(CCP_NAME, &lcms) == NULL ? CCP_NAME " cannot be loaded" : lack(&lcms); }

const char *ccp_library_problem(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_once);
  return problem;
}

const char *ccp_problem_of(const char *name) {
  functions found;
  void *library = load(name, &found);
  if (library == NULL) return "it cannot be loaded";
  const char *result = lack(&found);
  dlclose(library);
  return result;
}

ccp_conversion *ccp_begin(const uint8_t *profile, size_t count, ccp_kind *kind) {
  *kind = CCP_BROKEN;
  ccp_conversion *conversion = calloc(1, sizeof *conversion);
  if (conversion == NULL) return NULL;
  // A context of its own: errors are told to nobody else, and threads share nothing.
  conversion->context = lcms.create_context(NULL, NULL);
  cmsHPROFILE source = lcms.open(conversion->context, profile, (cmsUInt32Number)count);
  cmsHPROFILE target = lcms.srgb(conversion->context);
  if (source != NULL && target != NULL) {
    cmsColorSpaceSignature space = lcms.space(source);
    *kind = space == cmsSigGrayData ? CCP_GRAY : space == cmsSigRgbData ? CCP_RGB : CCP_OTHER;
    // Of grey pixels the first sample counts, and the three behind it are passed over.
    cmsUInt32Number format = *kind == CCP_GRAY
                                 ? COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1) | EXTRA_SH(3) | BYTES_SH(1)
                                 : TYPE_RGBA_8;
    // What makes colours faster is off by several steps in dark greys.
    cmsUInt32Number flags = *kind == CCP_GRAY ? cmsFLAGS_NOOPTIMIZE : 0;
    if (*kind != CCP_OTHER)
      conversion->transform =
          lcms.create(conversion->context, source, format, target, TYPE_RGBA_8, INTENT_PERCEPTUAL, flags);
  }
  if (source != NULL) lcms.close(source);
  if (target != NULL) lcms.close(target);
  if (conversion->transform != NULL) return conversion;
  if (*kind != CCP_OTHER) *kind = CCP_BROKEN;
  ccp_end(conversion);
  return NULL;
}

void ccp_convert(const ccp_conversion *conversion, uint8_t *pixels, size_t count) {
  // lcms2 leaves the target's alpha as it is.
  lcms.convert(conversion->transform, pixels, pixels, (cmsUInt32Number)count);
}

void ccp_end(ccp_conversion *conversion) {
  if (conversion->transform != NULL) lcms.delete(conversion->transform);
  lcms.delete_context(conversion->context);
  free(conversion);
}

#else

const char *ccp_library_problem(void) { return "the program was built without the headers of lcms2"; }

const char *ccp_problem_of(const char *name) { return name == NULL ? NULL : ccp_library_problem(); }

ccp_conversion *ccp_begin(const uint8_t *profile, size_t count, ccp_kind *kind) {
  (void)profile, (void)count;
  *kind = CCP_BROKEN;
  return NULL;
}

void ccp_convert(const ccp_conversion *conversion, uint8_t *pixels, size_t count) {
  (void)conversion, (void)pixels, (void)count;
}

void ccp_end(ccp_conversion *conversion) { (void)conversion; }

#endif
