# Flags shared by every target of this project; applied with adapvae_compile_options(TARGET).

function(adapvae_compile_options target)
  # Position-independent WebAssembly is for dynamic linking, larger and slower; firmware is not moved.
  if(EMSCRIPTEN OR CMAKE_SYSTEM_NAME STREQUAL "Generic")
    set(position_independent OFF)
  else()
    set(position_independent ON)
  endif()
  target_compile_features(${target} PRIVATE cxx_std_20 c_std_11)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF C_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ${position_independent}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    # No fast-math anywhere: NaN and infinity are detected, not assumed away. These two only
    # give up errno and floating-point traps, which nobody here reads.
    -fno-math-errno -fno-trapping-math
    $<$<BOOL:${ADAPVAE_WERROR}>:-Werror>)
endfunction()

# For lib/ and capi/: neither exceptions nor RTTI unless asked for.
function(adapvae_core_options target)
  adapvae_compile_options(${target})
  set(adapvae_optimise -O2)
  if(EMSCRIPTEN OR CMAKE_SYSTEM_NAME STREQUAL "Generic")
    set(adapvae_optimise -Os)
  endif()
  if(ADAPVAE_LTO)
    target_compile_options(${target} PRIVATE -flto=auto -fno-fat-lto-objects)
  endif()
  foreach(option ADAPVAE_NO_HEAP ADAPVAE_STRIP_STRINGS ADAPVAE_SMALL_CODE ADAPVAE_INFERENCE_ONLY)
    if(${option})
      target_compile_definitions(${target} PRIVATE ${option})
    endif()
  endforeach()
  # What is hot is in the kernels, which have their own flags: the rest is half the size so. And a
  # program that links the static library takes only what it calls.
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:${adapvae_optimise}> -ffunction-sections -fdata-sections)
  if(NOT ADAPVAE_EXCEPTIONS)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>
      $<$<CONFIG:Release>:-fno-unwind-tables -fno-asynchronous-unwind-tables>)
  endif()
endfunction()
