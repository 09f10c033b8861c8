// The three inner loops of reading PNG rows: inflating, taking filters off, and widening pixels to RGBA.
//
// What is decided about a file is decided in Swift; here is what has to be fast, or is a C library's. Nothing here
// allocates, as long as the caller gives the memory that it was told to give.
#ifndef CPNGROWS_H
#define CPNGROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Which library inflates.
typedef enum cpr_inflater {
  /// zlib: a state of 40 KB.
  CPR_SMALL,
  /// ISA-L where it was known at build time and is installed, with a state of 87 KB; otherwise zlib. The first use of
  /// any function with this value loads it.
  CPR_FAST,
} cpr_inflater;

/// What came of inflating.
typedef enum cpr_result {
  /// The output is full or the input is used up.
  CPR_GOES_ON,
  /// All has been put out, and the checksum at the end of the stream is right.
  CPR_ENDED,
  /// What the output holds so far is right; what comes next in the stream is not deflate.
  CPR_DAMAGED,
  /// The stream is whole, but its Adler-32 belongs to other bytes.
  CPR_WRONG_CHECKSUM,
  /// zlib wanted more memory than it was given, and the system had none.
  CPR_NO_MEMORY,
} cpr_result;

/// The bytes that inflating takes from and puts into; each call moves on what it has used.
typedef struct cpr_stream {
  const uint8_t *input;
  size_t input_count;
  uint8_t *output;
  size_t output_count;
} cpr_stream;

/// The bytes of a state.
size_t cpr_inflater_byte_count(cpr_inflater kind);

/// Makes a state in memory of that many bytes, aligned to 16. The stream's two header bytes must not be given to it:
/// both libraries then take distances up to 32 KB, whatever a header claims, and so accept the same files.
///
/// False where zlib wanted more memory than it was given, and the system had none.
bool cpr_inflate_begin(cpr_inflater kind, void *state);

/// Inflates until the output is full, the input is used up, or the stream ends.
///
/// Bytes before a damage are put out before it is reported, so that both libraries fail at the same byte.
cpr_result cpr_inflate(cpr_inflater kind, void *state, cpr_stream *stream);

/// Gives back what zlib took beyond its memory, normally nothing.
void cpr_inflate_end(cpr_inflater kind, void *state);

/// The CRC-32 of PNG chunks, continued; begins with 0.
uint32_t cpr_crc32(cpr_inflater kind, uint32_t crc, const uint8_t *bytes, size_t count);

/// How many bytes behind a row must be readable; what they hold does not matter.
enum { CPR_ROW_MARGIN = 16 };

/// Takes a filter off a row (PNG specification, 9.2). `row` holds the row above, zeros for the first, and becomes this
/// one, so that only one row need be kept. Both have a margin behind them. `pixel` is 1, 2, 3, 4, 6 or 8 bytes. False
/// for a filter that there is not.
bool cpr_unfilter(unsigned filter, const uint8_t *filtered, uint8_t *row, size_t count, unsigned pixel);

/// How the pixels of a row are stored in a file.
typedef struct cpr_pixels {
  /// 1 grey or index, 2 grey and alpha, 3 colour, 4 colour and alpha.
  uint8_t channels;
  /// 1 or 2, the high byte first.
  uint8_t sample_bytes;
  bool is_indexed;
  /// Whether pixels equal to `key` are transparent.
  bool has_key;
  uint16_t key[3];
} cpr_pixels;

/// Widens a row that has a margin behind it to 8-bit RGBA, 16-bit samples rounded to nearest. `palette` has 256 entries of RGBA, if indexed.
void cpr_expand_8(const cpr_pixels *pixels, const uint8_t *palette, const uint8_t *row, size_t width, uint8_t *rgba);

/// Widens a row to 16-bit RGBA in the machine's byte order, 8-bit samples times 257.
void cpr_expand_16(const cpr_pixels *pixels, const uint8_t *palette, const uint8_t *row, size_t width, uint16_t *rgba);

#endif
