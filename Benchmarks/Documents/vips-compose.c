// Composes the layers of a document with libvips, as its manual advises: files read sequentially, one composite for
// each stack, one picture written. Prints the most memory that was resident, in KB.
//
//   vips-compose PLAN OUT.png WIDTH HEIGHT LEVEL
//
// PLAN has a line for each item, the lowest first: "layer X Y OPACITY FILE", "begin" and "end OPACITY" around an
// isolated group.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

enum { most_layers = 2000, deepest = 16 };

// The layers of a stack that have been read so far.
struct stack {
  VipsImage *images[most_layers];
  int x[most_layers], y[most_layers];
  int count;
};

static struct stack *stacks[deepest];
static int width, height;

static void check(int failed) {
  if (failed) {
    fprintf(stderr, "vips-compose: %s", vips_error_buffer());
    exit(1);
  }
}

static void push(struct stack *stack, VipsImage *image, int x, int y, double opacity) {
  if (stack->count == most_layers) {
    fputs("vips-compose: too many layers\n", stderr);
    exit(1);
  }
  if (opacity < 1) {
    double factors[] = {1, 1, 1, opacity}, offsets[] = {0, 0, 0, 0};
    VipsImage *faded;
    check(vips_linear(image, &faded, factors, offsets, 4, NULL));
    g_object_unref(image);
    image = faded;
  }
  stack->images[stack->count] = image;
  stack->x[stack->count] = x;
  stack->y[stack->count] = y;
  stack->count++;
}

// The stack over a transparent canvas, which comes first and gives the size; as floating point, as libvips composes.
static VipsImage *composed(struct stack *stack) {
  VipsImage *empty, *canvas, *result;
  check(vips_black(&empty, width, height, "bands", 4, NULL));
  check(vips_copy(empty, &canvas, "interpretation", VIPS_INTERPRETATION_sRGB, NULL));
  g_object_unref(empty);
  memmove(stack->images + 1, stack->images, stack->count * sizeof *stack->images);
  stack->images[0] = canvas;
  int modes[most_layers];
  for (int index = 0; index < stack->count; index++) modes[index] = VIPS_BLEND_MODE_OVER;
  VipsArrayInt *x = vips_array_int_new(stack->x, stack->count), *y = vips_array_int_new(stack->y, stack->count);
  check(vips_composite(stack->images, &result, stack->count + 1, modes, "x", x, "y", y, NULL));
  vips_area_unref(VIPS_AREA(x));
  vips_area_unref(VIPS_AREA(y));
  for (int index = 0; index <= stack->count; index++) g_object_unref(stack->images[index]);
  stack->count = 0;
  return result;
}

static void print_peak(void) {
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmHWM:", 6)) printf("%ld\n", atol(line + 6));
}

int main(int count, char **arguments) {
  if (count != 6 || VIPS_INIT(arguments[0])) return 2;
  width = atoi(arguments[3]);
  height = atoi(arguments[4]);
  for (int depth = 0; depth < deepest; depth++) stacks[depth] = calloc(1, sizeof **stacks);
  FILE *plan = fopen(arguments[1], "r");
  if (!plan) return 2;
  char line[4096], file[4096];
  int depth = 0, x, y;
  double opacity;
  while (fgets(line, sizeof line, plan)) {
    if (sscanf(line, "layer %d %d %lf %4095[^\n]", &x, &y, &opacity, file) == 4) {
      VipsImage *image = vips_image_new_from_file(file, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
      check(!image);
      push(stacks[depth], image, x, y, opacity);
    } else if (!strncmp(line, "begin", 5) && depth + 1 < deepest) {
      depth++;
    } else if (sscanf(line, "end %lf", &opacity) == 1 && depth > 0) {
      depth--;
      push(stacks[depth], composed(stacks[depth + 1]), 0, 0, opacity);
    } else {
      fprintf(stderr, "vips-compose: cannot read: %s", line);
      return 2;
    }
  }
  VipsImage *result = composed(stacks[0]), *rounded, *bytes;
  check(vips_rint(result, &rounded, NULL) || vips_cast_uchar(rounded, &bytes, NULL));
  check(vips_pngsave(bytes, arguments[2], "compression", atoi(arguments[5]), NULL));
  g_object_unref(bytes);
  g_object_unref(rounded);
  g_object_unref(result);
  print_peak();
  return 0;
}
