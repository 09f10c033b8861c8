// Decoding the coefficients of one scan, a row of MCUs at a time (ITU-T T.81, F.2 and G.2).
//
// All scans of a picture are decoded side by side, so each keeps its own place in the file. Bits that a scan wants but
// does not have are taken for zeros until the end of the block, and only then is it said that they were missing: the
// loops need no exits in the middle.
#include "CJPEGRows.h"
#include "zigzag.h"

#include <string.h>

// MARK: Tables

bool cjr_table_make(cjr_table *table, const uint8_t counts[16], const uint8_t symbols[256]) {
  memset(table, 0, sizeof *table);
  memcpy(table->symbols, symbols, sizeof table->symbols);
  uint32_t code = 0;
  int32_t index = 0;
  for (int length = 1; length <= 16; length++) {
    uint32_t number = counts[length - 1];
    table->offset[length] = index - (int32_t)code;
    if (code + number > 1u << length || index + (int32_t)number > 256) return false;
    for (uint32_t i = 0; i < number; i++, code++, index++) {
      if (length > 8) continue;
      uint32_t first = code << (8 - length);
      uint32_t past = (code + 1) << (8 - length);
      for (uint32_t look = first; look < past; look++) table->look[look] = (uint16_t)(length << 8 | symbols[index]);
    }
    table->limit[length] = code << (16 - length);
    code <<= 1;
  }
  return true;
}

// MARK: Bits

size_t cjr_find_marker(const uint8_t *bytes, size_t count) {
  const uint8_t *at = bytes, *end = bytes + count;
  while (at < end && (at = memchr(at, 0xff, (size_t)(end - at))) != NULL) {
    if (at + 1 == end) break;
    uint8_t code = at[1];
    if (code == 0xff) {
      at++;
    } else if (code == 0 || (code >= 0xd0 && code <= 0xd7)) {
      at += 2;
    } else {
      return (size_t)(at - bytes);
    }
  }
  return count;
}

