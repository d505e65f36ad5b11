// NumPy's .npy files: strict parsing of the header, and the data after it.
#pragma once

#include "dtype.hpp"

#include <fstream>
#include <functional>
#include <string>
#include <vector>

class NpyFile {
 public:
  // Reads the header and rejects a file that is not an array of this type and shape.
  NpyFile(const std::string& path, const DtypeFacts& dtype, const std::vector<long long>& shape) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot be opened");
    unsigned char start[12] = {};
    file.read(reinterpret_cast<char*>(start), 10);
    if (!file || memcmp(start, "\x93NUMPY", 6) != 0) fail("is not a .npy file");
    size_t length = start[8] | start[9] << 8;
    data_ = 10;
    if (start[6] >= 2) {  // since version 2, the header length has four bytes
      file.read(reinterpret_cast<char*>(start) + 10, 2);
      length |= size_t(start[10]) << 16 | size_t(start[11]) << 24;
      data_ = 12;
    }
    if (length > (1 << 20)) fail("has a header of more than 1 MiB");
    std::string header(length, ' ');
    if (!file.read(header.data(), std::streamsize(length))) fail("ends within its header");
    data_ += length;

    requireType(value(header, "descr"), dtype);
    if (value(header, "fortran_order").rfind("False", 0) != 0) fail("is in Fortran order: save a C-ordered copy");
    requireShape(value(header, "shape"), shape);
    bytes_ = dtype.bytes;
    for (const long long extent : shape) bytes_ *= size_t(extent);
    file.seekg(0, std::ios::end);
    if (size_t(file.tellg()) < data_ + bytes_) fail("ends within its data");
  }

  // Reads the data in chunks.
  void read(const std::function<void(size_t offset, const void* piece, size_t bytes)>& take) const {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(std::streamoff(data_));
    std::vector<char> piece(std::min<size_t>(bytes_, 16 << 20));
    for (size_t done = 0; done < bytes_; done += piece.size()) {
      const size_t count = std::min(piece.size(), bytes_ - done);
      if (!file.read(piece.data(), std::streamsize(count))) fail("cannot be read to its end");
      take(done, piece.data(), count);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw RunnerError{kBadInput, "file", path_ + " " + what}; }

  // What follows 'key': in the header, which is a Python dictionary of three fixed keys.
  std::string value(const std::string& header, const std::string& key) const {
    size_t at = header.find("'" + key + "'");
    if (at != std::string::npos) at = header.find(':', at);
    if (at != std::string::npos) at = header.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos) fail("has no '" + key + "' in its header");
    return header.substr(at);
  }

  void requireType(const std::string& descr, const DtypeFacts& dtype) const {
    // '<f4': byte order, then the type.
    const std::string type = descr.size() > 1 && descr[0] == '\'' ? descr.substr(1, descr.find('\'', 1) - 1) : "";
    const bool littleEndian = type.size() > 1 && (type[0] == '<' || type[0] == '|');
    for (const std::string& name : split(dtype.numpy, ' '))
      if (littleEndian && type.substr(1) == name) return;
    fail("holds " + (type.empty() ? "records" : "'" + type + "'") + ", the buffer is " + dtype.name);
  }

  void requireShape(const std::string& text, const std::vector<long long>& shape) const {
    const std::string inside = text.size() > 1 && text[0] == '(' ? text.substr(1, text.find(')') - 1) : "";
    std::vector<long long> found;
    for (const std::string& part : split(inside, ','))
      if (part.find_first_of("0123456789") != std::string::npos) found.push_back(atoll(part.c_str()));
    if (found != shape) fail("has the shape (" + inside + "), not that of the buffer");
  }

  std::string path_;
  size_t data_ = 0, bytes_ = 0;
};
