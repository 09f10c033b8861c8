// The bits of a scan's data, and the codes in them (ITU-T T.81, F.2.2).
//
// Bits that a scan wants but does not have are taken for zeros until the end of the block, and only then is it said
// that they were missing: the loops need no exits in the middle.
#ifndef CJPEGROWS_BITS_H
#define CJPEGROWS_BITS_H

#include "CJPEGRows.h"

/// Gets the next byte to hand; false at the end.
static inline bool fill(cjr_scan *scan) {
  if (scan->left > 0) return true;
  uint64_t rest = scan->end - scan->offset;
  size_t wanted = rest < scan->window_size ? (size_t)rest : scan->window_size;
  if (wanted == 0) return false;
  ptrdiff_t got = scan->read(scan->user, scan->offset, scan->window, wanted);
  if (got <= 0) {
    scan->has_failed = got < 0;
    return false;
  }
  scan->offset += (uint64_t)got;
  scan->next = scan->window;
  scan->left = (size_t)got;
  return true;
}

/// Takes the next byte of data; -1 where there is none before a marker or the end.
static inline int next_byte(cjr_scan *scan) {
  if (!fill(scan)) {
    scan->is_at_marker = true;
    return -1;
  }
  scan->left--;
  uint8_t byte = *scan->next++;
  if (byte != 0xff) return byte;
  uint8_t code = 0xff;
  while (code == 0xff && fill(scan)) {
    scan->left--;
    code = *scan->next++;
  }
  if (code == 0) return 0xff;
  scan->is_at_marker = true;
  scan->marker = code;
  return -1;
}

static inline bool has_ff(uint64_t word) {
  uint64_t flipped = ~word;
  return ((flipped - 0x0101010101010101u) & ~flipped & 0x8080808080808080u) != 0;
}

/// Has more than 56 bits at hand.
static inline void refill(cjr_scan *scan) {
  while (scan->bit_count <= 56) {
    if (scan->left >= 8 && !scan->is_at_marker) {
      uint64_t word = 0;
      for (int i = 0; i < 8; i++) word = word << 8 | scan->next[i];
      if (!has_ff(word)) {
        // A last byte of which only a part fits is put in again later, which changes nothing.
        int bytes = (64 - scan->bit_count) >> 3;
        scan->bits |= word >> scan->bit_count;
        scan->bit_count += 8 * bytes;
        scan->next += bytes;
        scan->left -= (size_t)bytes;
        return;
      }
    }
    int byte = scan->is_at_marker ? -1 : next_byte(scan);
    if (byte < 0) {
      int bytes = (64 - scan->bit_count) >> 3;
      scan->bit_count += 8 * bytes;
      scan->missing += 8 * bytes;
      return;
    }
    scan->bits |= (uint64_t)byte << (56 - scan->bit_count);
    scan->bit_count += 8;
  }
}

static inline void drop(cjr_scan *scan, int count) {
  scan->bits <<= count;
  scan->bit_count -= count;
}

/// The next symbol, and at least 16 bits at hand behind it; -1 for no code.
static inline int next_symbol(cjr_scan *scan, const cjr_table *table) {
  if (scan->bit_count < 32) refill(scan);
  uint32_t look = table->look[scan->bits >> 56];
  if (look != 0) {
    drop(scan, (int)(look >> 8));
    return (int)(look & 255);
  }
  uint32_t code = (uint32_t)(scan->bits >> 48);
  int length = 9;
  while (length <= 16 && code >= table->limit[length]) length++;
  if (length > 16) return -1;
  drop(scan, length);
  return table->symbols[((int32_t)(code >> (16 - length)) + table->offset[length]) & 255];
}

/// The next bits, up to 16, that `next_symbol` has left at hand.
static inline uint32_t next_bits(cjr_scan *scan, int count) {
  if (count == 0) return 0;
  uint32_t value = (uint32_t)(scan->bits >> (64 - count));
  drop(scan, count);
  return value;
}

static inline bool next_bit(cjr_scan *scan) {
  if (scan->bit_count < 1) refill(scan);
  bool bit = scan->bits >> 63;
  drop(scan, 1);
  return bit;
}

/// A number of `size` bits: those that begin with 0 are negative (F.2.2.1).
static inline int32_t next_number(cjr_scan *scan, int size) {
  int32_t value = (int32_t)next_bits(scan, size);
  return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

#endif
