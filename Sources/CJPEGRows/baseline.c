// Coding coefficients as one sequential scan (ITU-T T.81, F.1.2), for libjpeg to decode at once.
//
// What is coded is never kept, so the codes are not made for it, but once for all: every symbol has one, and what
// photos are mostly made of has one that a decoder finds in a single look.
#include "CJPEGRows.h"
#include "zigzag.h"

#include <string.h>

/// How many codes there are of 1 to 16 bits. The last one of all is left out, as it must be.
static const uint8_t dc_counts[16] = {0, 0, 7, 0, 0, 0, 9};
static const uint8_t ac_counts[16] = {0, 1, 2, 2, 0, 0, 24, 0, 0, 0, 213};

enum { DC_SYMBOLS = 16, AC_SYMBOLS = 242 };

/// Symbols of other coefficients by rising length of their codes: the end of a block first, then those of which run and
/// size are small together.
static void order_ac(uint8_t symbols[AC_SYMBOLS]) {
  size_t count = 0;
  symbols[count++] = 0;
  for (int weight = 1; weight <= 16 * 15; weight++) {
    for (int run = 0; run < 16; run++) {
      if (weight % (run + 1) != 0 || weight / (run + 1) > 15) continue;
      symbols[count++] = (uint8_t)(run << 4 | weight / (run + 1));
    }
  }
  symbols[count] = 0xf0;
}

static void assign(uint32_t *codes, const uint8_t counts[16], const uint8_t *symbols) {
  uint32_t code = 0;
  for (uint32_t length = 1; length <= 16; length++, code <<= 1)
    for (int i = 0; i < counts[length - 1]; i++) codes[*symbols++] = length << 16 | code++;
}

void cjr_encode_begin(cjr_encoder *encoder, uint8_t *target) {
  memset(encoder, 0, sizeof *encoder);
  uint8_t dc[DC_SYMBOLS], ac[AC_SYMBOLS];
  for (uint8_t size = 0; size < DC_SYMBOLS; size++) dc[size] = size;
  order_ac(ac);
  assign(encoder->dc, dc_counts, dc);
  assign(encoder->ac, ac_counts, ac);
  const uint8_t start[5] = {0xff, 0xc4, 0, CJR_TABLES_BYTES - 2 - 256, 0x00};
  memcpy(target, start, 5);
  target[2] = 1;
  memcpy(target + 5, dc_counts, 16);
  memcpy(target + 21, dc, DC_SYMBOLS);
  target[37] = 0x10;
  memcpy(target + 38, ac_counts, 16);
  memcpy(target + 54, ac, AC_SYMBOLS);
}

// MARK: Bits

static uint8_t *put_out(cjr_encoder *encoder, uint8_t *target) {
  while (encoder->bit_count >= 8) {
    uint8_t byte = (uint8_t)(encoder->bits >> (encoder->bit_count - 8));
    encoder->bit_count -= 8;
    *target++ = byte;
    if (byte == 0xff) *target++ = 0;
  }
  return target;
}

/// Puts a code and up to 15 bits behind it.
static inline uint8_t *put(cjr_encoder *encoder, uint8_t *target, uint32_t code, uint32_t bits, int size) {
  int length = (int)(code >> 16) + size;
  encoder->bits = encoder->bits << length | (uint64_t)(code & 0xffff) << size | bits;
  encoder->bit_count += length;
  return encoder->bit_count > 32 ? put_out(encoder, target) : target;
}

// MARK: Blocks

/// How many bits a number takes, and which (F.1.2.1); 16 for what has no code.
static inline int size_of(int32_t value, uint32_t *bits) {
  uint32_t magnitude = (uint32_t)(value < 0 ? -value : value);
  int size = magnitude == 0 ? 0 : 32 - __builtin_clz(magnitude);
  *bits = (uint32_t)(value < 0 ? value - 1 : value) & ((1u << size) - 1);
  return size;
}

static uint8_t *put_block(cjr_encoder *encoder, uint32_t index, const int16_t *block, bool is_flat, uint8_t *target) {
  uint32_t bits;
  // Modulo 16 bits, as the decoder adds.
  int size = size_of((int16_t)(block[0] - encoder->predictions[index]), &bits);
  if (size > 15) return NULL;
  encoder->predictions[index] = block[0];
  target = put(encoder, target, encoder->dc[size], bits, size);
  int last = 0;
  for (int k = 1; k < 64 && !is_flat; k++) {
    int32_t value = block[cjr_zigzag[k]];
    if (value == 0) continue;
    int run = k - last - 1;
    for (; run > 15; run -= 16) target = put(encoder, target, encoder->ac[0xf0], 0, 0);
    size = size_of(value, &bits);
    if (size > 15) return NULL;
    target = put(encoder, target, encoder->ac[run << 4 | size], bits, size);
    last = k;
  }
  return last == 63 ? target : put(encoder, target, encoder->ac[0], 0, 0);
}

ptrdiff_t cjr_encode_mcu(cjr_encoder *encoder, const cjr_frame *frame, uint32_t column, uint8_t *target) {
  uint8_t *at = target;
  for (uint32_t i = 0; i < frame->component_count; i++) {
    const cjr_component *component = &frame->components[i];
    for (uint32_t y = 0; y < component->down; y++) {
      const int16_t *block =
          component->blocks + 64 * ((size_t)y * component->stride + (size_t)column * component->across);
      for (uint32_t x = 0; x < component->across; x++) {
        at = put_block(encoder, i, block + 64 * x, component->is_flat, at);
        if (at == NULL) return -1;
      }
    }
  }
  return at - target;
}

size_t cjr_encode_end(cjr_encoder *encoder, uint8_t *target) {
  // Ones, up to the end of the byte.
  uint8_t *at = put(encoder, target, 7u << 16 | 0x7f, 0, 0);
  at = put_out(encoder, at);
  *at++ = 0xff;
  *at++ = 0xd9;
  return (size_t)(at - target);
}
