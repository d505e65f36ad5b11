// kl-runner: loads, verifies and times rungs, or launches each rung once for a profiler or a sanitizer. README.md
// describes the runner's protocol.
#include "bursts.hpp"
#include "cases.hpp"
#include "ceilings.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "kept-launches.hpp"
#include "launch-reader.hpp"
#include "problem.hpp"
#include "rung.hpp"
#include "time-rung.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cuda_profiler_api.h>
#include <list>
#include <nvtx3/nvToolsExt.h>
#include <poll.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

// Exits the runner when its owner process has ended, so that a killed supervisor leaves no orphan on the GPU.
void followOwner(pid_t owner) {
  std::thread([owner] {
#ifdef SYS_pidfd_open
    const int descriptor = int(syscall(SYS_pidfd_open, owner, 0));
    if (descriptor >= 0) {
      pollfd waiting{descriptor, POLLIN, 0};
      while (poll(&waiting, 1, -1) < 0 && errno == EINTR) {
      }
      _exit(1);
    }
#endif
    // On older Linux kernels, polls five times a second. EPERM means that the process still exists.
    while (kill(owner, 0) == 0 || errno == EPERM) usleep(200 * 1000);
    _exit(1);
  }).detach();
}

// Returns whether the context is lost. After a sticky error, every later call in this process fails.
bool contextLost() {
  cudaGetLastError();
  return cudaDeviceSynchronize() != cudaSuccess;
}

void printStart(const Rung& rung, const char* stage) {
  Json("start").string("rung", rung.id).string("stage", stage).print();
}

void reportFailure(Rung& rung, const RungError& error) {
  rung.state = Rung::kOut;
  const bool fatal = contextLost();
  Json("failed")
      .string("rung", rung.id)
      .string("stage", error.stage)
      .string("reason", error.reason)
      .boolean("fatal", fatal)
      .print();
  if (fatal) _exit(kContextLost);  // destructors would only hit the same error
}

// Runs one stage of a rung. A failure affects only this rung, unless the context is lost.
template <typename Work>
bool stage(Rung& rung, const char* name, Work work) {
  try {
    printStart(rung, name);
    work();
    return true;
  } catch (const RungError& error) {
    reportFailure(rung, error);
  } catch (const Unsupported& why) {
    rung.state = Rung::kOut;
    Json("unsupported").string("rung", rung.id).string("reason", why.reason).print();
  } catch (const RunnerError& error) {
    // One of the runner's own calls failed. If the context is lost, the rung caused the failure.
    if (!contextLost()) throw;
    reportFailure(rung, {name, error.message});
  }
  return false;
}

// Ends a rung. The rung's own release code, if any, runs as a stage, because it may fail.
void release(Rung& rung, const char* name) {
  if (rung.releasesItself()) stage(rung, name, [&] { rung.release(name); });
  else rung.release(name);
}

using Rungs = std::list<Rung>;  // a list keeps the addresses of rungs stable

Rungs rungsOf(const Arguments& args, Problems& problems) {
  Rungs rungs;
  for (const RungPath& path : args.rungs) rungs.emplace_back(path, problems[path.at]);
  return rungs;
}

// Launches a rung once, with freshly reset buffers.
void launchAfresh(const Rung& rung, const char* stage, cudaStream_t stream) {
  rung.problem.armGuards();
  rung.resetOutputs(stream);
  check(cudaDeviceSynchronize(), "preparing the buffers");
  rung.launchAndWait(stage, stream);
}

bool prepare(Rung& rung, Rungs& rungs, const Device& device, cudaStream_t stream);

// Computes the expected results once, with the task's reference or with the case's trusted rung. Returns false if the
// trusted rung could not be used.
bool expect(Rung& rung, Rungs& rungs, const Device& device, cudaStream_t stream) {
  Problem& problem = rung.problem;
  if (problem.hasExpected()) return true;
  const std::string& trusted = problem.of.referenceRung;
  if (trusted.empty()) {
    problem.computeExpected();
    return true;
  }
  if (rung.id == trusted)
    return stage(rung, "verify", [&] {
      launchAfresh(rung, "verify", stream);
      if (!problem.inspect().passed())
        throw RungError{"verify",
                        "the other rungs are checked against it, and it wrote to an input or beside a buffer"};
      problem.takeExpected();
    });
  for (Rung& other : rungs)
    if (other.id == trusted && &other.problem == &problem) prepare(other, rungs, device, stream);
  if (problem.hasExpected()) return true;
  reportFailure(rung, {"verify", "it is checked against " + trusted + ", which could not be used"});
  return false;
}

// Loads and verifies a rung once. A rung with a wrong result is not timed, because its time would be meaningless.
bool prepare(Rung& rung, Rungs& rungs, const Device& device, cudaStream_t stream) {
  if (rung.state != Rung::kNew) return rung.state == Rung::kReady;
  rung.state = Rung::kOut;
  if (!stage(rung, "load", [&] { rung.load(device); })) return false;
  if (!expect(rung, rungs, device, stream)) return false;
  stage(rung, "verify", [&] {
    launchAfresh(rung, "verify", stream);
    const Verification result = rung.problem.verify();
    result.print(rung.id);
    if (result.passed()) rung.state = Rung::kReady;
  });
  return rung.state == Rung::kReady;
}

