// What no Swift module of a C library exports.
#ifndef CMEMORYLIMITS_H
#define CMEMORYLIMITS_H

#include <stddef.h>

/// A counter that the kernel adds to when a threshold is crossed, not blocking; -1 where there is no such thing.
int mc_event_counter(void);

/// How much more an app may have, and how much it has, in bytes; 0 where the system does not say.
size_t mc_app_memory_left(void);
size_t mc_app_memory_used(void);

#endif
