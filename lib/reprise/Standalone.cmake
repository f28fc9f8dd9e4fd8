# libRepriseC with LLVM and MLIR inside, which the Python package ships: it needs a C library, and nothing else. It is
# linked from the objects of the four libraries and the static libraries of LLVM, where those are installed, on demand.
file(GLOB static_libraries ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER static_libraries EXCLUDE REGEX "libMLIR(CAPI|.*Test)|libLLVM.*Test")
find_library(static_zlib libz.a)
find_library(static_zstd NAMES libzstd.a libzstd.so libzstd.so.1)
if(NOT static_libraries OR NOT static_zlib OR NOT static_zstd)
  return()
endif()
set(standalone_objects)
foreach(library RepriseJson Reprise RepriseRuntime ReprisePlanning RepriseC)
  list(APPEND standalone_objects $<TARGET_OBJECTS:${library}>)
endforeach()
add_library(RepriseCStandalone SHARED EXCLUDE_FROM_ALL ${standalone_objects})
set_target_properties(RepriseCStandalone PROPERTIES
  OUTPUT_NAME RepriseC LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/standalone
  BUILD_RPATH "" BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH ""
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/CApi/Symbols.map)
target_link_options(RepriseCStandalone PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/CApi/Symbols.map
  -Wl,--gc-sections -Wl,-s)
target_link_libraries(RepriseCStandalone PRIVATE -Wl,--start-group ${static_libraries} -Wl,--end-group
  ${static_zlib} ${static_zstd} Threads::Threads ${CMAKE_DL_LIBS})
include(${PROJECT_SOURCE_DIR}/python/OldGlibc.cmake)
link_for_old_glibc(RepriseCStandalone)
