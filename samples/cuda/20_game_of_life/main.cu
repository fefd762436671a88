// Conway's game of life on a torus of bytes, and a bit-packed population count.
// Usage: game_of_life [width height generations]
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

typedef unsigned char cell;

__global__ void generation(const cell *now, cell *next, int width, int height) {
    int cells = width * height;
    for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < cells;
         id += blockDim.x * gridDim.x) {
        int x = id % width;
        int y = id - x;
        int left = (x + width - 1) % width;
        int right = (x + 1) % width;
        int up = (y + cells - width) % cells;
        int down = (y + width) % cells;
        int alive = now[left + up] + now[x + up] + now[right + up] + now[left + y] +
                    now[right + y] + now[left + down] + now[x + down] + now[right + down];
        next[id] = alive == 3 || (alive == 2 && now[id]) ? 1 : 0;
    }
}

// Packs 32 cells into a word, tail bits zero.
__global__ void pack(const cell *cells, unsigned *words, int count) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int first = w * 32;
    if (first >= count) return;
    unsigned word = 0;
    int bit = 0;
    do {
        if (first + bit < count && cells[first + bit] != 0) word |= 1u << bit;
        ++bit;
    } while (bit < 32);
    words[w] = word;
}

__global__ void population(const unsigned *words, int count, int *total) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < count) {
        unsigned v = words[w];
        int bits = 0;
        for (; v != 0; v &= v - 1) ++bits;
        if (bits > 0) atomicAdd(total, bits);
    }
}

static std::vector<cell> generation_host(const std::vector<cell> &now, int width, int height) {
    std::vector<cell> next(now.size());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            int alive = 0;
            for (int dy = -1; dy <= 1; ++dy) {
                for (int dx = -1; dx <= 1; ++dx) {
                    if (dx == 0 && dy == 0) continue;
                    alive += now[(y + dy + height) % height * width + (x + dx + width) % width];
                }
            }
            next[y * width + x] = alive == 3 || (alive == 2 && now[y * width + x]);
        }
    }
    return next;
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? atoi(argv[1]) : 67;
    const int height = argc > 2 ? atoi(argv[2]) : 45;
    const int generations = argc > 3 ? atoi(argv[3]) : 12;
    const int cells = width * height, words = (cells + 31) / 32;

    std::vector<cell> board(cells);
    unsigned state = 1u;
    for (cell &c : board) {
        state = state * 69069u + 1u;
        c = (state >> 24) % 3 == 0;
    }

    cell *d_now, *d_next;
    unsigned *d_words;
    int *d_total;
    CHECK(cudaMalloc(&d_now, cells));
    CHECK(cudaMalloc(&d_next, cells));
    CHECK(cudaMalloc(&d_words, words * sizeof(unsigned)));
    CHECK(cudaMalloc(&d_total, sizeof(int)));
    CHECK(cudaMemset(d_total, 0, sizeof(int)));
    CHECK(cudaMemcpy(d_now, board.data(), cells, cudaMemcpyHostToDevice));

    const int threads = 128;
    const int blocks = (cells + threads - 1) / threads;
    for (int g = 0; g < generations; ++g) {
        generation<<<blocks, threads>>>(d_now, d_next, width, height);
        CHECK(cudaGetLastError());
        std::swap(d_now, d_next);
        board = generation_host(board, width, height);
    }
    pack<<<(words + 63) / 64, 64>>>(d_now, d_words, cells);
    CHECK(cudaGetLastError());
    population<<<(words + 63) / 64, 64>>>(d_words, words, d_total);
    CHECK(cudaGetLastError());

    std::vector<cell> got(cells);
    int total = 0, want = 0;
    CHECK(cudaMemcpy(got.data(), d_now, cells, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost));
    for (cell c : board) want += c;
    cudaFree(d_now);
    cudaFree(d_next);
    cudaFree(d_words);
    cudaFree(d_total);
    const bool ok = got == board && total == want;
    printf("game_of_life %dx%d after %d generations, %d alive: %s\n", width, height, generations,
           total, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
