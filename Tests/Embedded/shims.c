// What Embedded Swift expects of its surroundings, for WebAssembly without an operating system: a small
// allocator, the memory functions, and two hooks that trap. Only the ledger's model test is run on top of it.

#include <stddef.h>
#include <stdint.h>

// Where the linker says the free memory begins.
extern unsigned char __heap_base;

// Blocks are powers of two, from 32 bytes up, and each size has a list of free blocks. The header makes the
// memory after it aligned to 16 bytes, and says whether the block is in use, so that freeing twice traps.
enum { smallest = 5, largest = 28, page = 65536, in_use = 0x75736564 };

typedef struct block {
  uint32_t order;
  uint32_t state;
  struct block *next;
  uint32_t padding;
} block;

_Static_assert(sizeof(block) == 16, "the header keeps the alignment");

static block *free_blocks[largest + 1];
static uintptr_t top;

static block *fresh(uint32_t order) {
  if (top == 0) top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  uintptr_t start = top, end = start + ((uintptr_t)1 << order);
  uintptr_t have = (uintptr_t)__builtin_wasm_memory_size(0) * page;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + page - 1) / page) == (size_t)-1) return NULL;
  top = end;
  return (block *)start;
}

void *malloc(size_t size) {
  uint32_t order = smallest;
  while (order <= largest && ((size_t)1 << order) - sizeof(block) < size) order += 1;
  if (order > largest) return NULL;
  block *b = free_blocks[order];
  if (b != NULL) {
    free_blocks[order] = b->next;
  } else {
    b = fresh(order);
    if (b == NULL) return NULL;
    b->order = order;
  }
  b->state = in_use;
  return b + 1;
}

void free(void *memory) {
  if (memory == NULL) return;
  block *b = (block *)memory - 1;
  if (b->state != in_use) __builtin_trap();
  b->state = 0;
  b->next = free_blocks[b->order];
  free_blocks[b->order] = b;
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment > 16) return 22;  // EINVAL: nothing in the ledger asks for more
  *result = malloc(size);
  return *result == NULL ? 12 : 0;  // ENOMEM
}

// These three are single instructions with the bulk memory feature, not calls of themselves.
void *memcpy(void *restrict to, const void *restrict from, size_t count) { return __builtin_memcpy(to, from, count); }
void *memmove(void *to, const void *from, size_t count) { return __builtin_memmove(to, from, count); }
void *memset(void *to, int byte, size_t count) { return __builtin_memset(to, byte, count); }

// There is nowhere to print to.
int putchar(int character) { return character; }

// The seed of hashing. Always the same, so that every run is the same.
void arc4random_buf(void *to, size_t count) { memset(to, 0x5a, count); }

uintptr_t __stack_chk_guard = 0x5a17c0de;
void __stack_chk_fail(void) { __builtin_trap(); }
