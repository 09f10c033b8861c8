// Source-over on rows of pixels, at 16 bits a channel.
//
// A plane's pixel is premultiplied RGBA, 65 535 being full and no colour above its alpha. Every product is rounded to
// nearest, so that each layer adds less than 1/65 535: the final 8-bit value is exact to its last place after thousands
// of layers, where 8-bit planes would drift after a few.
//
// Rows need no alignment and do not overlap. What is fully transparent or fully opaque is quick, and comes to the same.
#ifndef CROWBLEND_H
#define CROWBLEND_H

#include <stddef.h>
#include <stdint.h>

/// Lays `count` pixels of 8-bit RGBA with straight alpha over those of a plane, with an opacity in steps of 1/65 535.
void crb_over_8(const uint8_t *source, size_t count, uint16_t opacity, uint16_t *plane);

/// The same of 16-bit RGBA with straight alpha, in the machine's byte order. Samples that are 257 times those of 8 bits
/// come to the same as these.
void crb_over_16(const uint16_t *source, size_t count, uint16_t opacity, uint16_t *plane);

/// The same of another plane.
void crb_over_plane(const uint16_t *source, size_t count, uint16_t opacity, uint16_t *plane);

/// Turns `count` pixels of a plane into 8-bit RGBA with straight alpha, each value rounded to nearest; all 0 where that
/// makes alpha 0.
void crb_resolve(const uint16_t *plane, size_t count, uint8_t *pixels);

#endif
