// Decoding the coefficients of one scan, a row of MCUs at a time (ITU-T T.81, F.2 and G.2).
//
// All scans of a picture are decoded side by side, so each keeps its own place in the file.
#include "bits.h"
#include "zigzag.h"

#include <string.h>

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
