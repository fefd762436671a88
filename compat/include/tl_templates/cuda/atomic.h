// See support.h.
#include "support.h"
