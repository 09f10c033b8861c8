// What Swift cannot say: a thread-local variable that a hit reads without a call, two functions of the Swift
// runtime and of the C library that no module exports, and a word about fork.
#ifndef CMEMCHUNKS_H
#define CMEMCHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a thread is doing inside pools right now, innermost first; each lies on the thread's own stack.
typedef struct mc_activity {
  int32_t kind;
  /// Set when `free()` asked to hand its memory back late.
  int32_t slot;
  const void *pool;
  void *chunk;
  void *late;
  /// Nanoseconds that other generations took inside this one.
  uint64_t nested;
  struct mc_activity *outer;
} mc_activity;

enum { mc_hits_capacity = 4096 };

/// Hits of one thread on chunks of one pool, on their way to whoever listens: a ring that the thread fills and the pool empties.
typedef struct mc_hits {
  /// How many were put in, and how many the filler knows to be taken out; the filler's.
  uint64_t filled;
  uint64_t known_taken;
  // The next is written by another thread: not on the same line.
  char line[112];
  /// How many were taken out.
  uint64_t taken;
  uint32_t places[];
} mc_hits;

/// An empty ring; ends the process where there is no memory.
mc_hits *mc_hits_make(void);
void mc_hits_destroy(mc_hits *ring);

/// Puts one in: two plain stores. False where there is no place.
static inline bool mc_hits_put(mc_hits *ring, uint32_t hit) {
  uint64_t place = ring->filled;
  if (place - ring->known_taken >= mc_hits_capacity) {
    ring->known_taken = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
    if (place - ring->known_taken >= mc_hits_capacity) return false;
  }
  ring->places[place % mc_hits_capacity] = hit;
  __atomic_store_n(&ring->filled, place + 1, __ATOMIC_RELEASE);
  return true;
}

/// The oldest that are in it and lie beside each other; how many, and where they begin.
static inline uint32_t mc_hits_peek(mc_hits *ring, const uint32_t **first) {
  uint64_t count = __atomic_load_n(&ring->filled, __ATOMIC_ACQUIRE) - ring->taken;
  uint64_t place = ring->taken % mc_hits_capacity;
  *first = ring->places + place;
  return (uint32_t)(count < mc_hits_capacity - place ? count : mc_hits_capacity - place);
}

/// Takes out what was looked at.
static inline void mc_hits_take(mc_hits *ring, uint32_t count) {
  __atomic_store_n(&ring->taken, ring->taken + count, __ATOMIC_RELEASE);
}

/// The state of one thread. Its address names the thread in what does not outlast it; another may have it afterwards.
typedef struct mc_thread {
  /// The last recency stamp that this thread gave.
  uint64_t stamp;
  /// Open scopes and frames of any pool.
  uint32_t scopes;
  /// How often the thread waits in pools: code that it runs before it sleeps for a request may wait as well.
  uint32_t waiting;
  mc_activity *activity;
  /// The generation that this thread waits for; guarded by the lock on waits.
  void *waits_for;
  /// How many activities the request that waits was asked in; guarded as well.
  uint32_t waits_depth;
  /// Which thread it is, for what outlasts it; 0 until it takes a number. Others read it.
  size_t number;
  /// What is done when it ends; its own.
  void *farewell;
  /// The ring that its last hit which somebody listens to went into, and whose that is.
  mc_hits *hits;
  uint64_t hits_owner;
} mc_thread;

// The initial-exec model makes the access one instruction; the few bytes fit in what the loader sets aside.
#if defined(__linux__) && !defined(__ANDROID__)
#define MC_TLS __attribute__((tls_model("initial-exec")))
#else
#define MC_TLS
#endif

extern _Thread_local mc_thread mc_this_thread MC_TLS;

static inline mc_thread *mc_thread_current(void) { return &mc_this_thread; }

static inline void mc_thread_begin_waiting(mc_thread *thread) {
  __atomic_fetch_add(&thread->waiting, 1, __ATOMIC_SEQ_CST);
}

static inline void mc_thread_end_waiting(mc_thread *thread) {
  __atomic_fetch_sub(&thread->waiting, 1, __ATOMIC_SEQ_CST);
}

static inline bool mc_thread_is_waiting(const mc_thread *thread) {
  return __atomic_load_n(&thread->waiting, __ATOMIC_SEQ_CST) != 0;
}

/// The thread's number, which no other ever has; 0 for one that has taken none.
static inline size_t mc_thread_number(const mc_thread *thread) {
  return __atomic_load_n(&thread->number, __ATOMIC_RELAXED);
}

/// Gives the calling thread a number, a new one each time.
size_t mc_thread_take_number(void);
void mc_thread_drop_number(void);

/// Makes a key with which `mc_thread_at_end` has `ended` called; false where the system has no more.
bool mc_make_end_key(unsigned long *key, void (*ended)(void *context));
/// Has the function of the key called when the calling thread ends, once; false where the system has no memory for that.
bool mc_thread_at_end(unsigned long key, void *context);

/// Retains a Swift object unless its last reference has gone already.
bool mc_try_retain(void *object);

/// How many forks lie between this process and the one in which `mc_watch_forks` was first called.
uint32_t mc_fork_count(void);
void mc_watch_forks(void);

/// Gives the allocator's free memory back to the system, where the C library can.
void mc_trim_heap(void);

/// Nanoseconds on a clock that never goes back.
uint64_t mc_monotonic_nanoseconds(void);

/// Reserves address space of which nothing is resident; NULL where that fails.
void *mc_reserve(size_t bytes);
void mc_unreserve(void *base, size_t bytes);
/// Makes pages nonresident; they read as zero afterwards.
void mc_discard_pages(void *base, size_t bytes);
/// Makes pages resident in one go, where the system can. Else each becomes so at its first write, which takes half as long again.
void mc_populate_pages(void *base, size_t bytes);
/// Has the system back a reserved range by huge pages where it can, or no longer. False where there are none.
bool mc_use_huge_pages(void *base, size_t bytes, bool wanted);
size_t mc_page_size(void);
/// How many pages of memory the machine has; 0 where it does not say.
size_t mc_physical_pages(void);

/// Starts a detached thread. False where the system refuses.
bool mc_start_thread(void (*body)(void *), void *context);

#endif
