// Executes trials on a GPU: `runner template.cubin trials.bin results.bin seconds`. Each trial is a separate module. If a
// trial ends or hangs the process, a new process continues with the next trial. Writes the changed words of each trial.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <signal.h>
#include <cuda_runtime.h>

namespace {

constexpr int lanes = 32, predicatesRow = 40, uniformRow = 41, uniformPredicatesRow = 65, sharedRow = 72, endRow = 104;
constexpr uint32_t stateWords = endRow * lanes, globalWords = 1024, parameterWords = 60;
constexpr uint32_t allWords = stateWords + globalWords + parameterWords;

struct Override {
  uint32_t row, kind;
  int32_t start, step;
};
struct Trial {
  uint32_t words[4], seed, palette, immediate, overrides;
  Override override_[4];
};
struct Header {
  uint32_t trials, before, after, textOffset, textBytes;
};
struct Words {
  uint32_t word[parameterWords];
};

uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

const uint32_t edges[] = {
    0,          1,          2,          8,          31,         32,         33,         64,         0xffffffff,
    0xfffffffe, 0x7fffffff, 0x80000000, 0x80,       0xff,       0x8000,     0xffff,     0x3f800000, 0x3f800001,
    0xbf800000, 0x3f000000, 0x40200000, 0x40600000, 0xc0200000, 0x00000001, 0x00400000, 0x80400000, 0x007fffff,
    0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x4b000001, 0x4f000000,
    0x7c007bff, 0xfc000001, 0x7e0003ff, 0x80008000, 0x3c003c01, 0x7f807f7f, 0x00010080};
const uint32_t edgesOfDoubles[] = {0,          0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000,
                                   0xfff00000, 0x7ff80000, 0x7ff12345, 0x00000001, 0x000fffff,
                                   0x00100000, 0x7fefffff, 0x43300000, 0x41dfffff, 0x47efffff};
constexpr uint32_t edgeCount = sizeof edges / 4, doubleCount = sizeof edgesOfDoubles / 4;

uint32_t half(uint32_t bits, bool wide) {
  const uint32_t exponent = wide ? (bits >> 10) % 31 : 11 + ((bits >> 10) & 7);
  return (bits & 0x83ff) | (exponent << 10);
}
uint32_t halves(uint32_t a, uint32_t b, bool wide) { return half(a & 0xffff, wide) | (half(b & 0xffff, wide) << 16); }

uint32_t wordAt(const Trial &trial, uint32_t index) {
  const uint32_t a = mix(trial.seed ^ ((index + 1) * 0x9e3779b1u)), b = mix(a + 0x7f4a7c15u);
  if (trial.palette == 1) return halves(a, b, false);
  if (trial.palette == 3) return halves(a, b, true);
  const uint32_t kind = b & 31, choice = b >> 8;
  if (trial.palette == 2) {
    const bool high = (index >> 5) & 1;
    if (kind < 6) return high ? edgesOfDoubles[choice % doubleCount] : kind < 3 ? 0 : kind & 1;
    if (!high) return kind < 12 ? a & 0xe0000000u : a;
    return (a & 0x800fffffu) | ((1015 + (choice & 15)) << 20);
  }
  const uint32_t same = kind < 3 ? mix(trial.seed ^ (((index & 31) + 77) * 0x85ebca6bu)) : a;
  if (kind >= 3 && kind < 10) return edges[choice % edgeCount];
  if (kind == 10 || kind == 11) return trial.immediate + choice % 3 - 1;
  if (kind == 12 || kind == 13) return choice % 40;
  if (kind >= 14 && kind < 21) return (same & 0x807fffffu) | ((120 + (choice & 15)) << 23);
  if (kind >= 21 && kind < 25) return halves(a, b >> 3, false);
  return same;
}

void fill(const Trial &trial, uint64_t global, uint32_t *words) {
  for (uint32_t index = 0; index < allWords; index++) words[index] = wordAt(trial, index);
  const uint32_t pattern = trial.seed % 5;
  for (int lane = 0; lane < lanes; lane++) {
    uint32_t &word = words[predicatesRow * lanes + lane];
    word = pattern == 1 ? 0x7f : pattern == 2 ? mix(trial.seed) & 0x7f : (word >> 9) & 0x7f;
  }
  for (int row = uniformRow; row < sharedRow; row++) {
    const uint32_t first = words[row * lanes];
    const uint32_t value = row < uniformPredicatesRow ? first : (mix(first) >> 5) & 1;
    for (int lane = 0; lane < lanes; lane++) words[row * lanes + lane] = value;
  }
  for (uint32_t place = 0; place < trial.overrides; place++) {
    const Override &each = trial.override_[place];
    for (int lane = 0; lane < lanes; lane++) {
      const int64_t offset = int64_t(each.start) + int64_t(lane) * each.step;
      const uint64_t value = each.kind ? global + offset : uint64_t(offset);
      words[each.row * lanes + lane] = uint32_t(value);
      if (each.kind) words[(each.row + 1) * lanes + lane] = uint32_t(value >> 32);
    }
  }
}

std::vector<unsigned char> read(const char *path) {
  std::vector<unsigned char> bytes;
  FILE *file = fopen(path, "rb");
  if (!file) return bytes;
  fseek(file, 0, SEEK_END);
  bytes.resize(ftell(file));
  fseek(file, 0, SEEK_SET);
  if (fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) bytes.clear();
  fclose(file);
  return bytes;
}

struct Shared {
  volatile uint32_t next;
  volatile uint64_t used;
};
constexpr uint64_t room = 1ull << 30;

// Writes results. A result consists of the trial's number, its status, the number of changed words, and each word's
// index and value. The status is 0, a CUDA error, or 9999 if the trial hung.
struct Results {
  Shared *shared;
  uint32_t *words;
  void begin(uint32_t trial, uint32_t status, uint32_t count) { put(trial), put(status), put(count); }
  void put(uint32_t word) {
    if ((shared->used + 1) * 4 < room) words[shared->used] = word;
    shared->used = shared->used + 1;
  }
};

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

void child(const std::vector<unsigned char> &cubin, const std::vector<unsigned char> &input, Results results, double end) {
  Header header;
  memcpy(&header, input.data(), sizeof header);
  const unsigned char *before = input.data() + sizeof header, *after = before + 16 * header.before;
  const unsigned char *trials = after + 16 * header.after;
  // One buffer contains the state before the trial, the state after the trial, and global memory.
  // The buffer must not cross a multiple of 4 GiB.
  unsigned char *device = nullptr;
  if (cudaMalloc(&device, 1 << 20) != cudaSuccess) _exit(3);
  uint32_t *in = (uint32_t *)device, *out = (uint32_t *)(device + 0x40000), *global = (uint32_t *)(device + 0x80000);
  std::vector<uint32_t> words(allWords), result(stateWords), memory(globalWords);
  std::vector<unsigned char> image(cubin);
  for (uint32_t index = results.shared->next; index < header.trials; index = results.shared->next) {
    if (now() > end) _exit(4);
    Trial trial;
    memcpy(&trial, trials + index * sizeof trial, sizeof trial);
    fill(trial, (uint64_t)global, words.data());
    unsigned char *code = image.data() + header.textOffset;
    memcpy(code, before, 16 * header.before);
    memcpy(code + 16 * header.before, trial.words, 16);
    memcpy(code + 16 * (header.before + 1), after, 16 * header.after);
    cudaMemcpy(in, words.data(), 4 * stateWords, cudaMemcpyHostToDevice);
    cudaMemcpy(global, words.data() + stateWords, 4 * globalWords, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 4 * stateWords);
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaError_t error = cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, library, "slot");
    Words parameters;
    memcpy(&parameters, words.data() + stateWords + globalWords, sizeof parameters);
    void *arguments[] = {&in, &out, &parameters};
    if (error == cudaSuccess) error = cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), arguments, 0, nullptr);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(result.data(), out, 4 * stateWords, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(memory.data(), global, 4 * globalWords, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      results.begin(index, error, 0);
      results.shared->next = index + 1;
      // If the module could not be loaded, the CUDA context is still usable.
      if (error == cudaErrorInvalidKernelImage || error == cudaErrorNoKernelImageForDevice) continue;
      _exit(5);
    }
    uint32_t changed = 0;
    for (uint32_t at = 0; at < stateWords; at++) changed += result[at] != words[at];
    for (uint32_t at = 0; at < globalWords; at++) changed += memory[at] != words[stateWords + at];
    results.begin(index, 0, changed);
    for (uint32_t at = 0; at < stateWords; at++)
      if (result[at] != words[at]) results.put(at), results.put(result[at]);
    for (uint32_t at = 0; at < globalWords; at++)
      if (memory[at] != words[stateWords + at]) results.put(stateWords + at), results.put(memory[at]);
    cudaLibraryUnload(library);
    results.shared->next = index + 1;
  }
  _exit(0);
}

} // namespace

