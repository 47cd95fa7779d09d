// adapvae: clusters a stream of rows while it reads them.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <adapvae/adapvae.h>

#include "cli/file_roles.h"
#include "cli/help.h"
#include "cli/memory_limit.h"
#include "cli/plain_text.h"
#include "cli/report/gather.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

int run(std::span<const char* const> words) {
  if (words.empty()) {
    print_help();
    return 2;
  }
  const std::string name = words[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return 0;
  }
  if (name == "--version") {
    std::printf("adapvae %s\n", adapvae_version_string());
    return 0;
  }
  for (const Verb& verb : verbs()) {
    if (name != verb.name) continue;
    words = words.subspan(1);
    for (const char* word : words) {
      if (std::strcmp(word, "--help") != 0 && std::strcmp(word, "-h") != 0) continue;
      print_verb_help(verb);
      return 0;
    }
    Arguments arguments;
    std::string error;
    if (!arguments.parse(verb.options, words, error)) return fail(error, 2);
    if (arguments.operands().size() > verb.most) {
      return fail("'" + arguments.operands()[verb.most] + "' is one word too many; adapvae " +
                      name + " --help",
                  2);
    }
    if (const auto limit = arguments.value("--max-memory");
        limit && !parse_bytes(*limit, memory_limit)) {
      return fail("--max-memory " + *limit + ": bytes, as in 512M or 4G", 2);
    }
    if (!outputs_are_apart(verb, arguments, error)) return fail(error, 2);
    const int code = verb.run(arguments);
    // A pipe that is closed is the reader's wish; anything else is a loss.
    errno = 0;
    const bool lost = std::fflush(stdout) != 0 && errno != EPIPE;
    return lost ? fail(std::string("standard output: ") + std::strerror(errno)) : code;
  }
  std::vector<const char*> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const char* like = nearest(names, name);
  return fail("no verb '" + name + "'" +
                  (like != nullptr ? std::string("; did you mean ") + like + "?"
                                   : "; adapvae --help lists them"),
              2);
}

// The limit holds for files; the machine may have less.
[[noreturn]] void out_of_memory() {
  std::fputs("adapvae: out of memory; a smaller --max-memory refuses what is too large here\n",
             stderr);
  std::_Exit(1);
}

}  // namespace

int fail(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "adapvae: %s\n", printable(message).c_str());
  return code;
}

}  // namespace adapvae::cli

int main(int count, char** words) {
  std::set_new_handler(adapvae::cli::out_of_memory);
  // A file that grows beyond the limit of the shell is an error of the write, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  adapvae::cli::keep_command(count, words);
  return adapvae::cli::run({words + 1, static_cast<std::size_t>(count > 0 ? count - 1 : 0)});
}
