// See nvToolsExt.h.
#include "../nvToolsExt.h"
