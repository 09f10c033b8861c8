// libwebp's encoder and lcms2's profiles, to make files of for tests.
#ifndef PICTUREREFERENCE_H
#define PICTUREREFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/// Encodes 8-bit RGBA as a WebP file; without loss where `quality` is negative. To be freed.
uint8_t *pref_webp(const uint8_t *pixels, int width, int height, float quality, size_t *count);

/// What libwebp makes of a file as a whole, 8-bit RGBA; NULL if nothing. To be freed.
uint8_t *pref_webp_decode(const uint8_t *file, size_t count, int *width, int *height);

/// A profile with the primaries of sRGB, or of greys, whose numbers are light to this power. To be freed.
uint8_t *pref_profile(int is_gray, double gamma, size_t *count);

/// The profile of sRGB. To be freed.
uint8_t *pref_srgb(size_t *count);

/// A PNG file of grey pixels with a profile; NULL if that fails. To be freed.
uint8_t *pref_png_with_profile(const uint8_t *gray, uint32_t width, uint32_t height, uint8_t *profile,
                               size_t profile_count, size_t *count);

#endif
