// Counts every allocation of the test binary, so that a test can show that a stretch of code makes
// none:
//
//     const AllocationCount before = allocation_count();
//     ... what must not allocate; no doctest macro in here ...
//     const AllocationCount after = allocation_count();
//     CHECK(after.allocations == before.allocations);
//
// Linking allocation_trap.cpp replaces operator new and delete and, with glibc, the malloc family.
// Sanitizers need their own allocator: under them nothing is replaced and nothing is counted.
#pragma once

#include <cstdint>

namespace adapvae::testing {

struct AllocationCount {
  std::uint64_t allocations = 0;  // new, malloc, calloc, realloc, and the aligned forms
  std::uint64_t releases = 0;     // delete and free, of anything but null
};

// Of all threads since the start of the program.
AllocationCount allocation_count();

// Whether operator new and delete are counted in this build; if not, the counts stay 0.
bool allocation_trap_active();
// Whether the malloc family is counted, too.
bool allocation_trap_sees_malloc();

}  // namespace adapvae::testing
