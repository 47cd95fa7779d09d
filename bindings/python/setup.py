"""Builds the C library with CMake into the package. In a checkout its sources are amalgamated into native/ first; a
source distribution has them there."""
import pathlib
import re
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:
    from setuptools.command.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
NATIVE = HERE / "native"
CHECKOUT = HERE.parent.parent
if (CHECKOUT / "tools/amalgamate.py").is_file():
    subprocess.check_call([sys.executable, str(CHECKOUT / "tools/amalgamate.py"), str(NATIVE)])
    (HERE / "LICENSE").write_text((CHECKOUT / "LICENSE").read_text())


def version():
    header = (NATIVE / "adapvae.h").read_text()
    return ".".join(re.search(rf"ADAPVAE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class Build(build_py):
    def run(self):
        super().run()
        place = HERE / "build" / "native"
        subprocess.check_call(["cmake", "-S", str(HERE), "-B", str(place)])
        subprocess.check_call(["cmake", "--build", str(place)])
        self.copy_file(str(place / "libadapvae.so"), str(pathlib.Path(self.build_lib) / "adapvae" / "libadapvae.so"))


class Wheel(bdist_wheel):
    """One wheel for every Python 3 of a platform: nothing is compiled against an interpreter."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class Native(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=Native, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