int main(int count, char **words) {
  if (count < 5) return 2;
  const std::vector<unsigned char> cubin = read(words[1]), input = read(words[2]);
  if (cubin.empty() || input.size() < sizeof(Header)) return 2;
  Header header;
  memcpy(&header, input.data(), sizeof header);
  const double end = now() + atof(words[4]);
  void *memory = mmap(nullptr, room + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 2;
  Shared *shared = (Shared *)memory;
  Results results{shared, (uint32_t *)((char *)memory + 4096)};
  int starts = 0, hangs = 0;
  while (shared->next < header.trials && now() < end && starts < 400 && hangs < 20) {
    starts++;
    const pid_t process = fork();
    if (process == 0) child(cubin, input, results, end);
    uint32_t last = shared->next;
    // The first trial of a process gets more time, because it includes CUDA startup.
    double moved = now() + 15;
    for (int status = 0; waitpid(process, &status, WNOHANG) == 0;) {
      usleep(2000);
      if (shared->next != last) last = shared->next, moved = now();
      if (now() < moved + 4) continue;
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      hangs++;
      results.begin(shared->next, 9999, 0);
      shared->next = shared->next + 1;
      break;
    }
  }
  FILE *file = fopen(words[3], "wb");
  if (!file) return 2;
  fwrite(results.words, 4, shared->used, file);
  fclose(file);
  printf("%u of %u trials, %d processes, %d hung, %llu words\n", shared->next, header.trials, starts, hangs,
         (unsigned long long)shared->used);
  return 0;
}
