// Casts rays through a volume and maps what they gather to colours. One kernel samples through texture
// objects, one from plain memory; where textures cannot be had the program says so and uses the other alone.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kSize = 24;   // of the volume, each way
constexpr int kImage = 48;  // pixels each way
constexpr int kSteps = 40;
constexpr int kPalette = 256;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

struct Camera {
  float eye[3], right[3], up[3], forward[3];
};

__constant__ Camera camera;

struct Ray {
  float x, y, z, dx, dy, dz;
};

__host__ __device__ inline Ray ray_of(const Camera &c, int px, int py) {
  float u = (px + 0.5f) * (2.0f / kImage) - 1.0f, v = (py + 0.5f) * (2.0f / kImage) - 1.0f;
  Ray ray = {c.eye[0], c.eye[1], c.eye[2], 0, 0, 0};
  ray.dx = c.forward[0] + u * c.right[0] + v * c.up[0];
  ray.dy = c.forward[1] + u * c.right[1] + v * c.up[1];
  ray.dz = c.forward[2] + u * c.right[2] + v * c.up[2];
  return ray;
}

__host__ __device__ inline int clamped(int i) { return i < 0 ? 0 : i >= kSize ? kSize - 1 : i; }

// The value of the voxel that holds a point, edges repeated.
__host__ __device__ inline float nearest(const float *volume, float x, float y, float z) {
  int i = clamped((int)floorf(x)), j = clamped((int)floorf(y)), k = clamped((int)floorf(z));
  return volume[(k * kSize + j) * kSize + i];
}

}  // namespace

__global__ void cast_textured(cudaTextureObject_t volume, float *gathered) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= kImage || py >= kImage) return;
  Ray ray = ray_of(camera, px, py);
  float sum = 0.0f;
  for (int step = 0; step < kSteps; ++step)
    sum += tex3D<float>(volume, ray.x + step * ray.dx, ray.y + step * ray.dy, ray.z + step * ray.dz);
  gathered[py * kImage + px] = sum / kSteps;
}

__global__ void cast_plain(const float *volume, float *gathered) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= kImage || py >= kImage) return;
  Ray ray = ray_of(camera, px, py);
  float sum = 0.0f;
  for (int step = 0; step < kSteps; ++step)
    sum += nearest(volume, ray.x + step * ray.dx, ray.y + step * ray.dy, ray.z + step * ray.dz);
  gathered[py * kImage + px] = sum / kSteps;
}

// Scales to the palette by the largest value and looks colours up there.
__global__ void colour(const float *gathered, const unsigned *largest, const uchar4 *palette, uchar4 *image) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kImage * kImage) return;
  float scaled = gathered[i] / __uint_as_float(*largest) * (kPalette - 1);
  image[i] = palette[(int)scaled];
}

__global__ void find_largest(const float *gathered, unsigned *largest) {
  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kImage * kImage; i += gridDim.x * blockDim.x)
    mine = fmaxf(mine, gathered[i]);
  for (int mask = 16; mask > 0; mask /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  if (threadIdx.x % 32 == 0) atomicMax(largest, __float_as_uint(mine));
}

static std::vector<float> make_volume() {
  std::vector<float> volume(kSize * kSize * kSize);
  for (int k = 0; k < kSize; ++k)
    for (int j = 0; j < kSize; ++j)
      for (int i = 0; i < kSize; ++i) {
        float dx = i - 11.5f, dy = j - 9.5f, dz = k - 13.5f, r = std::sqrt(dx * dx + dy * dy + dz * dz);
        volume[(k * kSize + j) * kSize + i] = r < 8.0f ? 1.0f + 0.25f * ((i + 2 * j + 3 * k) % 4) : 0.125f;
      }
  return volume;
}

// A texture over a 3-D array filled from the volume; the status of the first call that fails.
static cudaError_t make_texture(const std::vector<float> &volume, cudaArray_t *array, cudaTextureObject_t *texture) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kSize, kSize, kSize);
  cudaError_t status = cudaMalloc3DArray(array, &format, extent);
  if (status != cudaSuccess) return status;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)volume.data(), kSize * sizeof(float), kSize, kSize);
  copy.dstArray = *array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  status = cudaMemcpy3D(&copy);
  if (status != cudaSuccess) return status;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = *array;
  cudaTextureDesc description = {};
  for (cudaTextureAddressMode &mode : description.addressMode) mode = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  return cudaCreateTextureObject(texture, &resource, &description, nullptr);
}

