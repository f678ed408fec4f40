# SPDX-License-Identifier: Apache-2.0
# Install, export, package config, version file and pkg-config file. The installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

set(installed heddle)
if(HEDDLE_WITH_CUDA)
  list(APPEND installed heddle_cudart)
endif()
install(
  TARGETS ${installed}
  EXPORT heddle_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET cuda_headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT heddle_targets NAMESPACE heddle:: FILE heddle-targets.cmake DESTINATION ${config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heddle-config.cmake.in
                              ${PROJECT_BINARY_DIR}/heddle-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddle-config.cmake ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
        DESTINATION ${config_dir})

# Paths of the .pc file start from the file itself, unless the packager asked for absolute ones.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
             ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
set(pc_cuda_libs "") # of a static heddle; a shared one has them itself
get_target_property(heddle_type heddle TYPE)
if(HEDDLE_WITH_CUDA AND heddle_type STREQUAL "STATIC_LIBRARY")
  if(HEDDLE_CUDART STREQUAL "static")
    set(pc_cuda_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl")
  else()
    set(pc_cuda_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart")
  endif()
endif()
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir ${CMAKE_INSTALL_LIBDIR})
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/heddle.pc.in ${PROJECT_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
