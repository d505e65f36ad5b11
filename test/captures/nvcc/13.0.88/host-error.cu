#include <cstddef>
int launch() {
  return undeclared_on_host(
}
