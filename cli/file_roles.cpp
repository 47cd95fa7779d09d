#include "cli/file_roles.h"

#include <vector>

#include <unistd.h>

#include "cli/image_source.h"
#include "cli/output_file.h"

namespace adapvae::cli {
namespace {

struct File {
  const FileRole* role;
  std::string path;
  Target target;
};

bool find(const FileRole& role, const std::string& path, Target& target) {
  if (path == "-") {
    target.descriptor = role.written ? STDOUT_FILENO : STDIN_FILENO;
    target.exists = ::fstat(target.descriptor, &target.status) == 0;
    return target.exists;
  }
  std::string ignored;  // whoever opens it says so
  return find_target(path, Links::kAll, target, ignored) && (role.written || target.exists);
}

// An output that is standard output by another name, as /dev/stdout, is no clash with it.
bool clash(const File& a, const File& b) {
  if (!a.role->written && !b.role->written) return false;
  const bool both_open = a.target.descriptor >= 0 && b.target.descriptor >= 0;
  if (a.role->written && b.role->written && both_open) return false;
  return a.target.same_file(b.target);
}

std::string named(const File& file) {
  if (file.path == "-") return file.role->written ? "standard output" : "standard input";
  return file.role->what + " " + file.path;
}

void add_option(const Option& option, const Arguments& arguments, std::vector<FileRole>& files) {
  if (option.use == FileUse::kNone) return;
  const bool written = option.use == FileUse::kWrite;
  const auto model = arguments.value("--model");
  if (const auto path = arguments.value(option.name)) {
    files.push_back({option.name, *path, written});
  } else if (option.otherwise != nullptr && model) {
    files.push_back({option.name, option.otherwise(*model), written});
  }
}

}  // namespace

bool outputs_are_apart(std::span<const FileRole> roles, std::string& error) {
  std::vector<File> files;
  bool overwrites = false;
  for (const FileRole& role : roles) {
    Target target;
    if (!find(role, role.path, target)) continue;
    overwrites = overwrites || (role.written && target.exists);
    files.push_back({&role, role.path, target});
  }
  // Images of a folder are inputs, too; looked at only if there is something to lose.
  const std::size_t given = files.size();
  for (std::size_t i = 0; overwrites && i < given; ++i) {
    if (files[i].role->written || !S_ISDIR(files[i].target.status.st_mode)) continue;
    std::error_code ignored;
    for (const std::string& path : image_files(files[i].path, ignored)) {
      Target target;
      if (find(*files[i].role, path, target)) files.push_back({files[i].role, path, target});
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (!clash(files[i], files[j])) continue;
      const File& output = files[i].role->written && files[i].role->what != "--model" ? files[i]
                           : files[j].role->written                                   ? files[j]
                                                                                      : files[i];
      error = named(files[i]) + " and " + named(files[j]) +
              " are the same file, which would be lost; choose another file for " +
              (output.path == "-" ? "standard output" : output.role->what);
      return false;
    }
  }
  return true;
}

bool outputs_are_apart(const Verb& verb, const Arguments& arguments, std::string& error) {
  std::vector<FileRole> files;
  for (const Option& option : verb.options) add_option(option, arguments, files);
  if (verb.operand_use != FileUse::kNone) {
    for (const std::string& path : arguments.operands())
      files.push_back({"the input", path, false});
    if (verb.operand_use == FileUse::kReadOrInput && arguments.operands().empty()) {
      files.push_back({"the input", "-", false});
    }
  }
  files.push_back({"", "-", true});
  return outputs_are_apart(files, error);
}

}  // namespace adapvae::cli
