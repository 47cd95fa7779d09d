// Prints the rows of a file as the program reads them, one JSON array a line: numbers, and last
// the label in hexadecimal digits of its bytes.
//
//   print_rows FILE [LABEL COLUMN]
#include <cstdio>

#include "cli/row_source.h"

int main(int argc, char** argv) {
  using namespace adapvae::cli;
  if (argc < 2) {
    std::fprintf(stderr, "usage: print_rows FILE [LABEL COLUMN]\n");
    return 2;
  }
  SourceOptions options;
  if (argc > 2) options.labels = argv[2];
  std::string error;
  const std::unique_ptr<RowSource> source = open_rows({argv[1]}, options, error);
  Row row;
  Next next = source ? source->next(row) : Next::kError;
  for (; next == Next::kRow; next = source->next(row)) {
    std::fputs("[", stdout);
    for (const float value : row.values) std::printf("%.9g,", static_cast<double>(value));
    std::fputs("\"", stdout);
    for (const char c : row.label) std::printf("%02x", static_cast<unsigned char>(c));
    std::fputs("\"]\n", stdout);
  }
  if (next == Next::kEnd) return 0;
  std::fprintf(stderr, "%s\n", (source ? source->error() : error).c_str());
  return 1;
}
