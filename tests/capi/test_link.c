/* A C program that does nothing but link and call: the header is C, the names are found. */
#include <stdio.h>
#include <string.h>

#include "adapvae/adapvae.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

int main(void) {
  const char* header_version = STRING(ADAPVAE_VERSION_MAJOR) "." STRING(
      ADAPVAE_VERSION_MINOR) "." STRING(ADAPVAE_VERSION_PATCH);
  if (strcmp(adapvae_version_string(), header_version) != 0) {
    fprintf(stderr, "library %s, header %s\n", adapvae_version_string(), header_version);
    return 1;
  }
  if (adapvae_version_number() !=
      ADAPVAE_VERSION_MAJOR * 10000 + ADAPVAE_VERSION_MINOR * 100 + ADAPVAE_VERSION_PATCH) {
    return 1;
  }
  if (strlen(adapvae_instruction_set()) == 0) return 1;
  printf("adapvae %s, %s\n", adapvae_version_string(), adapvae_instruction_set());
  return 0;
}
