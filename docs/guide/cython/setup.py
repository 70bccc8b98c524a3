# SPDX-License-Identifier: Apache-2.0
from cuda.core import get_include
from cuda.pathfinder import find_nvidia_header_directory
from Cython.Build import cythonize
from setuptools import Extension, setup

extension = Extension(
    "fastfill._fill",
    ["fastfill/_fill.pyx"],
    language="c++",
    include_dirs=[get_include(), find_nvidia_header_directory("cudart")],
    extra_compile_args=["-std=c++20"],
)
setup(packages=["fastfill"], ext_modules=cythonize([extension], language_level=3))
