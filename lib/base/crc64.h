// CRC-64/XZ: the checksum of snapshot files. It finds every change of up to 64 bits in a row and
// every single flipped bit; it is no protection against somebody who wants to deceive.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adapvae {

// Continue a running sum by passing the previous result as `crc`.
std::uint64_t crc64(const void* data, std::size_t size, std::uint64_t crc = 0);

}  // namespace adapvae