/// Gets the next byte to hand; false at the end.
static bool fill(cjr_scan *scan) {
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
static int next_byte(cjr_scan *scan) {
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

static bool has_ff(uint64_t word) {
  uint64_t flipped = ~word;
  return ((flipped - 0x0101010101010101u) & ~flipped & 0x8080808080808080u) != 0;
}

/// Has more than 56 bits at hand.
static void refill(cjr_scan *scan) {
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

// MARK: Blocks. Each returns false for what no encoder makes.

/// Coefficients have 16 bits, and what is beyond is lost, as in libjpeg.
static inline int16_t shifted(int32_t value, int low) { return (int16_t)((uint32_t)value << low); }

static inline bool first_dc(cjr_scan *scan, uint32_t index, int16_t *block) {
  int size = next_symbol(scan, scan->dc[index]);
  if (size < 0 || size > 15) return false;
  int32_t *prediction = &scan->predictions[index];
  *prediction = (int32_t)((uint32_t)*prediction + (uint32_t)next_number(scan, size));
  block[0] = shifted(*prediction, scan->low);
  return true;
}

static inline bool finer_dc(cjr_scan *scan, int16_t *block) {
  if (next_bit(scan)) block[0] |= (int16_t)(1 << scan->low);
  return true;
}

static bool first_ac(cjr_scan *scan, const cjr_table *table, int16_t *block, int first) {
  if (scan->zero_run > 0) {
    scan->zero_run--;
    return true;
  }
  for (int k = first; k <= scan->last; k++) {
    int symbol = next_symbol(scan, table);
    if (symbol < 0) return false;
    int run = symbol >> 4, size = symbol & 15;
    if (size > 0) {
      k += run;
      if (k > scan->last) return false;
      block[cjr_zigzag[k]] = shifted(next_number(scan, size), scan->low);
    } else if (run == 15) {
      k += 15;
    } else {
      // In a sequential scan the run is of this block only.
      if (scan->is_progressive) scan->zero_run = (1u << run) - 1 + next_bits(scan, run);
      break;
    }
  }
  return true;
}

/// One more bit for a coefficient that is not zero.
static inline void refine(cjr_scan *scan, int16_t *coefficient) {
  int32_t bit = 1 << scan->low;
  if (!next_bit(scan) || (*coefficient & bit) != 0) return;
  *coefficient = (int16_t)(*coefficient + (*coefficient >= 0 ? bit : -bit));
}

static bool finer_ac(cjr_scan *scan, int16_t *block) {
  const cjr_table *table = scan->ac[0];
  int k = scan->first;
  if (scan->zero_run == 0) {
    for (; k <= scan->last; k++) {
      int symbol = next_symbol(scan, table);
      if (symbol < 0) return false;
      int run = symbol >> 4, size = symbol & 15;
      int32_t value = 0;
      if (size > 1) return false;
      if (size == 1) {
        value = next_bit(scan) ? 1 : -1;
      } else if (run < 15) {
        scan->zero_run = (1u << run) + next_bits(scan, run);
        break;
      }
      // The run counts coefficients that are zero so far; the others on the way are made finer.
      for (; k <= scan->last; k++) {
        int16_t *coefficient = &block[cjr_zigzag[k]];
        if (*coefficient != 0) {
          refine(scan, coefficient);
        } else if (run-- == 0) {
          break;
        }
      }
      if (value == 0) continue;
      if (k > scan->last) return false;
      block[cjr_zigzag[k]] = shifted(value, scan->low);
    }
  }
  if (scan->zero_run > 0) {
    for (; k <= scan->last; k++) {
      int16_t *coefficient = &block[cjr_zigzag[k]];
      if (*coefficient != 0) refine(scan, coefficient);
    }
    scan->zero_run--;
  }
  return true;
}

static inline bool block(cjr_scan *scan, uint32_t index, int16_t *block) {
  if (!scan->is_progressive) return first_dc(scan, index, block) && first_ac(scan, scan->ac[index], block, 1);
  if (scan->first == 0) return scan->high == 0 ? first_dc(scan, index, block) : finer_dc(scan, block);
  return scan->high == 0 ? first_ac(scan, scan->ac[0], block, scan->first) : finer_ac(scan, block);
}

// MARK: Rows

static cjr_result verdict(const cjr_scan *scan, bool is_right) {
  // What was decoded of bits that are not there says nothing.
  if (scan->missing > scan->bit_count) return scan->has_failed ? CJR_READ_FAILED : CJR_CUT_OFF;
  return is_right ? CJR_DONE : CJR_DAMAGED;
}

/// Passes over a restart where there has to be one before the next MCU (F.2.2.5).
static cjr_result restart_if_due(cjr_scan *scan) {
  if (scan->restart_interval == 0) return CJR_DONE;
  if (scan->since_restart < scan->restart_interval) {
    scan->since_restart++;
    return CJR_DONE;
  }
  // The bits that fill the last byte up.
  drop(scan, scan->bit_count % 8);
  if (!scan->is_at_marker) refill(scan);
  if (!scan->is_at_marker || scan->bit_count > scan->missing) return CJR_DAMAGED;
  if (scan->marker == 0) return scan->has_failed ? CJR_READ_FAILED : CJR_CUT_OFF;
  if (scan->marker != 0xd0 + scan->restarts % 8) return CJR_DAMAGED;
  scan->restarts++;
  scan->since_restart = 1;
  scan->is_at_marker = false;
  scan->marker = 0;
  scan->bits = 0;
  scan->bit_count = scan->missing = 0;
  scan->zero_run = 0;
  memset(scan->predictions, 0, sizeof scan->predictions);
  return CJR_DONE;
}

/// A scan of one component has its blocks one by one, and only those that hold pixels (A.2.2).
static cjr_result row_of_one(cjr_scan *scan, const cjr_component *component, uint32_t row) {
  uint32_t first = row * component->down;
  uint32_t end = first + component->down < component->height ? first + component->down : component->height;
  for (uint32_t y = first; y < end; y++) {
    int16_t *at = component->blocks + 64 * (size_t)(y - first) * component->stride;
    for (uint32_t x = 0; x < component->width; x++, at += 64) {
      cjr_result result = restart_if_due(scan);
      if (result == CJR_DONE) result = verdict(scan, block(scan, 0, at));
      if (result != CJR_DONE) return result;
    }
  }
  return CJR_DONE;
}

cjr_result cjr_scan_row(cjr_scan *scan, const cjr_frame *frame, uint32_t row) {
  if (scan->component_count == 1) return row_of_one(scan, &frame->components[scan->components[0]], row);
  for (uint32_t column = 0; column < frame->columns; column++) {
    cjr_result result = restart_if_due(scan);
    if (result != CJR_DONE) return result;
    bool is_right = true;
    for (uint32_t i = 0; i < scan->component_count && is_right; i++) {
      const cjr_component *component = &frame->components[scan->components[i]];
      for (uint32_t y = 0; y < component->down && is_right; y++) {
        int16_t *at = component->blocks + 64 * ((size_t)y * component->stride + (size_t)column * component->across);
        for (uint32_t x = 0; x < component->across && is_right; x++) is_right = block(scan, i, at + 64 * x);
      }
    }
    result = verdict(scan, is_right);
    if (result != CJR_DONE) return result;
  }
  return CJR_DONE;
}
