/* Runs a Python rung on its task's buffers, inside the process that loads the rung's library. The library that includes
 * this header is generated from a task and the rung's script. kl_rung.py in the same folder is the Python side.
 *
 * The interpreter is a shared library: the `python3` on PATH, with the packages of its virtual environment. All rungs
 * in a process share one interpreter. Between calls, none of our threads holds the interpreter's lock. */
#ifndef KL_RUNG_H
#define KL_RUNG_H

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

/* Shared with kl_rung.py, which fills in the last five members. Strings stay valid until the next call. */
struct KlPythonHooks {
  const char* spec;
  const char* (*prepare)(void* stream); /* compiles the kernels; returns the error, or null */
  const char* (*launch)(void* stream);  /* returns the error, or null */
  const char* refused;                  /* the reason the rung cannot run here, or null */
  const char* about;                    /* such as `Python 3.12.3, torch 2.11.0` */
  int ready;
};

class KlInterpreter {
 public:
  /* Starts the interpreter once. Returns the error, or an empty string. */
  static std::string start() {
    static const std::string trouble = self().open();
    return trouble;
  }

  /* Runs a line of Python. Returns false if the line raised an exception; the traceback is on stderr. */
  static bool run(const std::string& code) {
    KlInterpreter& it = self();
    const int state = it.ensure_();
    const bool ok = it.runString_(code.c_str()) == 0;
    it.release_(state);
    return ok;
  }

 private:
  static KlInterpreter& self() {
    static KlInterpreter one;
    return one;
  }

  /* Asks python3 for its executable, version, library name, and the possible paths of the library. */
  static std::vector<std::string> asked() {
    const char* command =
        "python3 -I -c 'import os, sys, sysconfig as s\n"
        "print(sys.executable)\n"
        "name = s.get_config_var(\"INSTSONAME\") or \"\"\n"
        "version = \"%d.%d\" % sys.version_info[:2]\n"
        "name = name if \".so\" in name else \"libpython%s.so.1.0\" % version\n"
        "print(version); print(name)\n"
        "places = [s.get_config_var(\"LIBDIR\") or \"\", os.path.join(sys.base_prefix, \"lib\")]\n"
        "for place in places: print(os.path.join(place, name))' 2>/dev/null";
    std::vector<std::string> lines;
    FILE* said = popen(command, "r");
    if (!said) return lines;
    std::string line;
    for (int c = fgetc(said); c != EOF; c = fgetc(said)) {
      if (c != '\n') line += char(c);
      else lines.push_back(std::move(line)), line.clear();
    }
    pclose(said);
    return lines;
  }

