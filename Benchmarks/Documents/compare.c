// Compares two PNG files of the same size by alpha and by colour multiplied by alpha, and prints the largest
// differences in steps of 8 bits: "alpha 0.00 colour 0.50". The colour of what cannot be seen does not matter.
#include <math.h>
#include <spng.h>
#include <stdio.h>
#include <stdlib.h>

static spng_ctx *begin(const char *path, struct spng_ihdr *header) {
  FILE *file = fopen(path, "rb");
  spng_ctx *context = spng_ctx_new(0);
  if (!file || spng_set_png_file(context, file) || spng_get_ihdr(context, header) ||
      spng_decode_image(context, NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_PROGRESSIVE | SPNG_DECODE_TRNS)) {
    fprintf(stderr, "compare: %s cannot be read\n", path);
    exit(2);
  }
  return context;
}

static void read_row(spng_ctx *context, unsigned char *row, size_t count) {
  int status = spng_decode_row(context, row, count);
  if (status && status != SPNG_EOI) {
    fprintf(stderr, "compare: %s\n", spng_strerror(status));
    exit(2);
  }
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  struct spng_ihdr first_header, second_header;
  spng_ctx *first = begin(arguments[1], &first_header), *second = begin(arguments[2], &second_header);
  if (first_header.width != second_header.width || first_header.height != second_header.height) {
    fputs("compare: the sizes differ\n", stderr);
    return 1;
  }
  size_t row_size = 4 * (size_t)first_header.width;
  unsigned char *a = malloc(row_size), *b = malloc(row_size);
  double alpha = 0, colour = 0;
  for (unsigned row = 0; row < first_header.height; row++) {
    read_row(first, a, row_size);
    read_row(second, b, row_size);
    for (size_t index = 0; index < row_size; index += 4) {
      alpha = fmax(alpha, abs(a[index + 3] - b[index + 3]));
      for (size_t channel = index; channel < index + 3; channel++)
        colour = fmax(colour, fabs(a[channel] * a[index + 3] - (double)b[channel] * b[index + 3]) / 255);
    }
  }
  printf("alpha %.2f colour %.2f\n", alpha, colour);
  return 0;
}
