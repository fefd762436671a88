// See tm_thrust.h.
#include "tm_thrust.h"
