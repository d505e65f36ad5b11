// Holds a stream until the host has enqueued all timed work, so that the timed interval contains no host time.
#pragma once

#include "errors.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

// Spins until the host writes the ticket, or for at most `limitNs`. The limit ends the kernel if the host process dies.
__global__ void awaitTicket(const volatile unsigned* written, unsigned ticket, long long limitNs) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (int(*written - ticket) < 0 && now - start < limitNs);
}

// Holds a stream. A launch that waits for the GPU would deadlock with the hold, so a second thread ends the hold after
// `kLimit`. Work enqueued after the hold has ended is reported as late.
class Hold {
 public:
  static constexpr std::chrono::milliseconds kLimit{50};

  Hold() {
    check(cudaHostAlloc(&written_, sizeof *written_, cudaHostAllocMapped), "cudaHostAlloc");
    *written_ = 0;
    watchdog_ = std::thread([this] { watch(); });
  }
  ~Hold() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
    watchdog_.join();
    *written_ = ticket_;
    cudaFreeHost(const_cast<unsigned*>(written_));
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void begin(cudaStream_t stream) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++ticket_;
      holding_ = true;
      expired_ = false;
      deadline_ = std::chrono::steady_clock::now() + kLimit;
    }
    changed_.notify_one();
    const long long limit = 10 * std::chrono::duration_cast<std::chrono::nanoseconds>(kLimit).count();
    awaitTicket<<<1, 1, 0, stream>>>(written_, ticket_, limit);
    check(cudaGetLastError(), "holding the stream");
  }

  // Releases the stream. Returns false if the time limit had already released the stream.
  bool end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    holding_ = false;
    *written_ = ticket_;
    return !expired_;
  }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!closed_) {
      if (!holding_) {
        changed_.wait(lock);
      } else if (changed_.wait_until(lock, deadline_) == std::cv_status::timeout && holding_ &&
                 std::chrono::steady_clock::now() >= deadline_) {
        holding_ = false;
        expired_ = true;
        *written_ = ticket_;
      }
    }
  }

  volatile unsigned* written_ = nullptr;
  unsigned ticket_ = 0;
  bool holding_ = false, expired_ = false, closed_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watchdog_;
};
