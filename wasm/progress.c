/* Progress leaves the module as an import of its own: a function of JavaScript has no address. */
#include "adapvae/adapvae.h"

/* Provided by the loader; there is one model in an instance. */
__attribute__((import_module("adapvae"), import_name("progress"))) int32_t adapvae_wasm_progress(
    int32_t stage, double fraction);

static int32_t tell(void* context, int32_t stage, double fraction) {
  (void)context;
  return adapvae_wasm_progress(stage, fraction);
}

ADAPVAE_API adapvae_status adapvae_wasm_watch(adapvae_model* model, int32_t on);

ADAPVAE_API adapvae_status adapvae_wasm_watch(adapvae_model* model, int32_t on) {
  return adapvae_set_progress(model, on ? tell : NULL, NULL);
}
