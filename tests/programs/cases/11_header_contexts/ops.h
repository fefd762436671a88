#pragma once
#ifndef SCALE
#define SCALE 1
#endif

__device__ inline int scaled(int x) { return x * SCALE; }
