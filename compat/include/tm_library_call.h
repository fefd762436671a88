// A library function known by name and result only.
#ifndef TM_LIBRARY_CALL_H
#define TM_LIBRARY_CALL_H
#define TM_ANY(RESULT, NAME) template <class... A> __host__ RESULT NAME(A &&...arguments);
#endif
