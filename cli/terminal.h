// What is only for people at a terminal: colours, which NO_COLOR takes away, and times.
#pragma once

#include <cstdio>
#include <string>

namespace adapvae::cli {

enum class Style { kPlain, kGood, kBad, kStrong, kFaint };

// The text in the style, if the file is a terminal that wants colours; else as it is.
std::string styled(const std::string& text, Style style, std::FILE* file);

// "8 s", "3 min", "2 h 10 min".
std::string short_time(double seconds);

// Bytes for people: "812 B", "1.2 MB".
std::string short_bytes(double bytes);

}  // namespace adapvae::cli
