// What thread-level CUDA text from TileLang uses is in support.h.
#include "support.h"
