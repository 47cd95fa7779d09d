// Rows that are images: a file, all images of a folder by name, or the tiles of a sheet. Pixels are
// grey, 0 to 1.
#pragma once

#include <system_error>

#include "cli/byte_stream.h"
#include "cli/row_source.h"

namespace adapvae::cli {

std::unique_ptr<RowSource> open_image(ByteStream& bytes, const SourceOptions& options,
                                      std::string& error);
// The images of a folder, by name.
std::vector<std::string> image_files(const std::string& folder, std::error_code& problem);
std::unique_ptr<RowSource> open_image_folder(const std::string& path, const SourceOptions& options,
                                             std::string& error);

}  // namespace adapvae::cli
