"""Conan 2 recipe of this source tree: conan create capi/package/conan. It only calls the project's own install."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy


class Adapvae(ConanFile):
    name = "adapvae"
    version = "0.1.0"
    license = "MIT"
    description = "Clusters an unlabelled data stream while it learns the features"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    generators = "CMakeDeps", "CMakeToolchain"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "lib/*", "capi/*", "toolchains/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"ADAPVAE_TESTS": "OFF", "ADAPVAE_TOOLS": "OFF"})
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["adapvae"]
        self.cpp_info.set_property("cmake_target_name", "adapvae::adapvae")
        if self.settings.os != "Windows":
            self.cpp_info.system_libs = ["m"]
