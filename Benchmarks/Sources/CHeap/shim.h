// Swift's module of the C library lacks this header.
#include <malloc.h>
