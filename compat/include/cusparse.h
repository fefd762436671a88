// cuSPARSE: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CUSPARSE_H
#define TM_CUSPARSE_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#include "cuComplex.h"
#include "cuda_fp16.h"
typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef cusparseSpMatDescr_t cusparseConstSpMatDescr_t;
typedef cusparseDnVecDescr_t cusparseConstDnVecDescr_t;
typedef cusparseDnMatDescr_t cusparseConstDnMatDescr_t;
typedef struct csru2csrInfo *csru2csrInfo_t;
typedef struct pruneInfo *pruneInfo_t;
enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INVALID_VALUE, CUSPARSE_STATUS_ARCH_MISMATCH, CUSPARSE_STATUS_MAPPING_ERROR, CUSPARSE_STATUS_EXECUTION_FAILED, CUSPARSE_STATUS_INTERNAL_ERROR, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSPARSE_STATUS_ZERO_PIVOT, CUSPARSE_STATUS_NOT_SUPPORTED, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseMatrixType_t { CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC, CUSPARSE_MATRIX_TYPE_HERMITIAN, CUSPARSE_MATRIX_TYPE_TRIANGULAR };
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT };
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE };
enum cusparseAction_t { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC };
enum cusparseDirection_t { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseSpMVAlg_t { CUSPARSE_SPMV_ALG_DEFAULT = 0, CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2, CUSPARSE_SPMV_COO_ALG2, CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_CSRMV_ALG1 = 2, CUSPARSE_CSRMV_ALG2 = 3 };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_COO_ALG1, CUSPARSE_SPMM_COO_ALG2, CUSPARSE_SPMM_COO_ALG3, CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_COO_ALG4, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3 = 12 };
enum cusparseSpGEMMAlg_t { CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_ALG1 = 3, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3 };
enum cusparseSDDMMAlg_t { CUSPARSE_SDDMM_ALG_DEFAULT = 0 };
enum cusparseSpSVAlg_t { CUSPARSE_SPSV_ALG_DEFAULT = 0 };
enum cusparseSpSMAlg_t { CUSPARSE_SPSM_ALG_DEFAULT = 0 };
enum cusparseSparseToDenseAlg_t { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 };
enum cusparseDenseToSparseAlg_t { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 };
enum cusparseSpMatAttribute_t { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE };
enum cusparseCsr2CscAlg_t { CUSPARSE_CSR2CSC_ALG1 = 1, CUSPARSE_CSR2CSC_ALG2 = 2 };
TM_ANY(const char *, cusparseGetErrorString)
TM_ANY(const char *, cusparseGetErrorName)
TM_ANY(cusparseStatus_t, cusparseCreate)
TM_ANY(cusparseStatus_t, cusparseDestroy)
TM_ANY(cusparseStatus_t, cusparseSetStream)
TM_ANY(cusparseStatus_t, cusparseGetStream)
TM_ANY(cusparseStatus_t, cusparseSetPointerMode)
TM_ANY(cusparseStatus_t, cusparseGetVersion)
TM_ANY(cusparseStatus_t, cusparseCreateMatDescr)
TM_ANY(cusparseStatus_t, cusparseDestroyMatDescr)
TM_ANY(cusparseStatus_t, cusparseSetMatType)
TM_ANY(cusparseStatus_t, cusparseSetMatIndexBase)
TM_ANY(cusparseStatus_t, cusparseSetMatFillMode)
TM_ANY(cusparseStatus_t, cusparseSetMatDiagType)
TM_ANY(cusparseStatus_t, cusparseCreateCsr)
TM_ANY(cusparseStatus_t, cusparseCreateCsc)
TM_ANY(cusparseStatus_t, cusparseCreateCoo)
TM_ANY(cusparseStatus_t, cusparseCreateBsr)
TM_ANY(cusparseStatus_t, cusparseCreateBlockedEll)
TM_ANY(cusparseStatus_t, cusparseDestroySpMat)
TM_ANY(cusparseStatus_t, cusparseCreateSpVec)
TM_ANY(cusparseStatus_t, cusparseDestroySpVec)
TM_ANY(cusparseStatus_t, cusparseCreateDnVec)
TM_ANY(cusparseStatus_t, cusparseDestroyDnVec)
TM_ANY(cusparseStatus_t, cusparseDnVecSetValues)
TM_ANY(cusparseStatus_t, cusparseCreateDnMat)
TM_ANY(cusparseStatus_t, cusparseDestroyDnMat)
TM_ANY(cusparseStatus_t, cusparseDnMatSetValues)
TM_ANY(cusparseStatus_t, cusparseCsrSetPointers)
TM_ANY(cusparseStatus_t, cusparseCscSetPointers)
TM_ANY(cusparseStatus_t, cusparseCooSetPointers)
TM_ANY(cusparseStatus_t, cusparseSpMatGetSize)
TM_ANY(cusparseStatus_t, cusparseSpMatGetValues)
TM_ANY(cusparseStatus_t, cusparseSpMatSetValues)
TM_ANY(cusparseStatus_t, cusparseSpMatSetAttribute)
TM_ANY(cusparseStatus_t, cusparseSpMatSetStridedBatch)
TM_ANY(cusparseStatus_t, cusparseCsrSetStridedBatch)
TM_ANY(cusparseStatus_t, cusparseDnMatSetStridedBatch)
TM_ANY(cusparseStatus_t, cusparseSpMV)
TM_ANY(cusparseStatus_t, cusparseSpMV_bufferSize)
TM_ANY(cusparseStatus_t, cusparseSpMV_preprocess)
TM_ANY(cusparseStatus_t, cusparseSpMM)
TM_ANY(cusparseStatus_t, cusparseSpMM_bufferSize)
TM_ANY(cusparseStatus_t, cusparseSpMM_preprocess)
TM_ANY(cusparseStatus_t, cusparseSpVV)
TM_ANY(cusparseStatus_t, cusparseSpVV_bufferSize)
TM_ANY(cusparseStatus_t, cusparseGather)
TM_ANY(cusparseStatus_t, cusparseScatter)
TM_ANY(cusparseStatus_t, cusparseAxpby)
TM_ANY(cusparseStatus_t, cusparseSDDMM)
TM_ANY(cusparseStatus_t, cusparseSDDMM_bufferSize)
TM_ANY(cusparseStatus_t, cusparseSDDMM_preprocess)
TM_ANY(cusparseStatus_t, cusparseSpSV_createDescr)
TM_ANY(cusparseStatus_t, cusparseSpSV_destroyDescr)
TM_ANY(cusparseStatus_t, cusparseSpSV_bufferSize)
TM_ANY(cusparseStatus_t, cusparseSpSV_analysis)
TM_ANY(cusparseStatus_t, cusparseSpSV_solve)
TM_ANY(cusparseStatus_t, cusparseSpSV_updateMatrix)
TM_ANY(cusparseStatus_t, cusparseSpSM_createDescr)
TM_ANY(cusparseStatus_t, cusparseSpSM_destroyDescr)
TM_ANY(cusparseStatus_t, cusparseSpSM_bufferSize)
TM_ANY(cusparseStatus_t, cusparseSpSM_analysis)
TM_ANY(cusparseStatus_t, cusparseSpSM_solve)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_createDescr)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_destroyDescr)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_workEstimation)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_compute)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_copy)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_estimateMemory)
TM_ANY(cusparseStatus_t, cusparseSpGEMM_getNumProducts)
TM_ANY(cusparseStatus_t, cusparseSpGEMMreuse_workEstimation)
TM_ANY(cusparseStatus_t, cusparseSpGEMMreuse_nnz)
TM_ANY(cusparseStatus_t, cusparseSpGEMMreuse_copy)
TM_ANY(cusparseStatus_t, cusparseSpGEMMreuse_compute)
TM_ANY(cusparseStatus_t, cusparseSparseToDense)
TM_ANY(cusparseStatus_t, cusparseSparseToDense_bufferSize)
TM_ANY(cusparseStatus_t, cusparseDenseToSparse_bufferSize)
TM_ANY(cusparseStatus_t, cusparseDenseToSparse_analysis)
TM_ANY(cusparseStatus_t, cusparseDenseToSparse_convert)
TM_ANY(cusparseStatus_t, cusparseCsr2cscEx2)
TM_ANY(cusparseStatus_t, cusparseCsr2cscEx2_bufferSize)
TM_ANY(cusparseStatus_t, cusparseXcoo2csr)
TM_ANY(cusparseStatus_t, cusparseXcsr2coo)
TM_ANY(cusparseStatus_t, cusparseXcoosort_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseXcoosortByRow)
TM_ANY(cusparseStatus_t, cusparseXcsrsortBufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseXcsrsort)
TM_ANY(cusparseStatus_t, cusparseCreateIdentityPermutation)
TM_ANY(cusparseStatus_t, cusparseScsrmv)
TM_ANY(cusparseStatus_t, cusparseDcsrmv)
TM_ANY(cusparseStatus_t, cusparseScsrmm)
TM_ANY(cusparseStatus_t, cusparseDcsrmm)
TM_ANY(cusparseStatus_t, cusparseSgtsv2)
TM_ANY(cusparseStatus_t, cusparseDgtsv2)
TM_ANY(cusparseStatus_t, cusparseSgtsv2_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseDgtsv2_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseSgtsv2StridedBatch)
TM_ANY(cusparseStatus_t, cusparseDgtsv2StridedBatch)
TM_ANY(cusparseStatus_t, cusparseSgtsv2StridedBatch_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseDgtsv2StridedBatch_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseSbsrmm)
TM_ANY(cusparseStatus_t, cusparseDbsrmm)
TM_ANY(cusparseStatus_t, cusparseSbsrmv)
TM_ANY(cusparseStatus_t, cusparseDbsrmv)
TM_ANY(cusparseStatus_t, cusparseSpruneDense2csr)
TM_ANY(cusparseStatus_t, cusparseSpruneDense2csr_bufferSizeExt)
TM_ANY(cusparseStatus_t, cusparseSpruneDense2csrNnz)
#endif
