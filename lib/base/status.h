// Status: what every fallible function in the core returns. It must be looked at.
//
// A Status is a code, a message in static storage and an optional index (the row, column or field
// that is to blame). It owns nothing and never allocates.
#pragma once

#include <cstdint>

namespace adapvae {

enum class StatusCode : std::int32_t {
  kOk = 0,
  kInvalidArgument = 1,  // a value is out of its bounds
  kShapeMismatch = 2,    // a matrix does not have the size that was agreed at create
  kNonFinite = 3,        // a NaN or an infinity where a number is needed; index = row
  kOutOfMemory = 4,      // the memory given is smaller than the plan
  kCorruptData = 5,      // bytes that do not parse
  kUnavailable = 6,      // this build or this machine cannot do it
};

class [[nodiscard]] Status {
 public:
  static constexpr std::int64_t kNoIndex = -1;

  constexpr Status() = default;
  // message must outlive the Status: pass a string literal.
  constexpr Status(StatusCode code, const char* message, std::int64_t index = kNoIndex)
      : code_(code), message_(message), index_(index) {}

  constexpr bool ok() const { return code_ == StatusCode::kOk; }
  constexpr StatusCode code() const { return code_; }
  constexpr const char* message() const { return message_; }
  constexpr std::int64_t index() const { return index_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  const char* message_ = "";
  std::int64_t index_ = kNoIndex;
};

}  // namespace adapvae

// Leaves the calling function with the first failure.
#define ADAPVAE_RETURN_IF_ERROR(expression)                 \
  do {                                                      \
    const ::adapvae::Status adapvae_status_ = (expression); \
    if (!adapvae_status_.ok()) return adapvae_status_;      \
  } while (false)
