// stdalign.h; in C++ alignas is a keyword.
#ifndef TM_BUILTIN_STDALIGN_H
#define TM_BUILTIN_STDALIGN_H
#ifndef __cplusplus
#define alignas _Alignas
#define alignof _Alignof
#endif
#endif
