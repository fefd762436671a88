// The _ptsz and _ptds names: what objects built with a default stream a thread call.
#include "internal.h"

#define TM_TWIN(result, name, base, parameters, arguments) \
  TM_EXPORT result name parameters {                       \
    const tile_migrate::PerThreadDefault scope;            \
    return base arguments;                                 \
  }
#include "twins.inc"