  std::string open() {
    const std::vector<std::string> said = asked();
    if (said.size() < 4) return "there is no python3 on PATH; install it, or activate the environment that has it";
    const std::string &executable = said[0], &version = said[1], &name = said[2];
    void* library = nullptr;
    /* RTLD_GLOBAL, because packages find the interpreter's functions by name. */
    for (size_t i = 3; i < said.size() && !library; ++i) library = dlopen(said[i].c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return executable + " has no " + name + " beside it; install it (Debian, Ubuntu: libpython" + version + ")";
    const bool found = bind(library, "Py_IsInitialized", isInitialized_) &&
                       bind(library, "PyRun_SimpleString", runString_) && bind(library, "PyGILState_Ensure", ensure_) &&
                       bind(library, "PyGILState_Release", release_);
    if (!found) return name + " lacks functions that every Python 3 has";
    if (isInitialized_()) return ""; /* already started by another rung's library */
    return initialize(library, executable) ? "" : executable + " could not be started inside this process";
  }

  /* Starts the interpreter, which finds its virtual environment through the program name. */
  bool initialize(void* library, const std::string& executable) {
    void (*initialize)(int) = nullptr;
    void* (*saveThread)() = nullptr;
    wchar_t* (*decode)(const char*, size_t*) = nullptr;
    void (*setProgramName)(const wchar_t*) = nullptr;
    void* (*newConfig)() = nullptr;
    int (*setString)(void*, const char*, const char*) = nullptr;
    int (*initializeFrom)(void*) = nullptr;
    if (!bind(library, "PyEval_SaveThread", saveThread)) return false;
    if (bind(library, "PyInitConfig_Create", newConfig) && bind(library, "PyInitConfig_SetStr", setString) &&
        bind(library, "Py_InitializeFromInitConfig", initializeFrom)) {
      void* config = newConfig();
      if (!config || setString(config, "program_name", executable.c_str()) != 0 || initializeFrom(config) != 0)
        return false;
    } else {
      if (!bind(library, "Py_DecodeLocale", decode) || !bind(library, "Py_SetProgramName", setProgramName) ||
          !bind(library, "Py_InitializeEx", initialize))
        return false;
      setProgramName(decode(executable.c_str(), nullptr));
      initialize(0); /* 0: no signal handlers */
    }
    saveThread();
    return true;
  }

  template <typename Function>
  static bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  int (*isInitialized_)() = nullptr;
  int (*runString_)(const char*) = nullptr;
  int (*ensure_)() = nullptr;
  void (*release_)(int) = nullptr;
};

/* A rung and one set of buffers. */
class KlPythonRung {
 public:
  void number(const char* name, double value) { add(numbers_, name, text("%.17g", value)); }
  void whole(const char* name, long long value) { add(numbers_, name, std::to_string(value)); }
  void real(const char* name, double value) { add(reals_, name, text("%.17g", value)); }
  void word(const char* name, const char* value) { add(words_, name, quoted(value)); }
  /* Adds a buffer. Null data means that the buffer does not exist. */
  void buffer(const char* name, const char* dtype, const std::vector<double>& shape, const char* access, const void* data) {
    std::string one = "{\"name\":" + quoted(name) + ",\"dtype\":" + quoted(dtype) +
                      ",\"address\":" + std::to_string(reinterpret_cast<size_t>(data)) +
                      ",\"access\":" + quoted(access) + ",\"shape\":[";
    for (size_t i = 0; i < shape.size(); ++i) one += (i ? "," : "") + std::to_string((long long)shape[i]);
    buffers_ += (buffers_.empty() ? "" : ",") + one + "]}";
  }

  /* Starts Python and imports the rung's packages. Returns the error, or null. `here` can be any function in the
   * library. */
  const char* open(const char* script, const char* package, const void* here) {
    if (opened_) return refused();
    opened_ = true;
    trouble_ = KlInterpreter::start();
    if (!trouble_.empty()) return refused();
    Dl_info self;
    if (!dladdr(here, &self)) return trouble_ = "its library cannot be found", refused();
    const std::string library = self.dli_fname;
    const std::string sources = library.substr(0, library.rfind('/') + 1) + "src/"; /* in the build cache */
    spec_ = "{\"script\":" + quoted(sources + script) + ",\"package\":" + quoted(package) + ",\"numbers\":{" + numbers_ +
            "},\"reals\":{" + reals_ + "},\"words\":{" + words_ + "},\"buffers\":[" + buffers_ + "]}";
    driver_ = sources + "python/kl_rung.py";
    hooks_.spec = spec_.c_str();
    const auto address = [](const void* of) { return std::to_string(reinterpret_cast<size_t>(of)); };
    const bool ok = KlInterpreter::run("import ctypes, runpy; runpy.run_path(ctypes.string_at(" + address(driver_.c_str()) +
                                       ").decode(), {'HOOKS': " + address(&hooks_) + "})");
    if (!ok || !hooks_.ready) trouble_ = "Python could not be prepared for it; stderr has the reason";
    return refused();
  }

  const char* prepare(void* stream) { return failure_ = refused() ? refused() : hooks_.prepare(stream); }
  /* Launches the rung. Returns false on failure; `failure` then has the reason. */
  bool launch(void* stream) { return !(failure_ = refused() ? refused() : hooks_.launch(stream)); }
  const char* failure() const { return failure_; }
  const char* about() const { return hooks_.about; }

 private:
  const char* refused() const { return trouble_.empty() ? hooks_.refused : trouble_.c_str(); }

  static std::string text(const char* format, double value) {
    std::array<char, 64> out;
    snprintf(out.data(), out.size(), format, value);
    return out.data();
  }
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  }
  static void add(std::string& to, const char* name, const std::string& value) {
    to += (to.empty() ? "" : ",") + quoted(name) + ":" + value;
  }

  bool opened_ = false;
  KlPythonHooks hooks_ = {};
  const char* failure_ = nullptr;
  std::string trouble_, numbers_, reals_, words_, buffers_, spec_, driver_;
};

#endif
