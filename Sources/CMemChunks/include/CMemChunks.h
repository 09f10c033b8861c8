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
  struct mc_activity *outer;
} mc_activity;

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
/// Has the system back a reserved range by huge pages where it can, or no longer. False where there are none.
bool mc_use_huge_pages(void *base, size_t bytes, bool wanted);
size_t mc_page_size(void);
/// How many pages of memory the machine has; 0 where it does not say.
size_t mc_physical_pages(void);

/// Starts a detached thread. False where the system refuses.
bool mc_start_thread(void (*body)(void *), void *context);

#endif
