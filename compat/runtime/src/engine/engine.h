// Running the threads of a launch in a program: no guards, every OS thread at once.
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include <stdint.h>

#include "tm_launch.h"

namespace tile_migrate {

// What the engine reports, by the numbers of cudaError_t.
enum Failure : int {
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kNoKernelImage = 209,
  kIllegalAddress = 700,
  kAssert = 710,
  kStackError = 714,
  kLaunchFailure = 719,
  kCooperativeTooLarge = 720,
  kNotSupported = 801,
};

// Blocks of a cooperative launch that one multiprocessor holds at a time; the device has
// pool_size() multiprocessors. 0: no block of this size fits.
uint32_t resident_blocks(uint64_t threads_per_block, uint64_t shared_bytes);

// Writes what kernels have printed to stdout. Called wherever the host waits for the device.
void flush_device_output();

// Makes faults inside kernels come back as errors. Cheap to repeat: the program may have installed
// handlers of its own since, which then get whatever happens outside kernels.
void install_fault_handlers();

// In a kernel: ends the whole launch with this error.
[[noreturn]] void fail_launch(int error);

}  // namespace tile_migrate

#endif