void measure(const Arguments& args, const Device& device, const Nvml& nvml) {
  constexpr Purpose purpose{/*checked*/ true, /*guarded*/ true};
  requireMemory(bytesOf(args.usedCases(), purpose) + Stopwatch::bytes(device, args.cold), device);
  if (args.ceilings) CeilingBench(device).print();
  Problems problems(args, device, purpose);
  Rungs rungs = rungsOf(args, problems);
  Stopwatch stopwatch(device, args.cold);

  const LaunchReader launches;
  Rung* reference = nullptr;
  for (Rung& rung : rungs)
    if (rung.id == args.reference && prepare(rung, rungs, device, stopwatch.stream())) reference = &rung;

  for (Rung& rung : rungs) {
    if (reference && reference->state == Rung::kOut) reference = nullptr;  // the reference failed while it was timed
    if (prepare(rung, rungs, device, stopwatch.stream()))
      stage(rung, "time", [&] {
        try {
          timeRung(rung, reference, args, stopwatch, nvml);
        } catch (const ReferenceFailed& failure) {
          // Time the rung without the reference.
          reportFailure(*reference, failure.error);
          reference = nullptr;
          timeRung(rung, nullptr, args, stopwatch, nvml);
        }
        launches.print(rung, stopwatch.factsOf(rung).kernels);
        if (args.bursts) timeBursts(rung, reference, args.bursts, stopwatch);
        if (args.sustainedSeconds > 0) timeSustained(rung, args.sustainedSeconds, stopwatch, nvml);
      });
    if (&rung != reference) release(rung, "time");
  }
  if (reference) release(*reference, "time");
}

// Times one rung without access to the expected results. The `check` command verifies the stored launches.
void blind(const Arguments& args, const Device& device, const Nvml& nvml) {
  constexpr Purpose purpose{/*checked*/ false, /*guarded*/ true};
  if (args.rungs.size() != 1) badArgument("blind takes one --rung");
  requireMemory(bytesOf(args.usedCases(), purpose) + Stopwatch::bytes(device, args.cold), device);
  Problems problems(args, device, purpose);
  Rung rung(args.rungs.front(), problems[args.rungs.front().at]);
  Stopwatch stopwatch(device, args.cold);
  const LaunchReader launches;
  KeptLaunches kept(rung.problem);
  if (!stage(rung, "load", [&] { rung.load(device); })) return;
  stage(rung, "time", [&] {
    timeRung(rung, nullptr, args, stopwatch, nvml,
             {[&] { kept.prepare(); }, [&] { kept.keep(); }, [&] { kept.restart(); }});
    kept.write(args.results);
    launches.print(rung, stopwatch.factsOf(rung).kernels);
  });
  release(rung, "time");
}

// Checks the launches that the `blind` command stored. Loads trusted rungs, but not the untrusted rung.
void checkResults(const Arguments& args, const Device& device) {
  constexpr Purpose purpose{/*checked*/ true, /*guarded*/ true};
  requireMemory(bytesOf(args.usedCases(), purpose), device);
  Problems problems(args, device, purpose);
  Rungs rungs = rungsOf(args, problems);
  const auto isTrusted = [&](const Rung& rung) { return rung.id == rung.problem.of.referenceRung; };
  Rung& own = *std::find_if_not(rungs.begin(), rungs.end(), isTrusted);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  Verification found;
  size_t count = 0;
  for (WrittenLaunch launch; found.passed() && launch.read(args.results, count, own.problem.of); ++count) {
    own.problem.draw(launch.seed);
    own.problem.remember();
    for (Rung& rung : rungs)
      if (isTrusted(rung)) rung.state = Rung::kNew;
    if (!expect(own, rungs, device, stream)) return;
    found.outOfBounds = launch.effects.outOfBounds, found.changedInputs = launch.effects.changedInputs;
    own.problem.verifyResults(launch.results, found);
    launch = {};
  }
  if (count == 0) throw RunnerError{kBadInput, "bad-argument", "there are no results in " + args.results};
  printStart(own, "verify");
  found.print(own.id);
}

