// NCCL: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_NCCL_H
#define TM_NCCL_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#define NCCL_MAJOR 2
#define NCCL_MINOR 20
#define NCCL_PATCH 5
#define NCCL_VERSION_CODE 22005
#define NCCL_VERSION(X, Y, Z) ((X) * 10000 + (Y) * 100 + (Z))
#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_CONFIG_INITIALIZER {}
typedef struct ncclComm *ncclComm_t;
struct ncclUniqueId { char internal[NCCL_UNIQUE_ID_BYTES]; };
struct ncclConfig_t { size_t size; unsigned magic, version; int blocking, cgaClusterSize, minCTAs, maxCTAs; const char *netName; int splitShare; };
enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument, ncclInvalidUsage, ncclRemoteError, ncclInProgress, ncclNumResults };
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg, ncclNumOps };
enum ncclDataType_t { ncclInt8 = 0, ncclChar = 0, ncclUint8 = 1, ncclInt32 = 2, ncclInt = 2, ncclUint32 = 3, ncclInt64 = 4, ncclUint64 = 5, ncclFloat16 = 6, ncclHalf = 6, ncclFloat32 = 7, ncclFloat = 7, ncclFloat64 = 8, ncclDouble = 8, ncclBfloat16 = 9 };
TM_ANY(const char *, ncclGetErrorString)
TM_ANY(const char *, ncclGetLastError)
TM_ANY(ncclResult_t, ncclGetVersion)
TM_ANY(ncclResult_t, ncclGetUniqueId)
TM_ANY(ncclResult_t, ncclCommInitRank)
TM_ANY(ncclResult_t, ncclCommInitRankConfig)
TM_ANY(ncclResult_t, ncclCommInitAll)
TM_ANY(ncclResult_t, ncclCommFinalize)
TM_ANY(ncclResult_t, ncclCommDestroy)
TM_ANY(ncclResult_t, ncclCommAbort)
TM_ANY(ncclResult_t, ncclCommSplit)
TM_ANY(ncclResult_t, ncclCommGetAsyncError)
TM_ANY(ncclResult_t, ncclCommCount)
TM_ANY(ncclResult_t, ncclCommCuDevice)
TM_ANY(ncclResult_t, ncclCommUserRank)
TM_ANY(ncclResult_t, ncclCommRegister)
TM_ANY(ncclResult_t, ncclCommDeregister)
TM_ANY(ncclResult_t, ncclMemAlloc)
TM_ANY(ncclResult_t, ncclMemFree)
TM_ANY(ncclResult_t, ncclRedOpCreatePreMulSum)
TM_ANY(ncclResult_t, ncclRedOpDestroy)
TM_ANY(ncclResult_t, ncclReduce)
TM_ANY(ncclResult_t, ncclBcast)
TM_ANY(ncclResult_t, ncclBroadcast)
TM_ANY(ncclResult_t, ncclAllReduce)
TM_ANY(ncclResult_t, ncclReduceScatter)
TM_ANY(ncclResult_t, ncclAllGather)
TM_ANY(ncclResult_t, ncclSend)
TM_ANY(ncclResult_t, ncclRecv)
TM_ANY(ncclResult_t, ncclAllToAll)
TM_ANY(ncclResult_t, ncclGather)
TM_ANY(ncclResult_t, ncclScatter)
TM_ANY(ncclResult_t, ncclGroupStart)
TM_ANY(ncclResult_t, ncclGroupEnd)
#endif
