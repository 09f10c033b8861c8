// Makes pictures, and decodes PNG as a whole with libspng.
//
//   pictures picture WIDTH HEIGHT SEED   writes a PPM picture: slopes, shapes and grain, as photos have
//   pictures adam7                       makes an interlaced PNG picture of a PPM picture
//   pictures decode FILE                 decodes a PNG picture into memory
#include <spng.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why) {
  fprintf(stderr, "pictures: %s\n", why);
  exit(1);
}

static uint32_t noise(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

static void picture(uint32_t width, uint32_t height, uint32_t seed) {
  uint8_t *row = malloc(3 * (size_t)width);
  if (row == NULL) fail("no memory");
  printf("P6\n%u %u\n255\n", width, height);
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      uint32_t shape = noise((x / 97) * 7919 + (y / 61) * 104729 + seed);
      uint32_t grain = noise(x * 31 + y * 65537 + seed) % 12;
      row[3 * x] = (uint8_t)(x * 150 / width + grain + shape % 80);
      row[3 * x + 1] = (uint8_t)(y * 150 / height + grain + (shape >> 8) % 80);
      row[3 * x + 2] = (uint8_t)((x + y) * 100 / (width + height) + grain + (shape >> 16) % 100);
    }
    fwrite(row, 3, width, stdout);
  }
  free(row);
}

static void adam7(void) {
  uint32_t width, height;
  if (scanf("P6 %u %u 255", &width, &height) != 2 || getchar() == EOF) fail("no PPM picture");
  size_t count = 3 * (size_t)width * height;
  uint8_t *pixels = malloc(count);
  if (pixels == NULL || fread(pixels, 1, count, stdin) != count) fail("the PPM picture ends early");
  spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
  struct spng_ihdr header = {width, height, 8, SPNG_COLOR_TYPE_TRUECOLOR, 0, 0, 1};
  spng_set_png_file(context, stdout);
  spng_set_ihdr(context, &header);
  if (spng_encode_image(context, pixels, count, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) != 0) fail("it cannot be encoded");
  spng_ctx_free(context);
  free(pixels);
}

static void decode(const char *name) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) fail("it cannot be opened");
  spng_ctx *context = spng_ctx_new(0);
  spng_set_png_file(context, file);
  size_t count;
  if (spng_decoded_image_size(context, SPNG_FMT_RGBA8, &count) != 0) fail("it is no PNG picture");
  uint8_t *pixels = malloc(count);
  if (spng_decode_image(context, pixels, count, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS) != 0) fail("it cannot be decoded");
  spng_ctx_free(context);
  free(pixels);
  fclose(file);
}

int main(int count, char **words) {
  if (count == 5 && strcmp(words[1], "picture") == 0) {
    picture((uint32_t)atoi(words[2]), (uint32_t)atoi(words[3]), (uint32_t)atoi(words[4]));
  } else if (count == 2 && strcmp(words[1], "adam7") == 0) {
    adam7();
  } else if (count == 3 && strcmp(words[1], "decode") == 0) {
    decode(words[2]);
  } else {
    fail("see the beginning of pictures.c");
  }
  return fflush(stdout) == 0 ? 0 : 1;
}