// Times pairs of builds alternately. Results are not checked here, because the caller has verified both builds.
void compare(const Arguments& args, const Device& device, const Nvml& nvml) {
  constexpr Purpose purpose{/*checked*/ false, /*guarded*/ true};
  // The ballast is allocated before everything else, so each round has different buffer and code addresses.
  const size_t ballastBytes = size_t(args.round * 7 % 32) << 21;
  requireMemory(bytesOf(args.usedCases(), purpose) + ballastBytes + Stopwatch::bytes(device, args.cold),
                device);
  const DeviceBuffer ballast(ballastBytes);
  Problems problems(args, device, purpose);
  Rungs rungs = rungsOf(args, problems);
  Stopwatch stopwatch(device, args.cold);

  const auto find = [&](const std::string& id) {
    return &*std::find_if(rungs.begin(), rungs.end(), [&](const Rung& rung) { return rung.id == id; });
  };
  const Order& order = orderOf(args.round);
  for (const RungPair& pair : args.pairs) {
    const Builds builds{find(pair.now), find(pair.before), find(pair.copy)};
    bool ready = true;
    for (const int which : order) ready = ready && stage(*builds[which], "load", [&] { builds[which]->open(device); });
    // All builds share one workspace, so every build sees the same workspace address.
    Rung& largest = **std::max_element(builds.begin(), builds.end(), [](const Rung* a, const Rung* b) {
      return a->workspaceBytes() < b->workspaceBytes();
    });
    ready = ready && stage(largest, "load", [&] { largest.giveWorkspace(); });
    if (ready)
      for (Rung* rung : builds) rung->shareWorkspace(largest);
    for (const int which : order) ready = ready && stage(*builds[which], "load", [&] { builds[which]->prepare(); });
    // Launches each build once, in loading order, to load lazily loaded code and create library handles.
    for (const int which : order)
      ready = ready && stage(*builds[which], "time", [&] {
                builds[which]->resetOutputs(stopwatch.stream());
                builds[which]->launchAndWait("time", stopwatch.stream());
              });
    if (ready) stage(*builds[0], "time", [&] { compareRungs(builds, args, stopwatch, nvml); });
    for (Rung* rung : builds) release(*rung, "time");
  }
}

void profile(const Arguments& args, const Device& device) {
  constexpr Purpose purpose{/*checked*/ false, /*guarded*/ true};
  requireMemory(bytesOf(args.usedCases(), purpose), device);
  Problems problems(args, device, purpose);
  Rungs rungs = rungsOf(args, problems);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");

  for (Rung& rung : rungs) {
    if (!stage(rung, "load", [&] { rung.load(device); })) continue;
    std::chrono::duration<double> taken{};
    const bool profiled = stage(rung, "profile", [&] {
      rung.resetOutputs(stream);
      rung.launchAndWait("profile", stream);  // unprofiled launch: creates library handles and loads lazily loaded code
      rung.resetOutputs(stream);
      check(cudaDeviceSynchronize(), "preparing the buffers");

      check(cudaProfilerStart(), "cudaProfilerStart");
      nvtxRangePushA(rung.id.c_str());
      const auto start = std::chrono::steady_clock::now();
      rung.launchAndWait("profile", stream);
      taken = std::chrono::steady_clock::now() - start;
      nvtxRangePop();
      check(cudaProfilerStop(), "cudaProfilerStop");
    });
    if (profiled) Json("profiled").string("rung", rung.id).number("seconds", taken.count()).print();
    release(rung, "profile");
  }
}

// Launches each rung once, with its own buffers and no guard bands. Outputs stay uninitialized, so initcheck detects
// reads of them.
void sanitize(const Arguments& args, const Device& device) {
  constexpr Purpose purpose{/*checked*/ false, /*guarded*/ false};
  for (const Case* one : args.usedCases()) requireMemory(bytesOf({one}, purpose), device);
  for (const RungPath& path : args.rungs) {
    SharedBuffers own;
    Problem problem(*path.at, args.seed, device, purpose, own);
    Rung rung(path, problem);
    if (!stage(rung, "load", [&] { rung.load(device); })) continue;
    const bool launched = stage(rung, "sanitize", [&] {
      rung.resetInOuts(nullptr);
      check(cudaDeviceSynchronize(), "preparing the buffers");
      rung.launchAndWait("sanitize", nullptr);
    });
    if (launched) Json("launched").string("rung", rung.id).print();
    release(rung, "sanitize");
  }
}

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// Launches one small kernel inside a profiler range, to test whether a profiler can read counters.
void probe() {
  check(cudaProfilerStart(), "cudaProfilerStart");
  spin<<<1, 32>>>(40000);
  check(cudaDeviceSynchronize(), "the probe's kernel");
  check(cudaProfilerStop(), "cudaProfilerStop");
}

}  // namespace

int main(int argumentCount, char** arguments) {
  if (!Json::claimStdout()) {
    perror("kl-runner: stdout cannot be kept for the protocol");
    return kBadInput;
  }
  try {
    const Arguments args = parseArguments(argumentCount, arguments);
    if (args.ownerPid) followOwner(pid_t(args.ownerPid));

    const Device device;
    const Nvml nvml(device.pciBusId);
    device.print(nvml);

    if (args.command == Arguments::kProbe) probe();
    if (args.command == Arguments::kMeasure) measure(args, device, nvml);
    if (args.command == Arguments::kBlind) blind(args, device, nvml);
    if (args.command == Arguments::kCheck) checkResults(args, device);
    if (args.command == Arguments::kCompare) compare(args, device, nvml);
    if (args.command == Arguments::kProfile) profile(args, device);
    if (args.command == Arguments::kSanitize) sanitize(args, device);
    Json("done").print();
    return kDone;
  } catch (const RunnerError& error) {
    error.print();
    return error.exitCode;
  }
}