int main() {
  const std::vector<float> volume = make_volume();
  const Camera view = {{-8.0f, 3.0f, -6.0f},
                       {0.28125f, 0.0f, -0.25f},
                       {0.0f, 0.3125f, 0.03125f},
                       {0.6875f, 0.28125f, 0.71875f}};
  require(cudaMemcpyToSymbol(camera, &view, sizeof view), "camera");
  std::vector<uchar4> palette(kPalette);
  for (int i = 0; i < kPalette; ++i)
    palette[i] = make_uchar4((unsigned char)i, (unsigned char)(255 - i), (unsigned char)(i * 7), 255);

  float *device_volume, *gathered;
  uchar4 *device_palette, *image;
  unsigned *largest;
  const size_t pixels = size_t(kImage) * kImage;
  require(cudaMalloc(&device_volume, volume.size() * sizeof(float)), "cudaMalloc");
  require(cudaMalloc(&gathered, pixels * sizeof(float)), "cudaMalloc");
  require(cudaMalloc(&device_palette, kPalette * sizeof(uchar4)), "cudaMalloc");
  require(cudaMalloc(&image, pixels * sizeof(uchar4)), "cudaMalloc");
  require(cudaMalloc(&largest, sizeof(unsigned)), "cudaMalloc");
  require(cudaMemcpy(device_volume, volume.data(), volume.size() * sizeof(float), cudaMemcpyHostToDevice), "volume");
  require(cudaMemcpy(device_palette, palette.data(), kPalette * sizeof(uchar4), cudaMemcpyHostToDevice), "palette");

  const dim3 block(16, 4), grid((kImage + 15) / 16, (kImage + 3) / 4);
  std::vector<float> plain(pixels), expected(pixels);
  cast_plain<<<grid, block>>>(device_volume, gathered);
  require(cudaGetLastError(), "cast_plain");
  require(cudaMemcpy(plain.data(), gathered, pixels * sizeof(float), cudaMemcpyDeviceToHost), "download");
  require(cudaMemset(largest, 0, sizeof(unsigned)), "largest");
  find_largest<<<4, 128>>>(gathered, largest);
  colour<<<(int)(pixels + 127) / 128, 128>>>(gathered, largest, device_palette, image);
  require(cudaGetLastError(), "colour");
  std::vector<uchar4> colours(pixels);
  require(cudaMemcpy(colours.data(), image, pixels * sizeof(uchar4), cudaMemcpyDeviceToHost), "download");

  // Rays on the edge of a voxel may fall to either side; few may differ.
  int moved = 0, wrong = 0;
  float top = 0.0f;
  for (int py = 0; py < kImage; ++py)
    for (int px = 0; px < kImage; ++px) {
      Ray ray = ray_of(view, px, py);
      float sum = 0.0f;
      for (int step = 0; step < kSteps; ++step)
        sum += nearest(volume.data(), ray.x + step * ray.dx, ray.y + step * ray.dy, ray.z + step * ray.dz);
      expected[py * kImage + px] = sum / kSteps;
      moved += std::fabs(plain[py * kImage + px] - expected[py * kImage + px]) > 1e-5f;
      top = std::fmax(top, plain[py * kImage + px]);
    }
  wrong += moved > int(pixels / 50);
  for (size_t i = 0; i < pixels; ++i) {
    int low = int(std::floor(plain[i] / top * (kPalette - 1) - 0.01f)), high = low + 1;
    if (low < 0) low = 0;
    if (high >= kPalette) high = kPalette - 1;
    wrong += colours[i].x != low && colours[i].x != high;
    wrong += colours[i].w != 255 || colours[i].y != 255 - colours[i].x;
  }

  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  const char *textures = "textures";
  const cudaError_t status = make_texture(volume, &array, &texture);
  if (status == cudaSuccess) {
    cast_textured<<<grid, block>>>(texture, gathered);
    require(cudaGetLastError(), "cast_textured");
    std::vector<float> textured(pixels);
    require(cudaMemcpy(textured.data(), gathered, pixels * sizeof(float), cudaMemcpyDeviceToHost), "download");
    int differing = 0;
    for (size_t i = 0; i < pixels; ++i) differing += std::fabs(textured[i] - plain[i]) > 1e-5f;
    wrong += differing > int(pixels / 50);
    require(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
  } else if (status == cudaErrorNotSupported) {
    (void)cudaGetLastError();
    textures = "no textures here";
  } else {
    require(status, "make_texture");
  }
  if (array) require(cudaFreeArray(array), "cudaFreeArray");
  for (void *memory : {(void *)device_volume, (void *)gathered, (void *)device_palette, (void *)image, (void *)largest})
    require(cudaFree(memory), "cudaFree");
  std::printf("ray_caster: %dx%d rays of %d steps, %s, %d wrong: %s\n", kImage, kImage, kSteps, textures, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
