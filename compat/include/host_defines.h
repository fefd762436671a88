// Declared by the runtime API.
#include "cuda_runtime_api.h"
