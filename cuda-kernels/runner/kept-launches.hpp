// Launches whose results are checked by a second process. The process that runs an untrusted rung never holds the
// expected results, because kernels can read all memory of their context.
#pragma once

#include "rung.hpp"

#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

// Draws new inputs for each launch and stores the results of some launches. The launches to store are chosen at random
// before they run. A rung that skips work lowers its median time only if it skips work in at least half of its
// launches. A rung that skips work in half of its launches passes with a probability of 1 in 256.
class KeptLaunches {
 public:
  static constexpr size_t kMost = 8;

  explicit KeptLaunches(Problem& problem) : problem_(problem) {}

  // Draws the inputs of the next launch and decides whether to store its results.
  void prepare() {
    seed_ = (long long)(number(1LL << 52));
    problem_.draw(seed_);
    problem_.resetOutputs(nullptr);
    const size_t place = launches_ < kMost ? launches_ : size_t(number((long long)launches_ + 1));
    ++launches_;
    place_ = place;
    if (place_ < kMost) problem_.remember();
    check(cudaDeviceSynchronize(), "preparing the buffers");
  }

  // Stores the results of the launch if the launch was chosen.
  void keep() {
    if (place_ >= kMost) return;
    if (kept_.size() <= place_) kept_.resize(place_ + 1);
    Kept& kept = kept_[place_];
    kept.seed = seed_;
    kept.results = problem_.results();
    kept.effects = problem_.inspect();
  }

  // Discards all stored launches and resets the launch count.
  void restart() {
    launches_ = 0;
    kept_.clear();
  }

  void write(const std::string& folder) const {
    for (size_t i = 0; i < kept_.size(); ++i) {
      const std::string stem = folder + "/" + std::to_string(i) + ".";
      std::ofstream facts(stem + "launch");
      facts << "seed " << kept_[i].seed << "\n";
      for (const std::string& name : kept_[i].effects.outOfBounds) facts << "outside " << name << "\n";
      for (const std::string& name : kept_[i].effects.changedInputs) facts << "changed " << name << "\n";
      for (const auto& [name, bytes] : kept_[i].results)
        if (!std::ofstream(stem + name, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size())))
          badArgument("cannot write " + stem + name);
      if (!facts.flush()) badArgument("cannot write " + stem + "launch");
    }
  }

 private:
  struct Kept {
    long long seed = 0;
    std::map<std::string, std::vector<char>> results;
    Verification effects;
  };

  // Returns an unpredictable number below `most`.
  static long long number(long long most) {
    static std::random_device device;
    return std::uniform_int_distribution<long long>(0, most - 1)(device);
  }

  Problem& problem_;
  std::vector<Kept> kept_;
  long long seed_ = 0;
  size_t launches_ = 0, place_ = kMost;
};

// A stored launch, as read from its folder.
struct WrittenLaunch {
  long long seed = 0;
  std::map<std::string, std::vector<char>> results;
  Verification effects;

  // Reads a stored launch. Returns false if no stored launch has this number.
  bool read(const std::string& folder, size_t number, const Case& of) {
    const std::string stem = folder + "/" + std::to_string(number) + ".";
    std::ifstream facts(stem + "launch");
    if (!facts) return false;
    std::string what, value;
    while (facts >> what >> value) {
      if (what == "seed") seed = parseInteger(stem + "launch", value, 0, 1LL << 53);
      else if (what == "outside") effects.outOfBounds.push_back(value);
      else if (what == "changed") effects.changedInputs.push_back(value);
      else badArgument(stem + "launch: unknown line: " + what);
    }
    for (const BufferSpec& spec : of.buffers) {
      if (!spec.written()) continue;
      std::ifstream file(stem + spec.name, std::ios::binary);
      results[spec.name] = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    return true;
  }
};
