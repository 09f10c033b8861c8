// Reading JPEG rows: libjpeg behind results instead of jumps, and the loops over scans whose pixels come in layers.
//
// What is decided about a file is decided in Swift; here is what has to be fast, or is a C library's. libjpeg leaves a
// failed call by longjmp, which must not cross Swift: every jump starts and ends inside one function of this target.
#ifndef CJPEGROWS_H
#define CJPEGROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What came of a call.
typedef enum cjr_result {
  CJR_DONE,
  /// The source has no more bytes, and the picture is not whole.
  CJR_CUT_OFF,
  /// The file breaks the specification; there is a message.
  CJR_DAMAGED,
  /// Reading the source failed; it knows why.
  CJR_READ_FAILED,
  /// The system had no memory, or more was wanted than the caller allowed.
  CJR_NO_MEMORY,
  /// The picture is not the one that the caller knows.
  CJR_CHANGED,
} cjr_result;

/// Copies up to `count` bytes from `offset` on into `buffer` and returns how many; 0 at the end, -1 for a failure. Must
/// return, not jump.
typedef ptrdiff_t (*cjr_read)(void *user, uint64_t offset, uint8_t *buffer, size_t count);

// MARK: libjpeg (decoder.c)

/// Loads libjpeg, the first time; NULL, or why it cannot be used. Any thread may call.
const char *cjr_library_problem(void);

/// How the samples of a pixel are to be understood.
typedef enum cjr_colors { CJR_GRAY, CJR_YCC, CJR_RGB, CJR_CMYK, CJR_YCCK } cjr_colors;

/// What a decoder is to do.
typedef struct cjr_job {
  cjr_read read;
  void *user;
  cjr_colors colors;
  /// Whether CMYK samples are stored as what is left of white, as Adobe's programs do.
  bool is_inverted;
  /// What the file has said before: pixels a side, and kinds of samples.
  uint32_t width, height, component_count;
  /// The size of the rows in eighths of the picture's, 1 to 8.
  uint32_t eighths;
  /// Whether damaged data are an error, or are decoded as far as they go.
  bool is_strict;
  /// The most bytes that libjpeg may take.
  size_t most_bytes;
} cjr_job;

typedef struct cjr_decoder cjr_decoder;

/// The bytes of a decoder, which holds a window of the file; libjpeg's own memory comes on top.
size_t cjr_decoder_byte_count(void);

/// Makes a decoder in memory aligned to 16 and reads up to the first row. Only with a library, see above. Whatever the
/// result, `cjr_end` must follow.
cjr_result cjr_begin(void *memory, const cjr_job *job);

/// Decodes the next row into `row`: 4 bytes a pixel, red, green, blue and 255. With the last one, the end of the file
/// is looked for. Where the decoder is not strict and the data have ended, the result is CJR_CUT_OFF, and no more rows
/// come.
cjr_result cjr_row(cjr_decoder *decoder, uint8_t *row);

/// Gives back what libjpeg took.
void cjr_end(cjr_decoder *decoder);

/// What libjpeg said to the result CJR_DAMAGED, or to the first damage that was passed over; empty if there was none.
const char *cjr_message(const cjr_decoder *decoder);

/// The size of the rows, and how many bytes libjpeg has taken so far.
uint32_t cjr_width(const cjr_decoder *decoder);
uint32_t cjr_height(const cjr_decoder *decoder);
size_t cjr_taken_byte_count(const cjr_decoder *decoder);

// MARK: Encoding (encoder.c)

/// Encodes pixels of 8-bit RGBA, whose alpha is passed over, as a baseline JPEG file into `target`. Returns how many bytes
/// it took; 0 where it would take more than `capacity`, or there is no memory. `row` is room for 3 bytes a pixel of a row.
/// Only with a library, see above.
size_t cjr_encode_picture(const uint8_t *pixels, uint32_t width, uint32_t height, int quality, uint8_t *row,
                          uint8_t *target, size_t capacity);

// MARK: Pictures in several scans (tables.c, scan.c, baseline.c)

/// How far a marker is that ends a scan's data: the index of its first byte, or `count` if there is none in these
/// bytes. Bytes 0xff that are followed by 0 or a restart do not end it; one at the very end is not looked at.
size_t cjr_find_marker(const uint8_t *bytes, size_t count);

