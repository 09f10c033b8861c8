// What is made of a file's bytes before its blocks are decoded: tables of codes, and where scans end.
#include "CJPEGRows.h"

#include <string.h>

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
