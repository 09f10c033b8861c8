#include "PictureReference.h"

#include <lcms2.h>
#include <spng.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>

static uint8_t *copy(uint8_t *bytes, size_t count) {
  if (bytes == NULL || count == 0) return NULL;
  uint8_t *result = malloc(count);
  if (result != NULL) memcpy(result, bytes, count);
  WebPFree(bytes);
  return result;
}

uint8_t *pref_webp(const uint8_t *pixels, int width, int height, float quality, size_t *count) {
  uint8_t *bytes = NULL;
  // Pixels that are transparent keep their colour.
  WebPConfig config;
  WebPPicture picture;
  WebPMemoryWriter writer;
  if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, quality < 0 ? 50 : quality) || !WebPPictureInit(&picture))
    return NULL;
  config.lossless = quality < 0;
  config.exact = 1;
  config.method = 2;
  picture.use_argb = quality < 0;
  picture.width = width;
  picture.height = height;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  if (WebPPictureImportRGBA(&picture, pixels, 4 * width) && WebPEncode(&config, &picture)) {
    bytes = writer.mem;
    *count = writer.size;
  }
  WebPPictureFree(&picture);
  return copy(bytes, *count);
}

uint8_t *pref_webp_decode(const uint8_t *file, size_t count, int *width, int *height) {
  uint8_t *pixels = WebPDecodeRGBA(file, count, width, height);
  return copy(pixels, pixels == NULL ? 0 : 4 * (size_t)*width * (size_t)*height);
}

static uint8_t *saved(cmsHPROFILE profile, size_t *count) {
  cmsUInt32Number size = 0;
  if (profile == NULL || !cmsSaveProfileToMem(profile, NULL, &size)) return NULL;
  uint8_t *bytes = malloc(size);
  if (bytes != NULL) cmsSaveProfileToMem(profile, bytes, &size);
  cmsCloseProfile(profile);
  *count = size;
  return bytes;
}

uint8_t *pref_profile(int is_gray, double gamma, size_t *count) {
  cmsToneCurve *curve = cmsBuildGamma(NULL, gamma);
  cmsCIExyY white = {0.3127, 0.3290, 1};
  cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
  cmsToneCurve *curves[3] = {curve, curve, curve};
  // Greys are relative to D50, as lcms2's own grey profiles are.
  cmsHPROFILE profile =
      is_gray ? cmsCreateGrayProfile(cmsD50_xyY(), curve) : cmsCreateRGBProfile(&white, &primaries, curves);
  uint8_t *bytes = saved(profile, count);
  cmsFreeToneCurve(curve);
  return bytes;
}

uint8_t *pref_srgb(size_t *count) { return saved(cmsCreate_sRGBProfile(), count); }

uint8_t *pref_png_with_profile(const uint8_t *gray, uint32_t width, uint32_t height, uint8_t *profile,
                               size_t profile_count, size_t *count) {
  spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  struct spng_ihdr header = {.width = width, .height = height, .bit_depth = 8};
  struct spng_iccp chunk = {.profile_name = "test", .profile_len = profile_count, .profile = (char *)profile};
  int status = spng_set_ihdr(context, &header);
  if (status == 0) status = spng_set_iccp(context, &chunk);
  if (status == 0)
    status = spng_encode_image(context, gray, (size_t)width * height, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  uint8_t *bytes = status == 0 ? spng_get_png_buffer(context, count, &status) : NULL;
  spng_ctx_free(context);
  return bytes;
}
