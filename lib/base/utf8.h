// Whether bytes are UTF-8: names and files come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adapvae {

// Bytes of the UTF-8 character at the start of text [size], which is not empty; 0 if there is none.
std::size_t utf8_size(const char* text, std::size_t size);

// No overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace adapvae
