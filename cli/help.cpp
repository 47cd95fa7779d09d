#include "cli/help.h"

#include <cstdio>
#include <string>

#include <adapvae/adapvae.h>

#include "cli/terminal.h"

namespace adapvae::cli {
namespace {

constexpr const char* kAbout =
    "Clusters rows as they come, learns their features on the way, tells what is new, and forgets "
    "nothing although it keeps no past row.";

std::string option_words(const Option& option) {
  std::string out = option.letter != 0 ? std::string("-") + option.letter + ", " : "    ";
  out += option.name;
  if (option.value != nullptr) out += std::string(" ") + option.value;
  return out;
}

// Text for roff: what would be read as a command is not.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || c == '.') {
      out += out.empty() ? std::string("\\&") + c : std::string(1, c);
    } else {
      out += c;
    }
  }
  return out;
}

// A word for a shell, in single quotes.
std::string shell(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void print_bash() {
  std::printf("_adapvae() {\n  local word=${COMP_WORDS[COMP_CWORD]} options=\n");
  std::printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
  for (const Verb& verb : verbs()) std::printf("%s ", verb.name);
  std::printf("--help --version\" -- \"$word\"))\n    return\n  fi\n");
  std::printf("  case ${COMP_WORDS[1]} in\n");
  for (const Verb& verb : verbs()) {
    std::printf("    %s) options=\"", verb.name);
    for (const Option& option : verb.options) std::printf("%s ", option.name);
    std::printf("--help\" ;;\n");
  }
  std::printf(
      "  esac\n  case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\n"
      "complete -o filenames -F _adapvae adapvae\n");
}

void print_zsh() {
  std::printf(
      "#compdef adapvae\n_adapvae() {\n  if (( CURRENT == 2 )); then\n    local -a verbs=(\n");
  for (const Verb& verb : verbs()) {
    std::printf("      %s\n", shell(std::string(verb.name) + ":" + verb.sentence).c_str());
  }
  std::printf("    )\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n");
  for (const Verb& verb : verbs()) {
    std::printf("    %s) _arguments", verb.name);
    for (const Option& option : verb.options) {
      std::string help = option.help;
      for (char& c : help) c = c == '[' || c == ']' || c == ':' ? ' ' : c;
      const std::string value =
          option.value != nullptr ? std::string(":") + option.value + ":_files" : "";
      std::printf(" %s", shell(std::string(option.name) + "[" + help + "]" + value).c_str());
    }
    std::printf(" '*:file:_files' ;;\n");
  }
  std::printf("  esac\n}\ncompdef _adapvae adapvae\n");
}

void print_fish() {
  for (const Verb& verb : verbs()) {
    std::printf("complete -c adapvae -n __fish_use_subcommand -a %s -d %s\n", verb.name,
                shell(verb.sentence).c_str());
    for (const Option& option : verb.options) {
      std::printf("complete -c adapvae -n '__fish_seen_subcommand_from %s' -l %s", verb.name,
                  option.name + 2);
      if (option.letter != 0) std::printf(" -s %c", option.letter);
      std::printf("%s -d %s\n", option.value != nullptr ? " -r" : "", shell(option.help).c_str());
    }
  }
}

}  // namespace

void print_help() {
  std::printf("usage: adapvae VERB [OPTION...] [FILE...]\n\n%s\n\n", kAbout);
  for (const Verb& verb : verbs()) {
    std::printf(
        "  %s %-11s %s\n",
        styled((std::string(verb.name) + "          ").substr(0, 10), Style::kStrong, stdout)
            .c_str(),
        verb.operands, verb.sentence);
  }
  std::printf(
      "\nadapvae VERB --help has the options. Without a FILE rows come from standard input.\n\n"
      "  adapvae demo                                          see it at work\n"
      "  adapvae learn -m pump.model pump.csv                  learn a file, keep the model\n"
      "  tail -f log.csv | adapvae learn -m m --as-met --flush watch a log that grows\n"
      "  adapvae score -m pump.model today.csv | grep '\"novel\":true'\n"
      "  adapvae learn --labels kind --report r.html rows.csv  score by labels, make a page\n");
}

void print_verb_help(const Verb& verb) {
  std::printf("usage: adapvae %s%s %s\n\n%s\n\n", verb.name,
              verb.options.empty() ? "" : " [OPTION...]", verb.operands, verb.sentence);
  for (const Option& option : verb.options) {
    std::printf("  %-34s %s\n", option_words(option).c_str(), option.help);
  }
  if (verb.example != nullptr) std::printf("\n  %s\n", verb.example);
}

int run_completion(const Arguments& arguments) {
  const std::string shell_name = arguments.operands().empty() ? "" : arguments.operands()[0];
  if (shell_name == "bash") {
    print_bash();
  } else if (shell_name == "zsh") {
    print_zsh();
  } else if (shell_name == "fish") {
    print_fish();
  } else {
    return fail("for which shell? bash, zsh or fish", 2);
  }
  return 0;
}

int run_man(const Arguments&) {
  std::printf(
      ".TH ADAPVAE 1 \"\" \"adapvae %s\"\n.SH NAME\nadapvae \\- clusters a stream of rows and "
      "tells what is new\n",
      adapvae_version_string());
  std::printf(".SH SYNOPSIS\n.B adapvae\n.I VERB\n[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n");
  std::printf(
      ".SH DESCRIPTION\n%s\nWithout a file rows come from standard input. A line of JSON "
      "for each row goes to standard output.\n",
      roff(kAbout).c_str());
  std::printf(".SH VERBS\n");
  for (const Verb& verb : verbs()) {
    std::printf(".SS \"%s %s\"\n%s\n", verb.name, roff(verb.operands).c_str(),
                roff(verb.sentence).c_str());
    for (const Option& option : verb.options) {
      const std::string words = option_words(option);
      std::printf(".TP\n.B %s\n%s\n", roff(words.substr(words.find('-'))).c_str(),
                  roff(option.help).c_str());
    }
    if (verb.example != nullptr) std::printf(".PP\n.EX\n%s\n.EE\n", roff(verb.example).c_str());
  }
  std::printf(
      ".SH FILES\n.TP\n.I MODEL\nall that a model knows; written as a whole or not at all\n"
      ".TP\n.I MODEL.events\nwhat happened to it, a JSON object on a line\n"
      ".TP\n.I MODEL.undo\nwhat it was before the last correction\n"
      ".TP\n.I MODEL.lock\nheld while the model is changed\n"
      ".PP\nThey are in the folder of the target of symbolic links, with the mode and the owner of "
      "the "
      "model. "
      "Devices, FIFOs and open files such as /dev/stdout are written, all other outputs are "
      "replaced "
      "as a whole. An output that is also an input is refused.\n"
      ".SH SIGNALS\nSIGINT, SIGTERM and SIGHUP end a run: what was read is learnt or kept in the "
      "model. Under nohup SIGHUP is ignored.\n"
      ".SH EXIT STATUS\n0: done. 1: it failed. 2: the command line was not understood, or an "
      "output "
      "is also an input.\n"
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours on a terminal\n"
      ".TP\n.B SOURCE_DATE_EPOCH\nthe time that a report says it was made\n"
      ".TP\n.B ADAPVAE_ISA\nan instruction set to compute with\n");
  return 0;
}

}  // namespace adapvae::cli
