// Declared by the prelude.
#include "tm_cuda_prelude.h"
