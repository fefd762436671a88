// Nothing is missing from our cuda_bf16.h.
