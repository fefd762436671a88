// The profiler interface is two functions of the runtime API.
#include "cuda_runtime_api.h"
