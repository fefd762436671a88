// Textures and surfaces: declared so that their uses are found. Nothing executes them.
#ifndef TM_TEXTURE_H
#define TM_TEXTURE_H
#include "tm_executor_device.h"
#include "tm_runtime_types.h"
#ifndef TM_CLANG_CUDA
#define TM_NOT_EXECUTABLE TM_IS(tm_refuse(__func__);)
#else
#define TM_NOT_EXECUTABLE ;
#endif
template <class T, int dim = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : textureReference {};
template <class T, int dim = 1>
struct surface {};
template <class T> TM_FN T tex1D(cudaTextureObject_t, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex1Dfetch(cudaTextureObject_t, int) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex2D(cudaTextureObject_t, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex3D(cudaTextureObject_t, float, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex1DLayered(cudaTextureObject_t, float, int) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex2DLayered(cudaTextureObject_t, float, float, int) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex1DLod(cudaTextureObject_t, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex2DLod(cudaTextureObject_t, float, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex3DLod(cudaTextureObject_t, float, float, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T texCubemap(cudaTextureObject_t, float, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T tex2Dgather(cudaTextureObject_t, float, float, int = 0) TM_NOT_EXECUTABLE
template <class T, int d, cudaTextureReadMode m> TM_FN T tex1D(texture<T, d, m>, float) TM_NOT_EXECUTABLE
template <class T, int d, cudaTextureReadMode m> TM_FN T tex1Dfetch(texture<T, d, m>, int) TM_NOT_EXECUTABLE
template <class T, int d, cudaTextureReadMode m> TM_FN T tex2D(texture<T, d, m>, float, float) TM_NOT_EXECUTABLE
template <class T, int d, cudaTextureReadMode m>
TM_FN T tex3D(texture<T, d, m>, float, float, float) TM_NOT_EXECUTABLE
template <class T> TM_FN T surf1Dread(cudaSurfaceObject_t, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN T surf2Dread(cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN T surf3Dread(cudaSurfaceObject_t, int, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN void surf2Dread(T *, cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN void surf1Dwrite(T, cudaSurfaceObject_t, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN void surf2Dwrite(T, cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
template <class T> TM_FN void surf3Dwrite(T, cudaSurfaceObject_t, int, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) TM_NOT_EXECUTABLE
#ifndef TM_CLANG_CUDA
#define TM_REFUSED TM_IS(return cudaErrorNotSupported;)
#else
#define TM_REFUSED ;
#endif
#define TM_LEGACY_TEXTURE template <class T, int d, cudaTextureReadMode m>
TM_LEGACY_TEXTURE cudaError_t cudaBindTexture(size_t *, const texture<T, d, m> &, const void *, size_t = 0xffffffffu) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaBindTexture(size_t *, const texture<T, d, m> &, const void *, const cudaChannelFormatDesc &, size_t = 0xffffffffu) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaBindTexture2D(size_t *, const texture<T, d, m> &, const void *, const cudaChannelFormatDesc &, size_t, size_t, size_t) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaBindTexture2D(size_t *, const texture<T, d, m> &, const void *, size_t, size_t, size_t) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaBindTextureToArray(const texture<T, d, m> &, cudaArray_const_t) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaBindTextureToArray(const texture<T, d, m> &, cudaArray_const_t, const cudaChannelFormatDesc &) TM_REFUSED
TM_LEGACY_TEXTURE cudaError_t cudaUnbindTexture(const texture<T, d, m> &) TM_REFUSED
#undef TM_LEGACY_TEXTURE
#undef TM_REFUSED
#undef TM_NOT_EXECUTABLE
#endif
