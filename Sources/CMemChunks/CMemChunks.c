#define _GNU_SOURCE
#include "CMemChunks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__APPLE__)
#include <malloc/malloc.h>
#endif

_Thread_local mc_thread mc_this_thread;

size_t mc_thread_take_number(void) {
  static size_t last;
  size_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&mc_this_thread.number, number, __ATOMIC_RELAXED);
  return number;
}

void mc_thread_drop_number(void) { __atomic_store_n(&mc_this_thread.number, 0, __ATOMIC_RELAXED); }

bool mc_make_end_key(unsigned long *key, void (*ended)(void *)) {
  pthread_key_t made;
  if (pthread_key_create(&made, ended)) return false;
  *key = made;
  return true;
}

bool mc_thread_at_end(unsigned long key, void *context) {
  return pthread_setspecific((pthread_key_t)key, context) == 0;
}

// Exported by every Swift runtime, for weak references; it is the only way to take a reference to an
// object that another thread may be letting go of.
extern void *swift_tryRetain(void *object);

bool mc_try_retain(void *object) { return swift_tryRetain(object) != NULL; }

mc_hits *mc_hits_make(void) {
  mc_hits *ring = calloc(1, sizeof(mc_hits) + mc_hits_capacity * sizeof(uint32_t));
  if (!ring) abort();
  return ring;
}

void mc_hits_destroy(mc_hits *ring) { free(ring); }

static uint32_t fork_count;

static void count_fork(void) { __atomic_fetch_add(&fork_count, 1, __ATOMIC_RELAXED); }

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, count_fork); }

uint32_t mc_fork_count(void) { return __atomic_load_n(&fork_count, __ATOMIC_RELAXED); }

void mc_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork_handler);
}

void mc_trim_heap(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#elif defined(__APPLE__)
  // Not run here.
  malloc_zone_pressure_relief(NULL, 0);
#endif
}

uint64_t mc_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *mc_reserve(size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
  flags |= MAP_NORESERVE;
#endif
  // Not MADV_DONTFORK: the child of a fork may read what is ready.
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return base == MAP_FAILED ? NULL : base;
}

void mc_unreserve(void *base, size_t bytes) { munmap(base, bytes); }

void mc_discard_pages(void *base, size_t bytes) {
#if defined(__APPLE__)
  // Not run here. On Darwin MADV_DONTNEED is only advice; mapping anew over the range is certain.
  mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#else
  madvise(base, bytes, MADV_DONTNEED);
#endif
}

void mc_populate_pages(void *base, size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  // Where it fails, the first writes do it.
  int error = errno;
  madvise(base, bytes, MADV_POPULATE_WRITE);
  errno = error;
#else
  (void)base, (void)bytes;
#endif
}

bool mc_use_huge_pages(void *base, size_t bytes, bool wanted) {
#if defined(MADV_HUGEPAGE)
  return madvise(base, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
#else
  (void)base, (void)bytes, (void)wanted;
  return false;
#endif
}

size_t mc_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

size_t mc_physical_pages(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? (size_t)pages : 0;
}

typedef struct {
  void (*body)(void *);
  void *context;
} start;

static void *run(void *argument) {
  start what = *(start *)argument;
  free(argument);
  what.body(what.context);
  return NULL;
}

bool mc_start_thread(void (*body)(void *), void *context) {
  start *what = malloc(sizeof *what);
  if (!what) return false;
  *what = (start){body, context};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int failure = pthread_create(&thread, &attributes, run, what);
  pthread_attr_destroy(&attributes);
  if (failure) free(what);
  return failure == 0;
}
