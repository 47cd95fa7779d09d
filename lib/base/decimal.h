// Numbers as decimal text and back: correctly rounded, whatever the locale, and the same on every
// platform, some of which have no such functions. For settings and reports, not for bulk data.
#pragma once

#include <cstddef>
#include <string_view>

namespace adapvae {

// Enough for any number written here.
constexpr std::size_t kDecimalBytes = 32;

// The fewest digits that read back to the same number, in the shorter of 0.001 and 1e-03; "nan",
// "inf" and "-inf" for those. Into out [kDecimalBytes], without a final zero; the length.
std::size_t format_shortest(double value, char* out);

// To 1 to 17 significant digits, like %g of C.
std::size_t format_rounded(double value, int digits, char* out);

// False, and nothing written, unless the whole text is a number: an optional minus, digits with or
// without a point, an optional exponent; and within the range of double. Beyond the 40th digit
// only zero or not matters.
bool parse_decimal(std::string_view text, double* value);

}  // namespace adapvae
