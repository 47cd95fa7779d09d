// Rows of IDX (also packed by gzip) and NumPy files.
#pragma once

#include "cli/byte_stream.h"
#include "cli/row_source.h"

namespace adapvae::cli {

// options.format is kIdx or kNpy.
std::unique_ptr<RowSource> open_array(ByteStream& bytes, const SourceOptions& options,
                                      std::string& error);

}  // namespace adapvae::cli
