// What programs notice of the runtime beside results: `behaviour PART` runs one part.
#include <tm_cuda_prelude.h>
#include <tm_rewritten.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                                                   \
  do {                                                                                      \
    if (!(condition)) ++wrong, std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
  } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

extern "C" {
cudaError_t cudaMemsetAsync_ptsz(void *, int, size_t, cudaStream_t);
cudaError_t cudaStreamGetId_ptsz(cudaStream_t, unsigned long long *);
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, cudaMemcpyKind);
}

__global__ void say(int number) {
  TM_KERNEL_ENTRY((say), (int), (number))
  printf("kernel %d\n", number);
}

__global__ void add(int *data, int amount) {
  TM_KERNEL_ENTRY((add), (int *, int), (data, amount))
  *data += amount;
}

// Text of kernels comes out where the host waits, in between what the host prints.
static void output() {
  cudaStream_t stream;
  cudaEvent_t event;
  int *data = nullptr, host = 0;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&event));
  OK(cudaMalloc(&data, sizeof *data));
  TM_LAUNCH((say), (1, 1), (1));
  OK(cudaDeviceSynchronize());
  std::printf("host 1\n");
  TM_LAUNCH((say), (1, 1, 0, stream), (2));
  OK(cudaStreamSynchronize(stream));
  std::printf("host 2\n");
  TM_LAUNCH((say), (1, 1, 0, stream), (3));
  OK(cudaEventRecord(event, stream));
  OK(cudaEventSynchronize(event));
  std::printf("host 3\n");
  TM_LAUNCH((say), (1, 1), (4));
  OK(cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("host 4\n");
}

static void devices() {
  int count = 0, current = -1, can = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT(count == 3);
  int *data[3] = {}, host = 0;
  for (int device = 0; device < count; ++device) {
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&data[device], sizeof(int)));
    OK(cudaMemset(data[device], 0, sizeof(int)));
    TM_LAUNCH((add), (1, 1), (data[device], device + 1));
    cudaPointerAttributes attributes = {};
    OK(cudaPointerGetAttributes(&attributes, data[device]));
    EXPECT(attributes.device == device && attributes.type == cudaMemoryTypeDevice && !attributes.hostPointer);
  }
  EXPECT(cudaSetDevice(3) == cudaErrorInvalidDevice);
  OK(cudaGetDevice(&current));
  EXPECT(current == 2 && cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(2, 0) == cudaErrorPeerAccessUnsupported);
  OK(cudaDeviceCanAccessPeer(&can, 2, 0));
  EXPECT(can == 1);
  OK(cudaDeviceEnablePeerAccess(0, 0));
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaMemcpyPeer(data[0], 0, data[2], 2, sizeof(int)));
  OK(cudaMemcpy(&host, data[0], sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host == 3);
  int other = -1;
  std::thread([&] { cudaGetDevice(&other); }).join();
  EXPECT(other == 0);
}

// The names for a default stream a thread act on the thread's own stream.
static void twins() {
  unsigned long long legacy = 0, own = 0, again = 0, others = 0;
  OK(cudaStreamGetId(nullptr, &legacy));
  OK(cudaStreamGetId_ptsz(nullptr, &own));
  OK(cudaStreamGetId(cudaStreamPerThread, &again));
  std::thread([&] { cudaStreamGetId_ptsz(nullptr, &others); }).join();
  EXPECT(own != legacy && own == again && others != own && others != legacy);
  unsigned char *data = nullptr, host[2] = {};
  OK(cudaMalloc(&data, sizeof host));
  OK(cudaMemsetAsync_ptsz(data, 7, sizeof host, nullptr));
  OK(cudaMemcpy_ptds(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 7 && host[1] == 7);
}

// Memory of another process.
static void ipc() {
  int to_child[2], to_parent[2];
  EXPECT(pipe(to_child) == 0 && pipe(to_parent) == 0);
  const pid_t child = fork();
  char word = 0;
  cudaIpcMemHandle_t handle = {};
  if (child == 0) {
    int *data = nullptr, host[3] = {};
    void *again = nullptr;
    EXPECT(read(to_child[0], &handle, sizeof handle) == ssize_t(sizeof handle));
    OK(cudaIpcOpenMemHandle((void **)&data, handle, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
    EXPECT(again == data);
    OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 5 && host[1] == 6 && host[2] == 7);
    TM_LAUNCH((add), (1, 1), (data + 1, 100));
    OK(cudaDeviceSynchronize());
    OK(cudaIpcCloseMemHandle(again));
    OK(cudaIpcCloseMemHandle(data));
    EXPECT(cudaIpcCloseMemHandle(data) == cudaErrorInvalidValue);
    EXPECT(write(to_parent[1], &word, 1) == 1);
    _exit(wrong != 0);
  }
  int *before = nullptr, *data = nullptr, host[3] = {5, 6, 7}, status = 1;
  void *own = nullptr;
  OK(cudaMalloc(&before, 300));  // so that the exported memory is not at a page's start
  OK(cudaMalloc(&data, sizeof host));
  OK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
  OK(cudaIpcGetMemHandle(&handle, data));
  EXPECT(cudaIpcGetMemHandle(&handle, host) == cudaErrorInvalidValue);
  EXPECT(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
  EXPECT(write(to_child[1], &handle, sizeof handle) == ssize_t(sizeof handle));
  EXPECT(read(to_parent[0], &word, 1) == 1);
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 5 && host[1] == 106 && host[2] == 7);
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void errors() {
  int *data = nullptr;
  EXPECT(cudaMalloc(&data, size_t(1) << 60) == cudaErrorMemoryAllocation);
  EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  cudaError_t others = cudaErrorUnknown;
  std::thread([&] { others = cudaGetLastError(); }).join();
  EXPECT(others == cudaSuccess);
  OK(cudaMalloc(&data, 4));  // success does not clear
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
  EXPECT(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventQuery(reinterpret_cast<cudaEvent_t>(0x1230)) == cudaErrorInvalidResourceHandle);
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr) == cudaErrorNotSupported);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorNotSupported), "cudaErrorNotSupported") == 0);
}

// Host functions run in the stream's order and must not call the API.
static void callbacks() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int *data = nullptr;
  OK(cudaMallocManaged(&data, sizeof *data));
  *data = 1;
  struct Seen {
    int *data, value;
    cudaError_t api;
  } seen = {data, 0, cudaSuccess};
  TM_LAUNCH((add), (1, 1, 0, stream), (data, 10));
  OK(cudaLaunchHostFunc(stream, [](void *at) {
    Seen &s = *static_cast<Seen *>(at);
    void *memory = nullptr;
    s.value = *s.data;
    s.api = cudaMalloc(&memory, 4);
  }, &seen));
  TM_LAUNCH((add), (1, 1, 0, stream), (data, 100));
  OK(cudaStreamSynchronize(stream));
  EXPECT(seen.value == 11 && *data == 111 && seen.api == cudaErrorNotPermitted);
  cudaError_t told = cudaErrorUnknown;
  OK(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t error, void *at) {
    *static_cast<cudaError_t *>(at) = error;
  }, &told, 0));
  OK(cudaStreamSynchronize(stream));
  EXPECT(told == cudaSuccess);
}

int main(int, char **argv) {
  const std::string part = argv[1];
  if (part == "output") output();
  else if (part == "devices") devices();
  else if (part == "twins") twins();
  else if (part == "ipc") ipc();
  else if (part == "errors") errors();
  else if (part == "callbacks") callbacks();
  else return 2;
  if (wrong) std::fprintf(stderr, "%d wrong\n", wrong);
  return wrong != 0;
}
