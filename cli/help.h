// Help for people, made of the table of verbs.
#pragma once

#include "cli/verbs.h"

namespace adapvae::cli {

void print_help();
void print_verb_help(const Verb& verb);

}  // namespace adapvae::cli
