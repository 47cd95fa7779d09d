// The system's clock by the system's own call: the library needs nothing but the C library.
#include "handle.h"

#if defined(_WIN32)
#include <windows.h>
#elif defined(__unix__) || defined(__APPLE__) || defined(__EMSCRIPTEN__)
#include <time.h>
#define ADAPVAE_POSIX_CLOCK
#endif

namespace adapvae::capi {

#if defined(_WIN32)
bool has_system_clock() { return true; }
double system_seconds() {
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return static_cast<double>(now.QuadPart) / static_cast<double>(frequency.QuadPart);
}
#elif defined(ADAPVAE_POSIX_CLOCK)
bool has_system_clock() { return true; }
double system_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
#else
bool has_system_clock() { return false; }
double system_seconds() { return 0.0; }
#endif

}  // namespace adapvae::capi
