// Status: what every fallible function in the core returns. It must be looked at.
//
// A Status is a code, a message in static storage and an optional index (the row, column or field
// that is to blame). It owns nothing and never allocates. With ADAPVAE_STRIP_STRINGS messages are
// empty and a Status is one word, which a function returns in a register.
#pragma once

#include <cstddef>
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
  kLate = 7,             // of a state that has been left behind
  kForeign = 8,          // of another model
  kDiverged = 9,         // training left the range of numbers; nothing has changed
};

// Text for people, in static storage: pass a string literal. Takes the place of a const char* where
// a build without texts is to have none.
class Message {
 public:
#if defined(ADAPVAE_STRIP_STRINGS)
  constexpr Message(const char*) {}
  constexpr const char* text() const { return ""; }
#else
  constexpr Message(const char* text) : text_(text) {}
  constexpr const char* text() const { return text_; }

 private:
  const char* text_;
#endif
};

class [[nodiscard]] Status {
 public:
  static constexpr std::ptrdiff_t kNoIndex = -1;

#if defined(ADAPVAE_STRIP_STRINGS)
  constexpr Status() = default;
  constexpr Status(StatusCode code, Message, std::ptrdiff_t index = kNoIndex)
      : word_(static_cast<std::uint32_t>(code) |
              static_cast<std::uint32_t>(index < kLargestIndex ? index + 1 : 0) << 8U) {}

  constexpr bool ok() const { return code() == StatusCode::kOk; }
  constexpr StatusCode code() const { return static_cast<StatusCode>(word_ & 0xFFU); }
  constexpr const char* message() const { return ""; }
  constexpr std::ptrdiff_t index() const { return static_cast<std::ptrdiff_t>(word_ >> 8U) - 1; }

 private:
  static constexpr std::ptrdiff_t kLargestIndex = 0xFFFFFF;
  std::uint32_t word_ = 0;  // code, and above it the index + 1; 0 if it does not fit
#else
  constexpr Status() = default;
  constexpr Status(StatusCode code, Message message, std::ptrdiff_t index = kNoIndex)
      : code_(code), message_(message), index_(index) {}

  constexpr bool ok() const { return code_ == StatusCode::kOk; }
  constexpr StatusCode code() const { return code_; }
  constexpr const char* message() const { return message_.text(); }
  constexpr std::ptrdiff_t index() const { return index_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  Message message_ = "";
  std::ptrdiff_t index_ = kNoIndex;
#endif
};

}  // namespace adapvae

// Leaves the calling function with the first failure.
#define ADAPVAE_RETURN_IF_ERROR(expression)                 \
  do {                                                      \
    const ::adapvae::Status adapvae_status_ = (expression); \
    if (!adapvae_status_.ok()) return adapvae_status_;      \
  } while (false)
