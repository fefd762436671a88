// The stream functions.
#include "../engine/engine.h"
#include "capture.h"
#include "internal.h"

using namespace tile_migrate;

namespace {

constexpr int least_priority = 0, greatest_priority = -5;

cudaError_t create(cudaStream_t *stream, unsigned flags, int priority) {
  if (!stream || (flags & ~unsigned(cudaStreamNonBlocking))) return cudaErrorInvalidValue;
  const int clamped = priority > least_priority ? least_priority : priority;
  const std::shared_ptr<Stream> made =
      new_stream(flags, clamped < greatest_priority ? greatest_priority : clamped);
  if (!made) return cudaErrorMemoryAllocation;
  *stream = made->handle;
  return cudaSuccess;
}

// Calls `use` with the stream, or says that there is none.
template <class Use>
cudaError_t with_stream(cudaStream_t handle, Use use) {
  const std::shared_ptr<Stream> stream = stream_of(handle);
  return stream ? use(*stream) : cudaErrorInvalidResourceHandle;
}

cudaError_t attribute(Stream &stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value) {
  *value = cudaLaunchAttributeValue();
  switch (id) {
    case cudaLaunchAttributePriority: value->priority = stream.priority; return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy: value->syncPolicy = cudaSyncPolicyAuto; return cudaSuccess;
    case cudaLaunchAttributeAccessPolicyWindow: return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

TM_EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return entry(Api::cudaStreamCreate, [&] { return create(stream, cudaStreamDefault, 0); });
}

TM_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return entry(Api::cudaStreamCreateWithFlags, [&] { return create(stream, flags, 0); });
}

TM_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  return entry(Api::cudaStreamCreateWithPriority, [&] { return create(stream, flags, priority); });
}

TM_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return entry(Api::cudaStreamDestroy, [&] {
    const std::shared_ptr<Stream> gone = runtime().streams.remove(stream);
    if (!gone) return cudaErrorInvalidResourceHandle;
    gone->close();
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return entry(Api::cudaStreamSynchronize, [&] {
    return with_stream(stream, [](Stream &on) {
      const cudaError_t error = capture_forbids_wait(on);
      if (error != cudaSuccess) return error;
      on.synchronize();
      flush_device_output();
      return cudaError_t(on.device.fault.load());
    });
  });
}

TM_EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return entry(Api::cudaStreamQuery, [&] {
    return with_stream(stream, [](Stream &on) {
      const cudaError_t error = capture_forbids_wait(on);
      if (error != cudaSuccess) return error;
      return on.idle() ? cudaError_t(on.device.fault.load()) : cudaErrorNotReady;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  return entry(Api::cudaStreamGetFlags, [&] {
    return with_stream(stream, [&](Stream &on) {
      if (!flags) return cudaErrorInvalidValue;
      *flags = on.flags;
      return cudaSuccess;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  return entry(Api::cudaStreamGetPriority, [&] {
    return with_stream(stream, [&](Stream &on) {
      if (!priority) return cudaErrorInvalidValue;
      *priority = on.priority;
      return cudaSuccess;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  return entry(Api::cudaStreamGetId, [&] {
    return with_stream(stream, [&](Stream &on) {
      if (!id) return cudaErrorInvalidValue;
      *id = on.id;
      return cudaSuccess;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  return entry(Api::cudaStreamGetDevice, [&] {
    return with_stream(stream, [&](Stream &on) {
      if (!device) return cudaErrorInvalidValue;
      *device = on.device.index;
      return cudaSuccess;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                             cudaLaunchAttributeValue *value) {
  return entry(Api::cudaStreamGetAttribute, [&] {
    return with_stream(stream, [&](Stream &on) {
      return value ? attribute(on, id, value) : cudaErrorInvalidValue;
    });
  });
}

// The attributes that exist are hints; a stream's priority is fixed when it is made.
TM_EXPORT cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                             const cudaLaunchAttributeValue *value) {
  return entry(Api::cudaStreamSetAttribute, [&] {
    return with_stream(stream, [&](Stream &) {
      if (!value) return cudaErrorInvalidValue;
      const bool hint = id == cudaLaunchAttributeAccessPolicyWindow || id == cudaLaunchAttributeSynchronizationPolicy;
      return hint ? cudaSuccess : id == cudaLaunchAttributePriority ? cudaErrorNotSupported : cudaErrorInvalidValue;
    });
  });
}

TM_EXPORT cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return entry(Api::cudaStreamCopyAttributes,
               [&] { return stream_of(to) && stream_of(from) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

TM_EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                            unsigned flags) {
  return entry(Api::cudaStreamAddCallback, [&] {
    return !callback || flags ? cudaErrorInvalidValue : add_callback(stream, callback, data);
  });
}

TM_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  return entry(Api::cudaLaunchHostFunc, [&] {
    return function ? submit(stream, host_operation(function, data)) : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return entry(Api::cudaDeviceGetStreamPriorityRange, [&] {
    if (least) *least = least_priority;
    if (greatest) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceSynchronize(void) {
  return entry(Api::cudaDeviceSynchronize, [&] {
    Device &device = current_device();
    if (Captures::any()) {
      const cudaError_t error = capture_forbids_wait(*device.legacy);
      if (error != cudaSuccess) return error;
    }
    synchronize(device);
    return device_fault();
  });
}
