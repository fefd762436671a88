// See cufft.h.
#include "cufft.h"
