# Emscripten as Debian packs it, found by its compiler's command; see CMakePresets.json.
find_program(ADAPVAE_EMCC emcc REQUIRED)
file(REAL_PATH ${ADAPVAE_EMCC} adapvae_emcc)
cmake_path(GET adapvae_emcc PARENT_PATH adapvae_emscripten)
include(${adapvae_emscripten}/cmake/Modules/Platform/Emscripten.cmake)
# Tests run in node, without the options that newer ones refuse.
set(CMAKE_CROSSCOMPILING_EMULATOR node)
