// What a page's policy names its style sheet by, and how it holds pictures.
#pragma once

#include <string>
#include <string_view>

namespace adapvae::cli {

std::string base64(std::string_view bytes);
// 32 bytes (FIPS 180-4).
std::string sha256(std::string_view bytes);

}  // namespace adapvae::cli
