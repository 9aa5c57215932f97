#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Bytes per second of the median of `repeats` reads of a buffer that its readers filled. */
static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double read_rate(size_t bytes, int threads, int passes, int repeats, uint64_t *sink) {
    size_t n = bytes / 8;
    size_t whole = (n * 8 + (1 << 21) - 1) >> 21 << 21;
    uint64_t *buffer = aligned_alloc(1 << 21, whole);
    madvise(buffer, whole, MADV_HUGEPAGE);  /* as numpy does for its arrays */
    double *rates = malloc(repeats * sizeof(double));
    omp_set_num_threads(threads);
    #pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) buffer[i] = i;
    for (int r = 0; r < repeats; r++) {
        uint64_t sum = 0;
        double start = omp_get_wtime();
        #pragma omp parallel reduction(+ : sum)
        for (int pass = 0; pass < passes; pass++) {
            #pragma omp for schedule(static) nowait
            for (size_t i = 0; i < n; i++) sum += buffer[i];
            __asm__ volatile("" ::: "memory");
        }
        rates[r] = 8.0 * n * passes / (omp_get_wtime() - start);
        *sink += sum;
    }
    qsort(rates, repeats, sizeof(double), by_value);
    double median = rates[repeats / 2];
    free(rates);
    free(buffer);
    return median;
}