/// A Huffman table for decoding.
typedef struct cjr_table {
  /// By the next eight bits: the length of the code, times 256, and its symbol; 0 where the code is longer.
  uint16_t look[256];
  /// By length: above every code of that length, moved left to 16 bits.
  uint32_t limit[18];
  /// By length: what makes a code the index of its symbol.
  int32_t offset[17];
  uint8_t symbols[256];
} cjr_table;

/// Makes a table of the numbers of codes of 1 to 16 bits, and of the symbols; false if that are no prefix codes.
bool cjr_table_make(cjr_table *table, const uint8_t counts[16], const uint8_t symbols[256]);

/// A component of the picture, and its blocks in one row of MCUs.
typedef struct cjr_component {
  /// Blocks a MCU, across and down.
  uint32_t across, down;
  /// Blocks that hold pixels.
  uint32_t width, height;
  /// Blocks in a row of `blocks`: whole MCUs.
  uint32_t stride;
  /// Of the row of MCUs: `down` rows of `stride` blocks of 64 coefficients, in the order of rows of a block.
  int16_t *blocks;
  /// Whether no more is wanted than the first coefficient of each block.
  bool is_flat;
} cjr_component;

typedef struct cjr_frame {
  cjr_component components[4];
  uint32_t component_count;
  /// MCUs across and down.
  uint32_t columns, rows;
} cjr_frame;

/// A scan (ITU-T T.81, B.2.3), and how far it has been decoded.
typedef struct cjr_scan {
  uint32_t component_count;
  uint8_t components[4];
  const cjr_table *dc[4];
  const cjr_table *ac[4];
  bool is_progressive;
  /// The coefficients that it holds, in zigzag order.
  uint8_t first, last;
  /// The bit above those that it holds, and the lowest of them; `high` is 0 where it is the first of its coefficients.
  uint8_t high, low;
  uint32_t restart_interval;
  /// Where its data lie.
  uint64_t offset, end;

  cjr_read read;
  void *user;
  uint8_t *window;
  size_t window_size;

  // Where it is; zeros in the beginning.
  const uint8_t *next;
  size_t left;
  uint64_t bits;
  int32_t bit_count;
  /// Bits that were put in for such as there are not.
  int32_t missing;
  /// Whether the bytes before a marker or the end have been used up, and which marker; 0 for the end.
  bool is_at_marker;
  uint8_t marker;
  bool has_failed;
  /// Blocks to come that this scan adds nothing new to.
  uint32_t zero_run;
  int32_t predictions[4];
  uint32_t since_restart;
  uint32_t restarts;
} cjr_scan;

/// Decodes what the scan holds of a row of MCUs into the frame's blocks; rows are asked for one after the other.
cjr_result cjr_scan_row(cjr_scan *scan, const cjr_frame *frame, uint32_t row);

/// A scan of all components, coded anew. The codes are our own: short to look up, as nobody keeps what they make.
typedef struct cjr_encoder {
  uint64_t bits;
  int32_t bit_count;
  int32_t predictions[4];
  /// By symbol: the length of its code, times 65536, and the code; for first coefficients, and for the others.
  uint32_t dc[16];
  uint32_t ac[256];
} cjr_encoder;

enum {
  /// The most bytes that a MCU takes: ten blocks of 64 coefficients in 26 bits each, every byte followed by a zero.
  CJR_MOST_MCU_BYTES = 10 * 64 * 26 / 8 * 2,
  /// The bytes of the segment of tables.
  CJR_TABLES_BYTES = 2 + 2 + 2 * 17 + 16 + 242,
};

/// Begins a scan, and puts out the segment with its tables, CJR_TABLES_BYTES.
void cjr_encode_begin(cjr_encoder *encoder, uint8_t *target);

/// Codes a MCU of the row that the frame holds into `target`, which has room for CJR_MOST_MCU_BYTES, and returns how
/// many bytes it took; -1 for a coefficient that no code can hold.
ptrdiff_t cjr_encode_mcu(cjr_encoder *encoder, const cjr_frame *frame, uint32_t column, uint8_t *target);

/// Puts out the bits that are left, and the end of the picture; at most 20 bytes. Returns how many.
size_t cjr_encode_end(cjr_encoder *encoder, uint8_t *target);

#endif
