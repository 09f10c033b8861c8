// lcms2, loaded when a picture has a colour profile.
#ifndef CCOLORPROFILES_H
#define CCOLORPROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads lcms2, the first time; NULL, or why it cannot be used. Any thread may call.
const char *ccp_library_problem(void);

/// Why a library of this name cannot be used in its place; NULL if it can. Loads it and lets go of it again.
const char *ccp_problem_of(const char *name);

/// What a profile is of.
typedef enum ccp_kind { CCP_BROKEN, CCP_GRAY, CCP_RGB, CCP_OTHER } ccp_kind;

typedef struct ccp_conversion ccp_conversion;

/// Makes a conversion from a profile to sRGB, of 8 bits a sample, with lcms2's perceptual intent; NULL where that cannot
/// be: `kind` says of what the profile is. Only with a library, see above.
ccp_conversion *ccp_begin(const uint8_t *profile, size_t count, ccp_kind *kind);

/// Converts pixels of 8-bit RGBA, in place; alpha stays. Of a grey profile only the first sample counts.
void ccp_convert(const ccp_conversion *conversion, uint8_t *pixels, size_t count);

void ccp_end(ccp_conversion *conversion);

#endif
