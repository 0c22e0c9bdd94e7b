"""A CMake package around the generated C: library, self-test and example."""

from __future__ import annotations

from dynid.codegen.listing import Listing

SELF_TEST = "tests/{}_self_test.c"
EXAMPLE = "examples/{}_two_rates.cpp"

_LISTS = """\
cmake_minimum_required(VERSION 3.16)
project(@P@ VERSION 1.0.0 LANGUAGES C)

include(CTest)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
option(@P@_EXAMPLES "build the example of the two-rate use (C++17)" OFF)

add_library(@P@ @P@.c)
add_library(@P@::@P@ ALIAS @P@)
target_compile_features(@P@ PUBLIC c_std_99)
set_target_properties(@P@ PROPERTIES C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_include_directories(@P@ PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(UNIX)
  target_link_libraries(@P@ PUBLIC m)
endif()

if(BUILD_TESTING)
  add_executable(@P@_self_test @TEST@)
  target_link_libraries(@P@_self_test PRIVATE @P@)
  add_test(NAME @P@_self_test COMMAND @P@_self_test)
endif()

if(@P@_EXAMPLES)
  enable_language(CXX)
  find_package(Threads REQUIRED)
  add_executable(@P@_two_rates @EXAMPLE@)
  target_compile_features(@P@_two_rates PRIVATE cxx_std_17)
  target_link_libraries(@P@_two_rates PRIVATE @P@ Threads::Threads)
endif()

install(TARGETS @P@ EXPORT @P@Targets)
install(FILES @P@.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT @P@Targets NAMESPACE @P@:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/@P@)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/@P@Config.cmake
  "include(\\"\\${CMAKE_CURRENT_LIST_DIR}/@P@Targets.cmake\\")\\n")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/@P@ConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/@P@Config.cmake ${CMAKE_CURRENT_BINARY_DIR}/@P@ConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/@P@)
"""


def cmake_lists(listing: Listing) -> str:
    """`CMakeLists.txt`: after installation, `find_package(<prefix>)` and `<prefix>::<prefix>`."""
    prefix = listing.prefix
    text = _LISTS.replace("@TEST@", SELF_TEST.format(prefix)).replace("@EXAMPLE@", EXAMPLE.format(prefix))
    return text.replace("@P@", prefix)
