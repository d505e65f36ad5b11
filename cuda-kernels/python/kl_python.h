/* Calls a Python reference and exchanges arrays as files in a temporary folder. The library that includes this header
 * is generated from a task and its reference.py. */
#ifndef KL_PYTHON_H
#define KL_PYTHON_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

class KlPython {
 public:
  KlPython() {
    const char* parent = getenv("TMPDIR");
    folder_ = std::string(parent && *parent ? parent : "/tmp") + "/kl-reference-XXXXXX";
    if (!mkdtemp(folder_.data())) fail("cannot create a folder for its arrays");
  }
  ~KlPython() { removeFiles(); }

  void number(const char* name, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    numbers_ += comma(numbers_) + quoted(name) + ":" + text;
  }
  void word(const char* name, const char* value) { numbers_ += comma(numbers_) + quoted(name) + ":" + quoted(value); }

  /* Adds an input array. Null data means that the array does not exist. */
  void input(const char* name, const char* dtype, size_t elementBytes, const std::vector<double>& shape,
             const void* data) {
    if (!data) return;
    write(name, data, countOf(shape) * elementBytes);
    inputs_ += comma(inputs_) + described(name, dtype, shape);
  }
  void output(const char* name, const char* dtype, const std::vector<double>& shape) {
    files_.push_back(std::string("out-") + name);
    outputs_ += comma(outputs_) + described(name, dtype, shape);
  }

  void run(const char* driver, const char* script, void (*progress)(double)) {
    const std::string spec = "{\"numbers\":{" + numbers_ + "},\"inputs\":[" + inputs_ + "],\"outputs\":[" + outputs_ + "]}";
    write("spec.json", spec.data(), spec.size());
    write("driver.py", driver, strlen(driver));
    write("reference.py", script, strlen(script));
    pid_t child = 0;
    FILE* said = start("driver.py", child);
    if (!said) fail("python3 is not on PATH; the reference needs it, with numpy");
    double fraction;
    while (fscanf(said, "%lf", &fraction) == 1) progress(fraction);
    fclose(said);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) end();
  }

  /* Runs `checker` on the script and returns the checker's output, or an empty string if python3 is missing. */
  std::string said(const char* checker, const char* script) {
    write("check.py", checker, strlen(checker));
    write("reference.py", script, strlen(script));
    pid_t child = 0;
    FILE* output = start("check.py", child);
    std::string text;
    if (!output) return text;
    for (int c = fgetc(output); c != EOF; c = fgetc(output)) text += char(c);
    fclose(output);
    waitpid(child, nullptr, 0);
    return text;
  }

  /* Reads a computed output. */
  void take(const char* name, size_t elementBytes, const std::vector<double>& shape, void* data) {
    const size_t bytes = countOf(shape) * elementBytes;
    FILE* file = fopen((folder_ + "/" + name).c_str(), "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) fail(std::string("no result for ") + name);
    fclose(file);
  }

 private:
  /* Runs a script in the folder and returns its stdout, or null if python3 is missing. */
  FILE* start(const char* name, pid_t& child) {
    int ends[2];
    if (pipe(ends) != 0) fail("cannot create a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const std::string file = folder_ + "/" + name;
    const char* arguments[] = {"python3", "-B", file.c_str(), nullptr};
    const int error = posix_spawnp(&child, "python3", &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) return fdopen(ends[0], "r");
    close(ends[0]);
    return nullptr;
  }

  static std::string comma(const std::string& text) { return text.empty() ? "" : ","; }
  static std::string quoted(const std::string& text) { return "\"" + text + "\""; }
  static size_t countOf(const std::vector<double>& shape) {
    size_t count = 1;
    for (const double extent : shape) count *= size_t(extent);
    return count;
  }
  static std::string described(const char* name, const char* dtype, const std::vector<double>& shape) {
    std::string text = "{\"name\":" + quoted(name) + ",\"dtype\":" + quoted(dtype) + ",\"shape\":[";
    for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string((long long)shape[i]);
    return text + "]}";
  }

  void write(const char* name, const void* data, size_t bytes) {
    files_.push_back(name);
    FILE* file = fopen((folder_ + "/" + name).c_str(), "wb");
    const bool written = file && fwrite(data, 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !written) fail("cannot write its arrays to " + folder_);
  }
  void removeFiles() {
    for (const std::string& name : files_) unlink((folder_ + "/" + name).c_str());
    rmdir(folder_.c_str());
  }
  /* Prints the reason and exits. The supervisor reports the last output of a process that fails. */
  [[noreturn]] void fail(const std::string& why) {
    fprintf(stderr, "%s\n", why.c_str());
    end();
  }
  [[noreturn]] void end() {
    removeFiles();
    fflush(nullptr);
    _exit(5);
  }

  std::string folder_, numbers_, inputs_, outputs_;
  std::vector<std::string> files_;
};

#endif
