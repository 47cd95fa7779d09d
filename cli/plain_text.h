// Text from files, names and command lines, made safe to print. A control character in it could
// change a terminal's state or forge lines of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace adapvae::cli {

// Bytes of the UTF-8 character at `at`; 0: the byte there does not start a valid one.
std::size_t character_bytes(std::string_view text, std::size_t at);

// The code of a valid character of character_bytes() bytes.
char32_t character_code(std::string_view character);

// Control characters: C0 (also tab and newline), DEL and C1.
bool is_control(char32_t code);

// Control characters, and those that end a line or change the direction of what follows.
bool is_unsafe(char32_t code);

// The text with every unsafe character and every byte that is not UTF-8 replaced by an escape:
// \x1b, \u009b. All else stays.
std::string printable(std::string_view text);

}  // namespace adapvae::cli
