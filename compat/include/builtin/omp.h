// OpenMP's host functions, declared.
#ifndef TM_BUILTIN_OMP_H
#define TM_BUILTIN_OMP_H
#ifdef __cplusplus
extern "C" {
#endif
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
void omp_set_num_threads(int n);
void omp_set_dynamic(int n);
void omp_set_nested(int n);
double omp_get_wtime(void);
double omp_get_wtick(void);
int omp_get_num_devices(void);
int omp_get_default_device(void);
void omp_set_default_device(int n);
typedef struct { unsigned char x[4]; } omp_lock_t;
void omp_init_lock(omp_lock_t *lock);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);
#ifdef __cplusplus
}
#endif
#endif
