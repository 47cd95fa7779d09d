// The checksum of gzip and PNG files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adapvae::tools {

// CRC-32 (IEEE 802.3, reflected, as in zlib and PNG). Continue a running sum by passing the
// previous result as `crc`.
std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t crc = 0);

}  // namespace adapvae::tools
