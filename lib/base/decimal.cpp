#include "base/decimal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace adapvae {
namespace {

// A whole number of up to 1792 bits: the largest here are 10^385 and a double times 10^340, with 64
// bits to spare.
class Large {
 public:
  explicit Large(std::uint64_t value = 0) {
    while (value != 0) {
      limb_[size_++] = static_cast<std::uint32_t>(value);
      value >>= 32;
    }
  }

  bool zero() const { return size_ == 0; }
  int bits() const { return size_ == 0 ? 0 : 32 * size_ - std::countl_zero(limb_[size_ - 1]); }
  // If it has no more than 64.
  std::uint64_t small() const {
    return (size_ > 1 ? std::uint64_t{limb_[1]} << 32 : 0) | (size_ > 0 ? limb_[0] : 0);
  }
  void multiply_add(std::uint32_t factor, std::uint32_t term) {
    std::uint64_t carry = term;
    for (int i = 0; i < size_; ++i) {
      carry += std::uint64_t{limb_[i]} * factor;
      limb_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limb_[size_++] = static_cast<std::uint32_t>(carry);
  }
  void times_power_of_ten(int power) {
    for (; power >= 9; power -= 9) multiply_add(1000000000, 0);
    for (; power > 0; --power) multiply_add(10, 0);
  }
  void shift_left(int count) {
    if (zero() || count == 0) return;
    const int whole = count / 32;
    const int part = count % 32;
    limb_[size_] = 0;
    for (int i = size_; i >= 0; --i) {
      const std::uint64_t pair =
          (std::uint64_t{limb_[i]} << 32) | (i > 0 ? limb_[i - 1] : std::uint32_t{0});
      limb_[i + whole] = static_cast<std::uint32_t>(pair >> (32 - part));
    }
    std::fill_n(limb_, whole, 0U);
    size_ += whole + 1;
    trim();
  }
  void shift_right_once() {
    for (int i = 0; i < size_; ++i) {
      const std::uint32_t above = i + 1 < size_ ? limb_[i + 1] : 0;
      limb_[i] = (limb_[i] >> 1) | (above << 31);
    }
    trim();
  }
  bool at_least(const Large& other) const {
    if (size_ != other.size_) return size_ > other.size_;
    for (int i = size_ - 1; i >= 0; --i) {
      if (limb_[i] != other.limb_[i]) return limb_[i] > other.limb_[i];
    }
    return true;
  }
  // other must not be larger.
  void subtract(const Large& other) {
    std::int64_t borrow = 0;
    for (int i = 0; i < size_; ++i) {
      borrow += std::int64_t{limb_[i]} - (i < other.size_ ? other.limb_[i] : 0);
      limb_[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
    trim();
  }

 private:
  void trim() {
    while (size_ > 0 && limb_[size_ - 1] == 0) --size_;
  }

  static constexpr int kLimbs = 56;
  int size_ = 0;
  std::uint32_t limb_[kLimbs + 1] = {};
};

// numerator / denominator, which must be below 2^64; the numerator becomes the remainder.
std::uint64_t divide(Large& numerator, Large denominator) {
  const int most = std::max(numerator.bits() - denominator.bits(), 0);
  denominator.shift_left(most);
  std::uint64_t quotient = 0;
  for (int i = most; i >= 0; --i) {
    quotient <<= 1;
    if (numerator.at_least(denominator)) {
      numerator.subtract(denominator);
      quotient |= 1;
    }
    denominator.shift_right_once();
  }
  return quotient;
}

// Powers of ten that a double holds exactly: with a whole number below 2^53, one division or
// multiplication is then correctly rounded, and no large number is needed.
constexpr int kMostExactPower = 22;
double exact_power_of_ten(int power) {
  double value = 1.0;
  for (; power > 0; --power) value *= 10.0;
  return value;
}

// The double nearest to digits · 10^power, ties to even; `more`: it is a little more than that.
// Not finite if it is too large, 0 if too small.
double nearest_double(Large digits, int power, bool more) {
  if (digits.zero()) return 0.0;
  if (!more && digits.bits() <= 53 && std::abs(power) <= kMostExactPower) {
    const auto whole = static_cast<double>(digits.small());
    const double scale = exact_power_of_ten(std::abs(power));
    return power >= 0 ? whole * scale : whole / scale;
  }
  Large one(1);
  (power >= 0 ? digits : one).times_power_of_ten(std::abs(power));
  // So that the quotient has 63 or 64 bits.
  const int scale = 63 - (digits.bits() - one.bits());
  (scale >= 0 ? digits : one).shift_left(std::abs(scale));
  std::uint64_t quotient = divide(digits, one);
  more = more || !digits.zero();
  const int bits = 64 - std::countl_zero(quotient);
  const int exponent = bits - 1 - scale;  // 2^exponent <= value
  const int kept = std::min(53, exponent + 1075);
  if (kept < 0) return 0.0;
  const int lost = bits - kept;  // 10 to 64
  const std::uint64_t half = std::uint64_t{1} << (lost - 1);
  const std::uint64_t rest = lost == 64 ? quotient : quotient & (2 * half - 1);
  quotient = lost == 64 ? 0 : quotient >> lost;
  if (rest > half || (rest == half && (more || (quotient & 1) != 0))) ++quotient;
  return std::ldexp(static_cast<double>(quotient), lost - scale);
}

struct Digits {
  std::uint64_t value = 0;  // `count` digits
  int exponent = 0;         // of the first
};

std::uint64_t power_of_ten(int power) {
  std::uint64_t value = 1;
  for (; power > 0; --power) value *= 10;
  return value;
}

// The first `count` digits of a positive finite number, correctly rounded, ties to even.
Digits digits_of(double value, int count) {
  int binary = 0;
  const double fraction = std::frexp(value, &binary);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  // log2(1 + t) is t and up to 0.086 more: rarely one too small.
  constexpr double kLog10Of2 = 0.30102999566398120;
  Digits out;
  out.exponent = static_cast<int>(std::floor(kLog10Of2 * (binary + 2.0 * fraction - 2.0)));
  binary -= 53;
  const std::uint64_t limit = power_of_ten(count);
  while (true) {
    const int power = count - 1 - out.exponent;
    Large numerator(mantissa);
    Large denominator(1);
    (binary >= 0 ? numerator : denominator).shift_left(std::abs(binary));
    (power >= 0 ? numerator : denominator).times_power_of_ten(std::abs(power));
    out.value = divide(numerator, denominator);
    if (out.value >= limit) {
      ++out.exponent;
      continue;
    }
    if (out.value < limit / 10) {
      --out.exponent;
      continue;
    }
    numerator.shift_left(1);
    const bool half = numerator.at_least(denominator);
    const bool exact_half = half && denominator.at_least(numerator);
    if (half && (!exact_half || (out.value & 1) != 0)) ++out.value;
    if (out.value == limit) {
      out.value /= 10;
      ++out.exponent;
    }
    return out;
  }
}

class Text {
 public:
  explicit Text(char* out) : begin_(out), at_(out) {}
  void put(char c) { *at_++ = c; }
  void zeros(int count) {
    for (; count > 0; --count) put('0');
  }
  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  char* begin_;
  char* at_;
};

// digit [count], the first of them at 10^exponent.
void write_fixed(const char* digit, int count, int exponent, Text& text) {
  if (exponent < 0) {
    text.put('0');
    text.put('.');
    text.zeros(-exponent - 1);
  }
  for (int i = 0; i < count; ++i) {
    if (exponent >= 0 && i == exponent + 1) text.put('.');
    text.put(digit[i]);
  }
  text.zeros(exponent + 1 - count);
}

void write_scientific(const char* digit, int count, int exponent, Text& text) {
  text.put(digit[0]);
  if (count > 1) text.put('.');
  for (int i = 1; i < count; ++i) text.put(digit[i]);
  text.put('e');
  text.put(exponent < 0 ? '-' : '+');
  const int size = std::abs(exponent);
  if (size >= 100) text.put(static_cast<char>('0' + size / 100));
  text.put(static_cast<char>('0' + size / 10 % 10));
  text.put(static_cast<char>('0' + size % 10));
}

int length_fixed(int count, int exponent) {
  if (exponent < 0) return 1 - exponent + count;
  return count > exponent + 1 ? count + 1 : exponent + 1;
}
int length_scientific(int count, int exponent) {
  return count + (count > 1 ? 1 : 0) + (std::abs(exponent) >= 100 ? 5 : 4);
}

// Digits without zeros at the end, which say nothing; how many.
int without_zeros(Digits digits, char (&out)[20]) {
  while (digits.value % 10 == 0) digits.value /= 10;
  int count = 0;
  for (std::uint64_t rest = digits.value; rest != 0; rest /= 10) ++count;
  for (int i = count - 1; i >= 0; --i, digits.value /= 10) {
    out[i] = static_cast<char>('0' + digits.value % 10);
  }
  return count;
}

// Sign, zero and what is no number; true if that was all.
bool write_special(double& value, Text& text) {
  if (std::signbit(value)) text.put('-');
  value = std::fabs(value);
  if (value > 0.0 && std::isfinite(value)) return false;
  const char* word = value == 0.0 ? "0" : std::isnan(value) ? "nan" : "inf";
  for (; *word != '\0'; ++word) text.put(*word);
  return true;
}

// The fewest digits of a number that has no more than 15 of them, and few places: most settings. By
// the place of the last: up to 15 digits the rounded product is the right one, or none is.
bool few_digits(double value, Digits& out) {
  double scale = 1.0;
  for (int places = 0; places <= kMostExactPower; ++places, scale *= 10.0) {
    const double whole = std::floor(value * scale + 0.5);
    if (whole >= 1e15) return false;
    if (whole < 1.0 || whole / scale != value) continue;
    out.value = static_cast<std::uint64_t>(whole);
    out.exponent = -places - 1;
    for (std::uint64_t rest = out.value; rest != 0; rest /= 10) ++out.exponent;
    return true;
  }
  return false;
}

bool same_after(double value, int count, Digits& digits) {
  digits = digits_of(value, count);
  return nearest_double(Large(digits.value), digits.exponent - count + 1, false) == value;
}

Digits fewest_digits(double value) {
  // Between `fails` and `works` digits; 17 always do.
  int fails = 0;
  int works = 17;
  Digits best;
  Digits trial;
  for (int count = 15; works - fails > 1; count = (fails + works) / 2) {
    if (same_after(value, count, trial)) {
      works = count;
      best = trial;
    } else {
      fails = count;
    }
  }
  return works == 17 ? digits_of(value, 17) : best;
}

}  // namespace

std::size_t format_shortest(double value, char* out) {
  Text text(out);
  if (write_special(value, text)) return text.size();
  Digits best;
  if (!few_digits(value, best)) best = fewest_digits(value);
  char digit[20];
  const int count = without_zeros(best, digit);
  if (length_fixed(count, best.exponent) <= length_scientific(count, best.exponent))
    write_fixed(digit, count, best.exponent, text);
  else
    write_scientific(digit, count, best.exponent, text);
  return text.size();
}

std::size_t format_rounded(double value, int digits, char* out) {
  Text text(out);
  if (write_special(value, text)) return text.size();
  digits = std::clamp(digits, 1, 17);
  const Digits found = digits_of(value, digits);
  char digit[20];
  const int count = without_zeros(found, digit);
  if (found.exponent >= -4 && found.exponent < digits)
    write_fixed(digit, count, found.exponent, text);
  else
    write_scientific(digit, count, found.exponent, text);
  return text.size();
}

bool parse_decimal(std::string_view text, double* value) {
  constexpr int kMostDigits = 40;
  constexpr int kFarthest = 100000;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  Large digits;
  int count = 0;  // significant ones, taken in
  int power = 0;
  bool more = false;
  bool any = false;
  bool point = false;
  for (; at < text.size() && (digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    any = true;
    const auto next = static_cast<std::uint32_t>(text[at] - '0');
    if (count < kMostDigits) {
      if (count == 0 && next != 0) digits = Large(next);
      if (count > 0) digits.multiply_add(10, next);
      if (count > 0 || next != 0) ++count;
      if (point) --power;
    } else {
      more = more || next != 0;
      if (!point) ++power;
    }
    power = std::clamp(power, -kFarthest, kFarthest);
  }
  if (!any) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool down = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at == text.size()) return false;
    int exponent = 0;
    for (; at < text.size() && digit(text[at]); ++at) {
      exponent = std::min(10 * exponent + (text[at] - '0'), 2 * kFarthest);
    }
    power += down ? -exponent : exponent;
  }
  if (at != text.size()) return false;
  double result = 0.0;
  if (count > 0) {
    if (power + count > 310 || power + count < -345) return false;
    result = nearest_double(digits, power, more);
    if (!std::isfinite(result) || result == 0.0) return false;
  }
  *value = negative ? -result : result;
  return true;
}

}  // namespace adapvae
