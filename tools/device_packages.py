#!/usr/bin/env python3
"""The amalgamation as an Arduino library and as a Zephyr module.

    device_packages.py OUTPUT_DIRECTORY

makes OUTPUT_DIRECTORY/arduino/adapvae (put it into the sketchbook's libraries) and OUTPUT_DIRECTORY/zephyr/adapvae
(name it in ZEPHYR_EXTRA_MODULES and set CONFIG_ADAPVAE=y). Both are built without heap and texts.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r"project\(adapvae VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

ARDUINO = f"""name=adapvae
version={VERSION}
author=adapvae
maintainer=adapvae
sentence=Clusters an unlabelled stream while it learns the features, and finds new kinds by itself.
paragraph=Learns on the device in one block of memory; needs C++20 and about 140 KB of flash.
category=Data Processing
architectures=*
includes=adapvae.h
"""
# Arduino gives a library no flags of its own.
SETTINGS = "".join(f"#define ADAPVAE_{name}\n" for name in ("NO_HEAP", "STRIP_STRINGS", "SMALL_CODE"))

ZEPHYR = {
    "zephyr/module.yml": "name: adapvae\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n",
    "zephyr/Kconfig": """config ADAPVAE
\tbool "adapvae: clusters a stream while it learns the features"
\tdepends on CPP && STD_CPP20
\tselect REQUIRES_FULL_LIBC

config ADAPVAE_INFERENCE_ONLY
\tbool "Scorers alone"
\tdepends on ADAPVAE
""",
    "zephyr/CMakeLists.txt": """if(CONFIG_ADAPVAE)
  zephyr_library_named(adapvae)
  zephyr_library_sources(../src/adapvae.cpp)
  zephyr_include_directories(../src)
  zephyr_library_compile_definitions(ADAPVAE_NO_HEAP ADAPVAE_STRIP_STRINGS ADAPVAE_SMALL_CODE)
  zephyr_library_compile_definitions_ifdef(CONFIG_ADAPVAE_INFERENCE_ONLY ADAPVAE_INFERENCE_ONLY)
  zephyr_library_compile_options(-Os -fno-exceptions -fno-rtti -fno-math-errno -fno-trapping-math)
endif()
""",
}


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    arduino, zephyr = output / "arduino/adapvae", output / "zephyr/adapvae"
    for package in (arduino, zephyr):
        subprocess.run([sys.executable, ROOT / "tools/amalgamate.py", package / "src"], check=True)
        (package / "LICENSE").write_text((ROOT / "LICENSE").read_text())
    source = arduino / "src/adapvae.cpp"
    source.write_text(SETTINGS + source.read_text())
    (arduino / "library.properties").write_text(ARDUINO)
    for name, text in ZEPHYR.items():
        path = zephyr / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
