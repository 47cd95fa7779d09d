#include "cli/image_source.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/memory_limit.h"
#include "tools/image_file.h"

namespace adapvae::cli {
namespace {

using tools::GreyImage;

std::string size_text(int width, int height) {
  return std::to_string(width) + " × " + std::to_string(height);
}

// A part of an image, each pixel of the result the mean of those that it covers; a result that is
// larger repeats the nearest.
void take_part(const GreyImage& image, int left, int top, int width, int height, int to_width,
               int to_height, std::vector<float>& values) {
  values.clear();
  for (int y = 0; y < to_height; ++y) {
    const int y0 = top + y * height / to_height;
    const int y1 = std::max(y0 + 1, top + (y + 1) * height / to_height);
    for (int x = 0; x < to_width; ++x) {
      const int x0 = left + x * width / to_width;
      const int x1 = std::max(x0 + 1, left + (x + 1) * width / to_width);
      std::int64_t sum = 0;
      for (int v = y0; v < y1; ++v) {
        for (int u = x0; u < x1; ++u)
          sum += image.pixels[static_cast<std::size_t>(v * image.width + u)];
      }
      values.push_back(static_cast<float>(sum) /
                       (255.0F * static_cast<float>((y1 - y0) * (x1 - x0))));
    }
  }
}

class ImageSource : public RowSource {
 public:
  ImageSource(std::vector<std::string> paths, const SourceOptions& options)
      : paths_(std::move(paths)), options_(options) {}

  // The first image says how large rows are.
  bool open(ByteStream* first, std::string& error) {
    if (!(first != nullptr ? take(*first) : open_next())) {
      error = error_;
      return false;
    }
    const bool resized = options_.image_width > 0;
    shape_.image_width = resized ? options_.image_width : part_width_;
    shape_.image_height = resized ? options_.image_height : part_height_;
    shape_.inputs = shape_.image_width * shape_.image_height;
    shape_.unit = true;
    return true;
  }

  const RowShape& shape() const override { return shape_; }
  double fraction() const override {
    return static_cast<double>(at_) / static_cast<double>(paths_.size());
  }
  Next next(Row& row) override {
    if (part_ == parts_) {
      if (at_ == paths_.size()) return Next::kEnd;
      if (!open_next()) return Next::kError;
      if (options_.image_width == 0 &&
          (part_width_ != shape_.image_width || part_height_ != shape_.image_height)) {
        error_ = paths_[at_ - 1] + ": " + size_text(part_width_, part_height_) +
                 " pixels where the first has " +
                 size_text(shape_.image_width, shape_.image_height) + "; --size makes them alike";
        return Next::kError;
      }
    }
    const int across = image_.width / part_width_;
    take_part(image_, part_ % across * part_width_, part_ / across * part_height_, part_width_,
              part_height_, shape_.image_width, shape_.image_height, row.values);
    ++part_;
    row.number = ++rows_;
    row.time.reset();
    row.label.clear();
    row.file = paths_[at_ - 1];
    return Next::kRow;
  }

 private:
  bool open_next() {
    ByteStream bytes;
    return bytes.open(paths_[at_], error_) && take(bytes);
  }
  // The image of paths_[at_].
  bool take(ByteStream& bytes) {
    std::vector<std::uint8_t> whole;
    if (!bytes.rest(whole)) {
      error_ = bytes.error();
      return false;
    }
    std::string why;
    std::optional<GreyImage> image = tools::parse_image(whole, why, memory_limit);
    if (!image) return refuse(why);
    image_ = std::move(*image);
    part_width_ = options_.tile_width > 0 ? options_.tile_width : image_.width;
    part_height_ = options_.tile_width > 0 ? options_.tile_height : image_.height;
    if (image_.width % part_width_ != 0 || image_.height % part_height_ != 0) {
      return refuse(size_text(image_.width, image_.height) +
                    " pixels cannot be cut into tiles of " + size_text(part_width_, part_height_));
    }
    part_ = 0;
    parts_ = (image_.width / part_width_) * (image_.height / part_height_);
    ++at_;
    return true;
  }
  bool refuse(const std::string& what) {
    error_ = paths_[at_] + ": " + what;
    return false;
  }

  std::vector<std::string> paths_;
  SourceOptions options_;
  RowShape shape_;
  GreyImage image_;
  std::size_t at_ = 0;  // images that were opened
  int part_width_ = 0, part_height_ = 0;
  int part_ = 0, parts_ = 0;  // tiles given, and there
  std::int64_t rows_ = 0;
};

bool is_image_name(const std::filesystem::path& path) {
  std::string end = path.extension().string();
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return end == ".png" || end == ".jpg" || end == ".jpeg";
}

}  // namespace

std::unique_ptr<RowSource> open_image(ByteStream& bytes, const SourceOptions& options,
                                      std::string& error) {
  auto source = std::make_unique<ImageSource>(std::vector<std::string>{bytes.name()}, options);
  if (!source->open(&bytes, error)) return nullptr;
  return source;
}

std::vector<std::string> image_files(const std::string& folder, std::error_code& problem) {
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    if (is_image_name(at->path())) paths.push_back(at->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::unique_ptr<RowSource> open_image_folder(const std::string& path, const SourceOptions& options,
                                             std::string& error) {
  std::error_code problem;
  std::vector<std::string> paths = image_files(path, problem);
  if (problem || paths.empty()) {
    error = path + ": " + (problem ? problem.message() : "no PNG or JPEG image in this folder");
    return nullptr;
  }
  auto source = std::make_unique<ImageSource>(std::move(paths), options);
  if (!source->open(nullptr, error)) return nullptr;
  return source;
}

}  // namespace adapvae::cli
