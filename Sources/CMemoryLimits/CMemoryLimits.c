#include "CMemoryLimits.h"

#if defined(__linux__)
#include <sys/eventfd.h>
#endif
#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <mach/mach.h>
#include <os/proc.h>
#endif

int mc_event_counter(void) {
#if defined(__linux__)
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
  return -1;
#endif
}

// Not run here.
size_t mc_app_memory_left(void) {
#if defined(__APPLE__) && !TARGET_OS_OSX
  return os_proc_available_memory();
#else
  return 0;
#endif
}

// Not run here.
size_t mc_app_memory_used(void) {
#if defined(__APPLE__)
  task_vm_info_data_t info;
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  if (task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)&info, &count) == KERN_SUCCESS) return info.phys_footprint;
#endif
  return 0;
}
